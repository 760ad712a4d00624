#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What bounds the figures of the scan and of occlusion: instructions, cache misses and branch misses of a frame.

Usage: pipeline/profile.py [--functions N] [CASE...]

Runs benchmark programs of build/release with --profile under valgrind's callgrind, which counts and does not time, so
that the same build gives the same numbers whatever else the machine does. First cache: 32 KiB in 8 ways; the other one
is a second cache of 1 MiB in 16 ways. The processor's own prediction and prefetch are better than those of the model.
--functions N also prints the N functions with most instructions of their own; CASE picks rows by words in their names.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

CASES = [(f"{kind} 100k {shapes}", "scan_bench", (kind, "100000", str(shapes))) for kind in ("scan", "plain") for shapes in (1, 4, 8, 24)]
CASES += [("moving 100k 8", "scan_bench", ("moving", "100000", "8"))]
CASES += [(f"scan 1M {shapes}", "scan_bench", ("scan", "1000000", str(shapes))) for shapes in (1, 8)]
CASES += [(f"occlusion {kind}", "occlusion_bench", (kind,)) for kind in ("raster", "test")]


def profile(program, arguments, out):
    """Events by name, a frame, and functions by their own instructions."""
    command = ["valgrind", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=*profiled_frame*", "--cache-sim=yes", "--branch-sim=yes",
               "--D1=32768,8,64", "--LL=1048576,16,64", f"--callgrind-out-file={out}", program, "--profile", *arguments]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(f"profile.py: {program} failed:\n{result.stderr[-2000:]}")
    frames = int(re.match(r"(\d+) frames", result.stdout).group(1))
    events, totals = [], []
    for line in open(out, encoding="utf-8"):
        if line.startswith("events:"):
            events = line.split()[1:]
        elif line.startswith(("summary:", "totals:")):
            totals = [int(n) for n in line.split()[1:]]
    counts = {name: total / frames for name, total in zip(events, totals)}
    annotated = subprocess.run(["callgrind_annotate", "--auto=no", "--show=Ir", out], stdout=subprocess.PIPE, text=True).stdout
    functions = re.findall(r"^ *([\d,]+) \(([ \d.]+)%\)  \S*?:(.*?)(?: \[.*\])?$", annotated, re.M)
    return counts, [(float(share), name) for _, share, name in functions]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--functions", type=int, default=0)
    parser.add_argument("case", nargs="*")
    args = parser.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    print(f"{'a frame of':20} {'instructions':>12} {'first-cache misses':>19} {'second-cache misses':>20} {'branches':>9} {'mispredicted':>13}")
    with tempfile.TemporaryDirectory() as folder:
        for name, program, arguments in CASES:
            if any(word not in name for word in args.case):
                continue
            counts, functions = profile(f"build/release/tests/bench/{program}", arguments, os.path.join(folder, "out"))
            first, second = counts["D1mr"] + counts["D1mw"], counts["DLmr"] + counts["DLmw"]
            print(f"{name:20} {counts['Ir']:12.0f} {first:19.0f} {second:20.0f} {counts['Bc'] + counts.get('Bi', 0):9.0f} {counts['Bcm'] + counts.get('Bim', 0):13.0f}", flush=True)
            for share, function in functions[:args.functions]:
                print(f"    {share:5.1f} %  {function[:120]}")


if __name__ == "__main__":
    main()
