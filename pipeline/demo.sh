#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Shows what Meridian does, from a fresh checkout: builds the tools, compiles a small world, looks inside.
set -euo pipefail
shopt -s inherit_errexit

usage() {
  cat <<'EOF'
usage: pipeline/demo.sh [--no-setup]

Installs what is missing, builds the tools and samples, compiles samples/data to build/demo, and looks inside the
results. Ends with "demo: all steps done"; stops at the first step that fails and says which.

  --no-setup  do not look for missing packages
  --help      print this text
EOF
}

setup=yes
for argument; do
  case $argument in
    --no-setup) setup=no ;;
    --help|-h) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
  esac
done

cd "$(dirname "$0")/.."
step='' number=0
trap 'status=$?; [ $status = 0 ] || printf "\ndemo: stopped at step %d (%s) with exit code %d\n" $number "$step" $status >&2' EXIT

begin() {
  number=$((number + 1)) step=$1
  printf '\n== %d. %s ==\n' $number "$step"
}
# Prints a command as one would type it, then runs it.
run() {
  printf '$ %s\n' "$*"
  "$@"
}

# One line for each resource: size, kind, what it holds most of, name.
table() {
  printf '%8s  %-4s  %-27s  %s\n' bytes kind holds name
  local file
  for file; do
    "$bin/resinfo" stats "$file" | awk -v name="${file##*/}" '
      NR == 1 { sub(/^.*: /, ""); split($0, part, /[ ,]+/); kind = part[1]; bytes = part[2]; next }
      $1 == "entities" || $1 == "archetypes" || $1 == "config_array" { what = $1; count = $2; known = 1 }
      !known && $1 !~ /verts$/ && $4 > most { what = $1; count = $2; most = $4 }   # PATH COUNT in BYTES bytes
      END {
        if (what ~ /_soa\./) sub(/_soa\..*$/, "", what)          # parallel arrays: one entry of each is one light
        sub(/^.*grass_instance_list\.instance_list$/, "grass_instances", what)
        sub(/^.*\./, "", what); sub(/^config_array$/, "configurations", what); sub(/^ityp_dep_array$/, "type dependencies", what)
        gsub(/_/, " ", what)
        printf "%8d  %-4s  %-27s  %s\n", bytes, kind, what == "" ? "-" : count " " what, name
      }'
  done
}

begin 'Set up and build'
[ $setup = no ] || pipeline/setup.sh --build-only
launcher=()
! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
tree=build/demo_tools bin=build/demo_tools/bin log=build/demo_build.log
mkdir -p build
echo "building the tools and samples in $tree (a few minutes the first time; log: $log)"
{
  cmake --preset release -B "$tree" "${launcher[@]}" -DMERIDIAN_BUILD_TESTS=OFF -DMERIDIAN_BUILD_BENCHMARKS=OFF &&
  cmake --build "$tree"
} >"$log" 2>&1 || { status=$?; tail -n 40 "$log" >&2; exit $status; }
run $bin/imapc --version

begin 'Compile a small world: samples/data, Harbour Vale'
rm -rf build/demo
run $bin/imapc       samples/data/maps --out-dir build/demo
run $bin/itypc       samples/data/types --out-dir build/demo
run $bin/gameconfigc samples/data/gameconfig.xml --out-dir build/demo
run $bin/metac       samples/data/_manifest.ymf.xml --out-dir build/demo
echo 'No message is good news: every source is clean.'

begin 'Check each resource as a loader does'
resources=(build/demo/*.imap build/demo/*.ityp build/demo/*.gcfg build/demo/*.ymfm)
for resource in "${resources[@]}"; do
  $bin/resinfo verify "$resource"
done
echo "${#resources[@]} resources verified: checksum, layout, every offset, every value"

begin 'What came out'
table "${resources[@]}"

begin 'Put a map into a world and ask it: samples/hello_map'
echo 'Files are mapped into memory and used where they lie: archetypes from types, entities from the map, then searches.'
run $bin/hello_map build/demo/hv_harbour_strm_0.imap build/demo/hv_props.ityp build/demo/hv_buildings.ityp

begin 'Get the XML back, compile it again'
run $bin/resinfo dump --xml build/demo/hv_harbour_strm_0.imap -o build/demo/again.ymap.xml
sed -n 1,24p build/demo/again.ymap.xml
echo "... ($(wc -l <build/demo/again.ymap.xml) lines)"
run $bin/imapc build/demo/again.ymap.xml -o build/demo/again.imap
run cmp build/demo/again.imap build/demo/hv_harbour_strm_0.imap
echo 'Identical bytes.'

begin 'Make a mistake'
sed 's/<scaleXY value="1"/<scaleXY value="1,5"/' samples/data/maps/hv_pier_before.ymap.xml >build/demo/mistake.ymap.xml
status=0
run $bin/imapc build/demo/mistake.ymap.xml --max-errors 2 || status=$?
[ $status = 1 ] || { echo "imapc ended with $status instead of 1" >&2; exit 1; }
[ ! -e build/demo/mistake.imap ]
echo 'Refused with exit code 1, each place named, and nothing written.'

begin 'The whole world at once: check, link, pack'
run $bin/worldc check samples/data
run $bin/worldc build samples/data -o build/demo/world --stats
echo 'Again: nothing has changed, so nothing is done.'
run $bin/worldc build samples/data -o build/demo/world --stats | grep -E '^(written|total)'
run $bin/resinfo verify --deep build/demo/world/world.mpk
run $bin/resinfo list build/demo/world/world.mpk
echo 'Linked maps bring their descriptors along: loading copies them. The answers are the same.'
in=build/demo/world
run $bin/hello_map $in/imap/hv_harbour_strm_0.imap $in/ityp/hv_props.ityp $in/ityp/hv_buildings.ityp

begin 'Fly through it: samples/fly_through'
echo 'A camera crosses the world in the pack; maps come before it does, become entities, and leave behind it.'
run $bin/fly_through build/demo/world/world.mpk --speed 90 --seconds 20 --height 20 --picture build/demo/flight.svg
echo 'The same from a disk of 1 MB/s that takes 150 ms to answer, without looking ahead, at four times the speed:'
run $bin/fly_through build/demo/world/world.mpk --speed 360 --seconds 20 --height 20 --latency 150 --bandwidth 1 \
  --look-ahead 0 --quiet
echo 'The flight from above: build/demo/flight.svg'
echo 'One frame from above: what the camera sees, what hides, what is too far (colours: samples/fly_through/README.md).'
run $bin/fly_through build/demo/world/world.mpk --path 40 20 15 400 60 20 500 100 20 --speed 30 --seconds 1 --every 10 \
  --pictures build/demo --picture-reach 150 --explain-visibility hv_harbour_strm_0:1 hv_harbour_strm_0:12 --quiet
mv build/demo/frame_000000.png build/demo/seen.png
echo 'What was seen at first: build/demo/seen.png'

corpus=../shared/corpus
if [ -d $corpus ]; then
  begin "Published files: $corpus"
  echo 'Two of the maps are templates with unfilled ${...} places, and one has a LOD link that leads nowhere: imapc must'
  echo 'refuse just those.'
  status=0
  $bin/imapc --quiet $corpus/imap --out-dir build/demo/published 2>build/demo/published.txt || status=$?
  [ $status = 1 ] || { cat build/demo/published.txt >&2; echo "imapc ended with $status instead of 1" >&2; exit 1; }
  refused=$(sed -n 's/^failed: //p' build/demo/published.txt)
  while read -r file; do
    echo "refused: $file"
    grep -q '\${' "$file" || grep -qF "$file:20:24: error: entity 0: parentIndex 5" build/demo/published.txt
  done <<<"$refused"
  [ "$(wc -l <<<"$refused")" = 3 ]
  $bin/itypc --quiet $corpus/ityp --out-dir build/demo/published 2>>build/demo/published.txt
  $bin/gameconfigc --quiet $corpus/gameconfig --out-dir build/demo/published 2>>build/demo/published.txt
  $bin/metac --quiet $corpus/manifest --out-dir build/demo/published 2>>build/demo/published.txt
  published=(build/demo/published/*.*)
  $bin/resinfo verify "${published[@]}"
  table "${published[@]}"
  echo "${#published[@]} published files compiled and verified, $(grep -c ': warning: ' build/demo/published.txt)" \
       'warnings (unknown names, kept): build/demo/published.txt'
fi

printf '\ndemo: all steps done; the resources are in build/demo\n'
