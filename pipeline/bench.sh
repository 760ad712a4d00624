#!/usr/bin/env bash
# Builds the benchmarks and prints the table of performance targets: ours, each peer, ratio, target, holds or not.
#
#   ./pipeline/bench.sh [--only PERF-4] [--json FILE] [--repetitions N]
#
# Figures are ratios of one run; the build is Release for the baseline instruction set. Nothing here fails on a figure.
set -euo pipefail
cd "$(dirname "$0")/.."

repetitions=5
only=''
table_args=()
while [ $# -gt 0 ]; do
  case "$1" in
    --only) only="${2:?--only needs an id}"; table_args+=("$1" "$2"); shift 2 ;;
    --json) table_args+=("$1" "${2:?$1 needs a value}"); shift 2 ;;
    --repetitions) repetitions="${2:?--repetitions needs a number}"; shift 2 ;;
    --compare) shift ;; # peers are always measured
    -h | --help) sed -n '2,6p' "$0" | cut -c3-; exit 0 ;;
    *) echo "bench.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
  esac
done

./pipeline/setup.sh
cmake --preset release -DMERIDIAN_BUILD_BENCHMARKS=ON >/dev/null
cmake --build --preset release --target compile_bench load_bench map_bench pack_bench core_bench search_bench box_tree_bench occlusion_bench scan_bench fly_bench imapc worldc worldgen resinfo
bin=build/release
out=build/bench
mkdir -p "$out"

run() { # PROGRAM REPORT [OPTION...]
  # In turn, not one after the other: on a shared machine the speed drifts, and ratios must not.
  "$1" --benchmark_enable_random_interleaving=true --benchmark_repetitions="$repetitions" --benchmark_out="$2" --benchmark_out_format=json --benchmark_min_time=0.1 "${@:3}" >/dev/null
}
rm -f "$out"/*.json
# True if what these ids measure is asked for.
wants() {
  local id
  [ -n "$only" ] || return 0
  for id; do [ "$id" != "$only" ] || return 0; done
  return 1
}
! wants PERF-4 || run "$bin/tests/bench/compile_bench" "$out/compile.json"
! wants PERF-5 WIDX-1 BOX-1 || run "$bin/tests/bench/load_bench" "$out/load.json"
! wants PERF-5 WIDX-1 BOX-1 || run "$bin/tests/bench/pack_bench" "$out/pack.json" --benchmark_filter=BM_open_trusted_entry
! wants PERF-6 || run "$bin/tests/bench/map_bench" "$out/map.json"
! wants POOL-2 POOL-3 TREF-1 || run "$bin/tests/bench/core_bench" "$out/core.json"
! wants PERF-3 || run "$bin/tests/bench/search_bench" "$out/search.json"
! wants PERF-2 || run "$bin/tests/bench/box_tree_bench" "$out/box_tree.json"
! wants PERF-8 || run "$bin/tests/bench/occlusion_bench" "$out/occlusion.json"
! wants PERF-1 || run "$bin/tests/bench/scan_bench" "$out/scan.json"

# Flights: through a linked world, from a slow disk, through worlds of half and double size, through a huge one.
if wants PERF-7 PERF-9; then
  python3 - "$bin" "$out" "${only:-all}" <<'PY'
import json, os, re, shutil, statistics, subprocess, sys

bin, out, only = sys.argv[1:]


def tool(name, *args):
    return subprocess.run([os.path.join(bin, "bin", name), *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def world(name, *args):
    folder = os.path.join(out, name)
    shutil.rmtree(folder, ignore_errors=True)
    tool("worldgen", *args, "-o", folder, "--quiet")
    return folder


def fly(folder, *args):
    result = subprocess.run([os.path.join(bin, "tests/bench/fly_bench"), folder, *args], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(result.stdout)


flights = {}
if only in ("all", "PERF-7"):
    source, linked = world("gta_xml", "--preset", "gta", "--xml"), os.path.join(out, "gta")
    shutil.rmtree(linked, ignore_errors=True)
    tool("worldc", "build", source, "-o", linked, "--no-pack", "--quiet")
    shutil.rmtree(source)
    flights["gta"] = fly(linked, "--seconds", "600", "--scan")  # and what is seen of it, each frame
    slow = ["--seconds", "600", "--latency", "30", "--bandwidth", "50"]
    flights["slow_blind"] = fly(linked, *slow, "--look-ahead", "0")
    flights["slow"] = fly(linked, *slow)
    shutil.rmtree(linked)
if only in ("all", "PERF-9"):
    # The same density, the same flight over the middle; in turn, and the middle one of five, as the machine drifts.
    folders = {name: world(name, "--preset", "gta", "--maps", str(maps), "--entities", str(entities), "--compiled")
               for name, maps, entities in (("half", 8000, 1200000), ("double", 16000, 2400000))}
    rounds = [{name: fly(folder, "--seconds", "300", "--span", "1500") for name, folder in folders.items()} for _ in range(5)]
    for name, folder in folders.items():
        flights[name] = rounds[0][name] | {key: statistics.median(r[name][key] for r in rounds) for key in ("mean_us", "median_us")}
        shutil.rmtree(folder)
    folder = world("huge", "--preset", "huge", "--compiled")
    rounds = [fly(folder, "--seconds", "120") for _ in range(3)]
    flights["huge"] = rounds[0] | {"p99_9_us": statistics.median(r["p99_9_us"] for r in rounds)}
    stats = tool("resinfo", "stats", os.path.join(folder, "world.widx"))
    flights["huge"]["bytes_a_map"] = float(re.search(r"([0-9.]+) bytes a map", stats).group(1))
    flights["huge"]["bytes_an_archetype"] = float(re.search(r"([0-9.]+) an archetype", stats).group(1))
    shutil.rmtree(folder)
json.dump(flights, open(os.path.join(out, "flight.json"), "w"))
PY
fi

if wants PERF-4 LINT-2; then
# Peak private memory of the program itself: resident pages at the end of its life, without the input's mapping.
"$bin/tests/bench/compile_bench" --make "$out/big.ymap.xml"
python3 - "$bin/bin/imapc" "$out" <<'PY'
import json, os, subprocess, sys
imapc, out = sys.argv[1:]
source = os.path.join(out, "big.ymap.xml")
process = subprocess.Popen([imapc, source, "-o", os.path.join(out, "big.imap"), "-j1", "--write=always"])
peak = 0
while process.poll() is None:
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", encoding="ascii") as f:
            fields = dict(line.split(":", 1) for line in f if ":" in line)
        peak = max(peak, int(fields["Anonymous"].split()[0]))
    except (OSError, ValueError, KeyError):
        pass
if process.returncode:
    sys.exit(process.returncode)

# Ten thousand small files, read once before so that the page cache is warm: compiled, built as a world, built again.
import shutil, statistics, time
folder = os.path.dirname(imapc)
many = os.path.join(out, "many")
for name in ("many", "many_out", "many_world"):
    shutil.rmtree(os.path.join(out, name), ignore_errors=True)
subprocess.run([os.path.join(folder, "worldgen"), "--preset", "gta", "--maps", "10000", "--entities", "100000", "--archetypes", "4000", "--interiors", "100", "--xml", "-o", many], check=True)
files = sum(name.endswith(".ymap.xml") for _, _, names in os.walk(many) for name in names)


def seconds(*command):
    start = time.perf_counter()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


small = []
for _ in range(3):
    shutil.rmtree(os.path.join(out, "many_out"), ignore_errors=True)
    small.append(seconds(imapc, many, "--out-dir", os.path.join(out, "many_out"), "-j2", "--quiet"))
worldc = [os.path.join(folder, "worldc"), "build", many, "-o", os.path.join(out, "many_world"), "-j2", "--quiet"]
world = seconds(*worldc)
time.sleep(2.5)  # files younger than a coarse clock's tick are read again
seconds(*worldc)
noop = [seconds(*worldc) for _ in range(5)]
# What the rules add to compiling a world of a thousand files; both in turn, nothing from a cache.
thousand = os.path.join(out, "thousand")
shutil.rmtree(thousand, ignore_errors=True)
subprocess.run([os.path.join(folder, "worldgen"), "--preset", "city", "--maps", "960", "--entities", "60000", "--xml", "-o", thousand], check=True)
ruled, unruled = [], []
for _ in range(7):
    check = [os.path.join(folder, "worldc"), "check", thousand, "-j2", "--quiet"]
    ruled.append(seconds(*check))
    unruled.append(seconds(*check, "--no-lint"))
json.dump({"private_bytes": peak * 1024, "source_bytes": os.path.getsize(source), "files": files,
           "small_seconds": statistics.median(small), "world_seconds": world, "noop_seconds": statistics.median(noop),
           "check_seconds": statistics.median(ruled), "unchecked_seconds": statistics.median(unruled)},
          open(os.path.join(out, "program.json"), "w"))
for name in ("many", "many_out", "many_world", "thousand"):
    shutil.rmtree(os.path.join(out, name), ignore_errors=True)
PY
rm -f "$out/big.ymap.xml" "$out/big.imap"
fi
python3 pipeline/bench_table.py "$out" "${table_args[@]+"${table_args[@]}"}"
