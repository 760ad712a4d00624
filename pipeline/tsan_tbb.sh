#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds oneTBB with ThreadSanitizer from the sources of Debian's package, once, and prints the folder of its library.
# Debian's own libtbb is not instrumented: ThreadSanitizer doesn't see how it hands work from thread to thread, and
# reports hundreds of races that are none. Suppressing those would suppress all real ones in tasks too.
set -euo pipefail
shopt -s inherit_errexit

usage() {
  cat <<'EOF'
usage: pipeline/tsan_tbb.sh [DIR]

Builds in DIR (default: build/tsan_tbb) and prints what LD_LIBRARY_PATH must be to run with the built library. Gets the
sources with apt-get (about 2 MB); needs no root.
EOF
}
case ${1-} in --help|-h) usage; exit 0 ;; -*) usage >&2; exit 2 ;; esac

cd "$(dirname "$0")/.."
dir=$(realpath -m "${1-build/tsan_tbb}")
mkdir -p "$dir/sources" "$dir/lists/partial" "$dir/cache/archives/partial"

if [ ! -e "$dir/done_clang" ]; then
  {
    # The machine's own list of archives, asked for sources instead of packages.
    for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
      [ ! -f "$list" ] || sed -n 's/^deb /deb-src /p' "$list" >"$dir/sources/${list##*/}"
    done
    for list in /etc/apt/sources.list.d/*.sources; do
      [ ! -f "$list" ] || sed 's/^Types:.*/Types: deb-src/' "$list" >"$dir/sources/${list##*/}"
    done
    apt=(apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$dir/sources"
         -o Dir::State::Lists="$dir/lists" -o Dir::Cache="$dir/cache" -o Debug::NoLocking=1
         -o APT::Sandbox::User="$(id -un)")
    "${apt[@]}" update
    cd "$dir"
    "${apt[@]}" source --download-only onetbb
    mkdir -p source
    tar -xf onetbb_*.orig.tar.* -C source --strip-components=1
    cmake -S source -B build -G Ninja -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_BUILD_TYPE=RelWithDebInfo -DTBB_TEST=OFF -DTBB_STRICT=OFF \
      -DTBB_SANITIZE=thread -DCMAKE_LIBRARY_OUTPUT_DIRECTORY="$dir/lib" \
      -DCMAKE_LIBRARY_OUTPUT_DIRECTORY_RELWITHDEBINFO="$dir/lib"
    cmake --build build --target tbb
    ls lib/libtbb.so.*
    touch done_clang
  } >"$dir/log" 2>&1 || { status=$?; tail -n 40 "$dir/log" >&2; exit $status; }
fi
echo "$dir/lib"
