#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs a build and uses it as an outsider does: find_package, add_subdirectory, and the relocatable tools. PIPE-6.
set -euo pipefail

usage() {
  cat <<'EOF'
usage: tests/install/run.sh [--build DIR] [--bundle DIR] [--work DIR]

  --build DIR   build tree to install from (default: build/release)
  --bundle DIR  build tree made with MERIDIAN_BUNDLE_TOOLS=ON; without it the bundle is not tested
  --work DIR    scratch folder, emptied first (default: build/install_test)
EOF
}

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/release bundle='' work=$root/build/install_test
while [ $# -gt 0 ]; do
  case $1 in
    --build) build=$(realpath "$2"); shift 2 ;;
    --bundle) bundle=$(realpath "$2"); shift 2 ;;
    --work) work=$(realpath -m "$2"); shift 2 ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

step() { printf '  %s\n' "$*"; }
fail() { printf 'install test: %s\n' "$*" >&2; exit 1; }
# Runs a command quietly, and shows what it printed if it fails.
quietly() {
  if ! "$@" >"$work/log" 2>&1; then
    cat "$work/log" >&2
    fail "failed: $*"
  fi
}

rm -rf "$work"
mkdir -p "$work"
prefix="$work/moved prefix"

step 'install, then move the folder'
quietly cmake --install "$build" --prefix "$work/prefix"
mv "$work/prefix" "$prefix"
tools='imapc itypc gameconfigc metac resinfo worldc worldgen'
for tool in $tools; do
  for page in "share/man/man1/$tool.1" "share/bash-completion/completions/$tool" "share/zsh/site-functions/_$tool" \
              "share/fish/vendor_completions.d/$tool.fish"; do
    [ -s "$prefix/$page" ] || fail "$page is missing"
  done
  bash -n "$prefix/share/bash-completion/completions/$tool"
done
! grep -rIl -e "$root" -e "$work/prefix" "$prefix" || fail 'installed text files name folders of this machine'
quietly flatc -b --schema -I "$prefix/share/meridian/schemas" -o "$work/bfbs" \
  "$prefix/share/meridian/schemas/meridian/imap.fbs"

step 'find_package, Ninja'
cp -r "$root/tests/install/find_package" "$work/source"
quietly cmake -S "$work/source" -B "$work/find_package" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
quietly cmake --build "$work/find_package"
quietly cmake --build "$work/find_package" --target assets
grep -q 'no work to do' "$work/log" || fail 'the second build of the assets was no no-op'
touch "$work/source/town.ymap.xml"
quietly cmake --build "$work/find_package" --target assets --verbose
grep -q 'town.ymap.xml' "$work/log" || fail 'a changed source was not compiled'
! grep -q 'props' "$work/log" || fail 'an unchanged source was compiled'

step 'add_subdirectory, Make'
quietly cmake -S "$root/tests/install/add_subdirectory" -B "$work/add_subdirectory" -G 'Unix Makefiles' \
  -DMERIDIAN_CHECKOUT="$root" -DMERIDIAN_IMAPC="$prefix/bin/imapc"
quietly cmake --build "$work/add_subdirectory" -j 2

[ -n "$bundle" ] || exit 0
step 'bundle: copied elsewhere, without environment'
quietly cmake --install "$bundle" --prefix "$work/bundle" --component tools
mv "$work/bundle" "$work/bundle elsewhere"
folder="$work/bundle elsewhere"
for tool in $tools; do
  outside=$(env -i /usr/bin/ldd "$folder/bin/$tool" | grep -vF "$folder/" |
            grep -vE '^\s*(linux-vdso\.|lib(c|m)\.so|/lib.*/ld-linux)' || true)
  [ -z "$outside" ] || fail "$tool needs libraries outside the bundle: $outside"
  direct=$(readelf -d "$folder/bin/$tool" | grep NEEDED)
  ! grep -E 'stdc\+\+|libgcc|flatbuffers|xxhash' <<<"$direct" || fail "$tool does not hold these libraries itself"
  (cd / && quietly env -i "$folder/bin/$tool" --version)
done
(cd / && quietly env -i "$folder/bin/imapc" "$root/samples/data/maps" --out-dir "$work/bundle_maps")
(cd / && quietly env -i "$folder/bin/resinfo" verify "$work"/bundle_maps/*.imap)
quietly "$prefix/bin/imapc" "$root/samples/data/maps" --out-dir "$work/maps"
quietly diff -r "$work/maps" "$work/bundle_maps"
