#!/usr/bin/env bash
# Builds the benchmarks and prints the table of performance targets: ours, each peer, ratio, target, holds or not.
#
#   ./pipeline/bench.sh [--only PERF-4] [--json FILE] [--repetitions N]
#
# Figures are ratios of one run; the build is Release for the baseline instruction set. Nothing here fails on a figure.
set -euo pipefail
cd "$(dirname "$0")/.."

repetitions=5
table_args=()
while [ $# -gt 0 ]; do
  case "$1" in
    --only | --json) table_args+=("$1" "${2:?$1 needs a value}"); shift 2 ;;
    --repetitions) repetitions="${2:?--repetitions needs a number}"; shift 2 ;;
    --compare) shift ;; # peers are always measured
    -h | --help) sed -n '2,6p' "$0" | cut -c3-; exit 0 ;;
    *) echo "bench.sh: unknown option '$1' (see --help)" >&2; exit 2 ;;
  esac
done

./pipeline/setup.sh
cmake --preset release -DMERIDIAN_BUILD_BENCHMARKS=ON >/dev/null
cmake --build --preset release --target compile_bench load_bench map_bench pack_bench core_bench search_bench imapc worldc worldgen
bin=build/release
out=build/bench
mkdir -p "$out"

run() { # PROGRAM REPORT [OPTION...]
  # In turn, not one after the other: on a shared machine the speed drifts, and ratios must not.
  "$1" --benchmark_enable_random_interleaving=true --benchmark_repetitions="$repetitions" --benchmark_out="$2" --benchmark_out_format=json --benchmark_min_time=0.1 "${@:3}" >/dev/null
}
run "$bin/tests/bench/compile_bench" "$out/compile.json"
run "$bin/tests/bench/load_bench" "$out/load.json"
run "$bin/tests/bench/map_bench" "$out/map.json"
run "$bin/tests/bench/pack_bench" "$out/pack.json" --benchmark_filter=BM_open_trusted_entry
run "$bin/tests/bench/core_bench" "$out/core.json"
run "$bin/tests/bench/search_bench" "$out/search.json"

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
python3 pipeline/bench_table.py "$out" "${table_args[@]+"${table_args[@]}"}"
