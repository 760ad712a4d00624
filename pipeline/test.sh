#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Everything that must hold before a change goes in. Each section is a process of its own, so that errexit works in it
# and one failing section does not hide the next; the last lines name every section with its time and result.
set -euo pipefail
shopt -s inherit_errexit

sections=(setup release schemas format tidy asan tsan fuzz install demo)
nightly=(soak)  # only when asked for

usage() {
  cat <<EOF
usage: pipeline/test.sh [--quick] [--only SECTION]... [--jobs N]

  --quick         sections setup and release only
  --only SECTION  one of: ${sections[*]} ${nightly[*]}
  --jobs N        parallel work (default: as many as processors)
  --help          print this text

  setup    missing packages
  release  optimised build, all tests
  schemas  current schemas against the released ones
  format   clang-format over all C++ files
  tidy     clang-tidy over the runtime and the library of the tools
  asan     AddressSanitizer and UndefinedBehaviorSanitizer build, all tests
  tsan     ThreadSanitizer build, tests of what runs in threads
  fuzz     clang build with sanitizers, fuzz programs over their corpora
  install  package, sub-project and relocatable tools, used from outside (needs release)
  demo     pipeline/demo.sh

  soak     ten minutes of flights with failing reads; for the night, and not part of the whole
EOF
}

quick=no run=() jobs=$(nproc) inside=no
while [ $# -gt 0 ]; do
  case $1 in
    --quick) quick=yes; shift ;;
    --only) [[ " ${sections[*]} ${nightly[*]} " == *" ${2-} "* ]] || { usage >&2; exit 2; }; run+=("$2"); shift 2 ;;
    --jobs) jobs=${2-}; [[ $jobs =~ ^[1-9][0-9]*$ ]] || { usage >&2; exit 2; }; shift 2 ;;
    --inside) inside=yes; shift ;;  # a section's own process
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done
cd "$(dirname "$0")/.."
[ $quick = no ] || run=(setup release)
[ ${#run[@]} != 0 ] || run=("${sections[@]}")

if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # Build trees and checkouts share what is the same, also with a compiled prelude.
  export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1
fi

# The last lines of a log that is shown only if the command fails.
logged() {
  local log=$1 status=0
  shift
  "$@" >"$log" 2>&1 || status=$?
  [ $status = 0 ] || { printf 'failed (%d): %s\n' $status "$*" >&2; tail -n 60 "$log" >&2; exit $status; }
}

# build PRESET [CMAKE ARGUMENT...]
build() {
  local preset=$1
  shift
  mkdir -p "build/$preset"
  logged "build/$preset/configure.log" cmake --preset "$preset" "$@"
  logged "build/$preset/build.log" cmake --build --preset "$preset" -j "$jobs"
  echo "build/$preset: built"
}

# tests PRESET [CTEST ARGUMENT...]: prints the summary; all that did not pass stands before it.
tests() {
  local preset=$1 status=0
  shift
  ctest --preset "$preset" --no-tests=error -j "$jobs" "$@" >"build/$preset/ctest.log" 2>&1 || status=$?
  grep -vE '^( *Start +[0-9]+:| *[0-9]+/[0-9]+ Test +#.* Passed +[0-9.]+ sec$|Test project |$)' "build/$preset/ctest.log" || true
  return $status
}

section_setup() { pipeline/setup.sh; }

section_release() {
  build release
  tests release
}

section_schemas() {
  local version file count=0
  for version in schemas/released/v*/; do
    [ -d "$version" ] || { echo 'nothing was released yet'; return 0; }
    mkdir -p build/conform/meridian
    # Released files include each other as "meridian/<name>.fbs".
    cp "$version"*.fbs build/conform/meridian/
    for file in build/conform/meridian/*.fbs; do
      flatc -I schemas --conform-includes build/conform --conform "$file" "schemas/meridian/${file##*/}"
      count=$((count + 1))
    done
    rm -r build/conform
  done
  echo "$count released schema files conform"
}

section_format() {
  git ls-files -z -- '*.cpp' '*.h' | xargs -0 clang-format --dry-run --Werror
  echo "$(git ls-files -- '*.cpp' '*.h' | wc -l) files"
}

section_tidy() {
  mkdir -p build/tidy
  logged build/tidy/configure.log cmake --preset release -B build/tidy -DCMAKE_CXX_COMPILER=clang++ \
    -DMERIDIAN_UNITY_SOURCES=12 -DMERIDIAN_BUILD_TESTS=OFF -DMERIDIAN_BUILD_SAMPLES=OFF -DMERIDIAN_BUILD_BENCHMARKS=OFF
  logged build/tidy/build.log cmake --build build/tidy -j "$jobs" --target meridian_schema_sources
  pipeline/tidy.py --jobs "$jobs" build/tidy
}

section_asan() {
  build asan
  MERIDIAN_PROPERTY_CASES=100 tests asan --label-exclude bench
}

# What one thread does alone at length: the other builds do it.
tsan_left_out=*SearchVolume.EveryKind*:SearchUnloaded.*Random*:SearchWidth.*:BoxHierarchy.*Random*:SceneGraphRandom.*
tsan_left_out+=:DescPool.*Random*:DescPool.AMillion*:StreamingModel.FortySlots*:BoxStreamerRandom.*
export tsan_left_out

tsan_program() {
  local name=${1##*/}
  MERIDIAN_PROPERTY_CASES=50 logged "build/tsan/$name.log" "build/tsan/$1" --gtest_brief=1 "--gtest_filter=-$tsan_left_out"
  echo "$name: $(tail -n 1 "build/tsan/$name.log")"
}

section_tsan() {
  # Where threads meet: the drivers with files in parallel, the reader with windows in parallel, job systems, pools with
  # locks, mounts, readers of the scene, loaders. Fewer random documents: each costs ten times as much here, and the other
  # builds read all of them. The longest first.
  local programs=(tests/unit/tools/tool_programs_test tests/unit/runtime/runtime_flight_soak_test
    tests/property/property_test
    tests/unit/runtime/runtime_{scan,stream,scene,flight,occlusion,core,pack,jobs,search,jobs_static,jobs_unload,stream_unload}_test
    tests/unit/tools/xml_fallback_test bin/host_jobs)
  LD_LIBRARY_PATH=$(pipeline/tsan_tbb.sh)  # a oneTBB whose hand-overs ThreadSanitizer sees
  export LD_LIBRARY_PATH
  mkdir -p build/tsan
  logged build/tsan/configure.log cmake --preset tsan
  logged build/tsan/build.log cmake --build --preset tsan -j "$jobs" --target "${programs[@]##*/}"
  export -f logged tsan_program
  printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "$jobs" "$BASH" -euo pipefail -c 'tsan_program "$0"'
}

section_fuzz() {
  build fuzz -DMERIDIAN_BUILD_TESTS=OFF
  local program name folders folder failed=0
  for program in build/fuzz/tests/fuzz/*_fuzz; do
    name=${program##*/} name=${name%_fuzz} folders=()
    for folder in tests/fuzz/corpus/"$name" tests/fuzz/regressions/"$name"; do
      [ ! -d "$folder" ] || folders+=("$folder")
    done
    case $name in
      imap_xml) folders+=(samples/data/maps) ;;
      ityp_xml) folders+=(samples/data/types) ;;
      *_xml) folders+=(tests/golden/gameconfigc tests/golden/metac) ;;
    esac
    rm -rf "build/fuzz/corpus_$name"
    mkdir "build/fuzz/corpus_$name"
    # Replays what is known and looks for nothing new: the same checkout gives the same result. To search, run the
    # program itself for longer. All programs get their turn.
    (logged "build/fuzz/$name.log" "$program" -seed=1 -runs=0 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/$name-" "build/fuzz/corpus_$name" "${folders[@]}") || { failed=1; continue; }
    echo "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$name.log") inputs"
  done
  return $failed
}

section_install() {
  build release
  logged build/bundle.log cmake --preset release -B build/bundle -DMERIDIAN_BUNDLE_TOOLS=ON -DMERIDIAN_BUILD_TESTS=OFF \
    -DMERIDIAN_BUILD_SAMPLES=OFF -DMERIDIAN_BUILD_BENCHMARKS=OFF
  logged build/bundle.log cmake --build build/bundle -j "$jobs"
  tests/install/run.sh --build build/release --bundle build/bundle
}

section_demo() { logged build/demo.log pipeline/demo.sh --no-setup && tail -n 1 build/demo.log; }

section_soak() {
  build release
  MERIDIAN_SOAK_FRAMES=2000000 logged build/soak.log build/release/tests/unit/runtime/runtime_flight_soak_test --gtest_brief=1
  tail -n 1 build/soak.log
}

if [ $inside = yes ]; then
  "section_${run[0]}"
  exit
fi

mkdir -p build
results=() failed=0
for section in "${run[@]}"; do
  printf '\n== %s ==\n' "$section"
  begin=$SECONDS status=0
  # A process of its own: within `||`, errexit would be off in a function.
  "$BASH" pipeline/test.sh --inside --jobs "$jobs" --only "$section" || status=$?
  [ $status = 0 ] && word=passed || { word=FAILED; failed=$((failed + 1)); }
  results+=("$(printf '%-8s %s %4d s' "$section" $word $((SECONDS - begin)))")
done

printf '\n== results ==\n'
printf '%s\n' "${results[@]}" "$(printf '%-8s %s %4d s' total "$([ $failed = 0 ] && echo passed || echo FAILED)" $SECONDS)"
[ $failed = 0 ]
