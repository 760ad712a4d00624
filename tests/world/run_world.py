#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Builds whole worlds the way that people do: edited, killed, shared, broken, on other machines.

  run_world.py --bin DIR [--only PART] [--edits N] [--kills N] [--mutations N] [--seed N]

The worlds are made by worldgen and by hand. What must come out is known from a clean build in a fresh folder, from an
XML parser of another origin (expat), and from what was broken on purpose. Prints the seed: the same one gives the same
edits and mutations; kills fall where time lets them. One line a part, then 'N passed, N failed'; exit 0 or 1.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback

sys.dont_write_bytecode = True
import broken  # noqa: E402 (the line above must come first)
import cross_file  # noqa: E402
import docs_commands  # noqa: E402
import edits  # noqa: E402
import environment  # noqa: E402
import explain  # noqa: E402
import kills  # noqa: E402
import mutations  # noqa: E402
import same_everywhere  # noqa: E402
import watching  # noqa: E402
from world_kit import Failure, Kit  # noqa: E402


def parts(args):
    """(name, function of a kit that returns what to tell)"""
    def edited(kit):  # WORLD-1, P044, P057, P089
        if args.preset:
            kit.generate("whole", "--preset", args.preset)
            return f"{edits.random_edits(kit, 'whole', args.edits)} edits of {args.preset}"
        kit.generate("small")
        kit.generate("many", "--preset", "small", "--maps", str(args.maps), "--entities", str(20 * args.maps))
        few = args.edits * 4 // 5
        done = edits.random_edits(kit, "small", few) + edits.random_edits(kit, "many", args.edits - few)
        return f"{done} edits"

    yield "edits", edited
    yield "explain", explain.run
    yield "kills", lambda kit: kills.run(kit, args.kills)
    yield "environment", environment.run
    yield "same_everywhere", same_everywhere.run
    yield from (("cross_file." + name, case) for name, case in cross_file.CASES)
    yield from (("broken." + name, case) for name, case in broken.CASES)
    yield "mutations", lambda kit: mutations.run(kit, args.mutations)
    yield "watching", watching.run
    yield "docs", docs_commands.run


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True, type=os.path.abspath, metavar="DIR", help="folder of the programs")
    parser.add_argument("--only", action="append", default=[], metavar="PART", help="parts whose name begins so")
    parser.add_argument("--edits", type=int, default=25, metavar="N", help="random edits (default: 25)")
    parser.add_argument("--kills", type=int, default=15, metavar="N", help="builds killed (default: 15)")
    parser.add_argument("--mutations", type=int, default=60, metavar="N", help="things broken (default: 60)")
    parser.add_argument("--preset", metavar="NAME", help="edit a world of this preset instead, e.g. gta")
    parser.add_argument("--maps", type=int, default=40, metavar="N", help="maps of the larger world (default: 40)")
    parser.add_argument("--seed", type=int, default=None, metavar="N", help="default: of the clock")
    parser.add_argument("--keep", action="store_true", help="leave the scratch folders of failed parts")
    args = parser.parse_args()
    seed = args.seed if args.seed is not None else time.time_ns() % 1_000_000
    print(f"seed {seed}", flush=True)
    passed = failed = 0
    for name, part in parts(args):
        if args.only and not any(name.startswith(o) for o in args.only):
            continue
        scratch, begin = tempfile.mkdtemp(prefix="world-"), time.monotonic()
        try:
            told = part(Kit(args.bin, scratch, random.Random(f"{seed} {name}"))) or "ok"
        except Failure as failure:
            told = None
            print(f"FAILED {name}: {str(failure).replace(scratch + os.sep, '')}")
        except Exception:
            told = None
            print(f"FAILED {name}: fault of the test itself\n{traceback.format_exc()}")
        passed, failed = passed + (told is not None), failed + (told is None)
        if told is not None:
            print(f"{name}: {told} ({time.monotonic() - begin:.1f} s)", flush=True)
        if told is not None or not args.keep:
            shutil.rmtree(scratch, ignore_errors=True)
        else:
            print(f"  left: {scratch}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
