#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""FMT-31: edits copies of the schemas, and checks which edits schema_pack takes beside the released ones.

`flatc --conform` misses changes of struct fields, alignment and removed enumerators; these are among the edits.
"""
import argparse
import pathlib
import shutil
import subprocess
import sys

ROOTS = ("imap", "ityp", "gameconfig", "manifest")

# file, text, its replacement, whether the build goes on
EDITS = [
    ("imap", None, None, True),
    ("imap", "  can_be_broken_down = 12", "  can_be_broken_down = 12, added = 13", True),
    ("imap", "orient_y:float", "added:float; orient_y:float", False),
    ("imap", "orient_y:float", "orient_z:float", False),
    ("imap", "struct CarGen (", "struct CarGen (force_align: 8, ", False),
    ("imap", "  can_be_broken_down = 12", "  cannot_be_broken_down = 12", False),
]


def binary(flatc, source, include, out):
    subprocess.run([flatc, "-b", "--schema", "--bfbs-comments", "--bfbs-builtins", "-I", include, "-o", out, source], check=True)
    return out / (source.stem + ".bfbs")


def main():
    parser = argparse.ArgumentParser()
    for name in ("pack", "flatc", "schemas", "work"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    schemas, work = pathlib.Path(args.schemas), pathlib.Path(args.work)
    shutil.rmtree(work, ignore_errors=True)
    released = []
    for version in sorted((schemas / "released").glob("v*")):
        shutil.copytree(version, work / "released" / version.name / "meridian")
        out = work / "released" / version.name / "bfbs"
        out.mkdir()
        released += [binary(args.flatc, version_dir / (root + ".fbs"), version_dir.parent, out)
                     for version_dir in [work / "released" / version.name / "meridian"] for root in ROOTS]
    failures = 0
    for number, (name, old, new, good) in enumerate(EDITS):
        folder = work / str(number)
        shutil.copytree(schemas / "meridian", folder / "meridian")
        (folder / "bfbs").mkdir()
        if old is not None:
            path = folder / "meridian" / (name + ".fbs")
            text = path.read_text(encoding="utf-8")
            if old not in text:
                sys.exit(f"{path}: has no '{old}'")
            path.write_text(text.replace(old, new, 1), encoding="utf-8")
        roots = [binary(args.flatc, folder / "meridian" / (root + ".fbs"), folder, folder / "bfbs") for root in ROOTS]
        info = binary(args.flatc, folder / "meridian" / "resource_info.fbs", folder, folder / "bfbs")
        done = subprocess.run([args.pack, folder, "--root", *roots, "--info", info, "--released", *released], capture_output=True, text=True)
        expected = done.returncode == 0 if good else done.returncode == 1 and "released with" in done.stderr and "imap.bfbs" in done.stderr
        if not expected:
            failures += 1
            print(f"edit {number} ({old!r} -> {new!r}): exit {done.returncode}, {done.stderr}", file=sys.stderr)
    print(f"{len(EDITS)} edits, {failures} wrong")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
