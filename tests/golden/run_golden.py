#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the golden cases: every folder below this one that holds a file `cmd`.

  run_golden.py --bin build/bin                      run all cases
  run_golden.py --bin build/bin --only imapc/odd0    those whose name begins so (or matches a pattern with * or ?)
  run_golden.py --bin build/bin --update             write what was seen into the cases, for review

A case is <tool>/<case>/ with
  cmd         one shell command line, run by bash in a scratch copy of the folder; tools are found in --bin
  stdout      expected standard output; absent: none
  stderr      expected standard error; absent: none
  exit        expected exit code; absent: 0. Written by hand: --update never changes it
  out.dump    expected `resinfo dump --xml` of the one resource that the command wrote;
              if it wrote several, NAME.dump for each (NAME is its path, with _ for /)
  expect.txt  for the reviewer: what must be seen
All other files are inputs. A line `...` alone stands for any number of lines, none included; --update keeps a file
that still matches. A resource without a dump, a dump without a resource, and a left-over *.tmp are failures.
"""

import argparse
import concurrent.futures
import difflib
import fnmatch
import os
import shutil
import signal
import subprocess
import sys
import tempfile

OWN_FILES = ("cmd", "stdout", "stderr", "exit", "expect.txt")
RESOURCES = (".imap", ".ityp", ".gcfg", ".ymfm", ".mmeta")


def matches(expected, actual):
    """Whether the lines `actual` are what `expected` says, where '...' stands for any number of lines.

    The parts between wildcards are placed as early as possible; the last one must end the text.
    """
    parts = [[]]
    for line in expected:
        if line == "...":
            parts.append([])
        else:
            parts[-1].append(line)
    first, last = parts[0], parts[-1]
    if len(parts) == 1:
        return first == actual
    if actual[: len(first)] != first or len(first) + len(last) > len(actual):
        return False
    at, end = len(first), len(actual) - len(last)
    if actual[end:] != last:
        return False
    for part in parts[1:-1]:
        while at + len(part) <= end and actual[at : at + len(part)] != part:
            at += 1
        if at + len(part) > end:
            return False
        at += len(part)
    return True


def read_text(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None


def files_below(folder):
    """Paths below `folder` with the bytes of each, relative and sorted."""
    found = {}
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(root, name)
            if os.path.isfile(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, folder)] = file.read()
    return found


def run_command(args, folder, environment, timeout):
    """Exit code, stdout, stderr; on timeout kills the command and all that it started."""
    child = subprocess.Popen(args, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, start_new_session=True)
    try:
        out, err = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise
    return child.returncode, out, err


class Case:
    def __init__(self, folder, name, options):
        self.folder, self.name, self.options = folder, name, options
        self.failures = []
        self.updated = []

    def check(self, file_name, actual):
        """Compares `actual` with a file of the case; None means that there is nothing to compare."""
        path = os.path.join(self.folder, file_name)
        expected = read_text(path)
        if (expected or "") == (actual or ""):
            return
        if expected is not None and actual is not None and matches(expected.split("\n"), actual.split("\n")):
            return
        if self.options.update:
            self.updated.append(file_name)
            if actual:
                with open(path, "w", encoding="utf-8", newline="") as file:
                    file.write(actual)
            else:
                os.remove(path)
            return
        diff = difflib.unified_diff(
            (expected or "").splitlines(), (actual or "").splitlines(), f"{self.name}/{file_name}", "seen", lineterm="")
        self.failures.append("\n".join(diff) or f"{file_name}: differs in the ends of lines only")

    def run(self):
        with tempfile.TemporaryDirectory(prefix="golden-") as temp:
            self.run_in(os.path.join(temp, "case"), temp)
        return self

    def run_in(self, scratch, temp):
        def not_inputs(folder, names):
            top = os.path.samefile(folder, self.folder)
            return [n for n in names if top and (n in OWN_FILES or n.endswith(".dump"))]

        shutil.copytree(self.folder, scratch, ignore=not_inputs)
        before = files_below(scratch)
        with open(os.path.join(self.folder, "cmd"), encoding="utf-8") as file:
            command = file.read()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "CLICOLOR", "MERIDIAN_"))}
        environment.update(LC_ALL="C", NO_COLOR="1", TZ="UTC", TMPDIR=temp,
                           PATH=os.pathsep.join([*self.options.bin, os.environ.get("PATH", os.defpath)]))

        resinfo = shutil.which("resinfo", path=environment["PATH"])

        def text(data):  # an absolute path in the output is a fault, but one that looks the same on every run
            return data.decode("utf-8", "backslashreplace").replace(scratch, "<scratch>")

        try:
            code, out, err = run_command(["bash", "-c", command], scratch, environment, self.options.timeout)
        except subprocess.TimeoutExpired:
            self.failures.append(f"still running after {self.options.timeout} s")
            return
        wanted = (read_text(os.path.join(self.folder, "exit")) or "0").strip()
        if str(code) != wanted:
            self.failures.append(f"exit {code}, expected {wanted}\n{text(err)}".rstrip())
            if self.options.update:  # what a wrong run says is not worth keeping
                return
        self.check("stdout", text(out))
        self.check("stderr", text(err))

        after = files_below(scratch)
        for name in after:
            if name not in before and (name.endswith(".tmp") or ".tmp." in os.path.basename(name)):
                self.failures.append(f"left behind: {name}")
        resources = [n for n, data in after.items() if n.endswith(RESOURCES) and before.get(n) != data]
        dumps = {n: n.replace("/", "_") + ".dump" for n in resources}
        if len(resources) == 1:
            dumps[resources[0]] = "out.dump"
        for name, dump in dumps.items():
            code, out, err = run_command([resinfo, "dump", "--xml", name], scratch, environment, self.options.timeout)
            if code != 0 or err or not out:
                self.failures.append(f"resinfo dump --xml {name}: exit {code}\n{text(err)}".rstrip())
            else:
                self.check(dump, text(out))
        for name in sorted(os.listdir(self.folder)):
            if name.endswith(".dump") and name not in dumps.values():
                self.check(name, None)


def find_cases(root, only):
    for folder, folders, names in os.walk(root):
        folders.sort()
        if "cmd" in names:
            folders.clear()
            name = os.path.relpath(folder, root).replace(os.sep, "/")
            if not only or any(name.startswith(o) or fnmatch.fnmatch(name, o) for o in only):
                yield folder, name


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", action="append", required=True, type=os.path.abspath, metavar="DIR",
                        help="folder of the tools; may be given several times")
    parser.add_argument("--root", default=os.path.dirname(os.path.abspath(__file__)), help="folder of the cases")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="cases whose name begins so, or pattern")
    parser.add_argument("--update", action="store_true", help="write what was seen into the cases")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="cases at once")
    parser.add_argument("--timeout", type=float, default=60, metavar="S", help="seconds for one command")
    options = parser.parse_args()

    for folder in options.bin:
        if not os.path.isdir(folder):
            parser.error(f"--bin {folder}: no such folder")
    if not shutil.which("resinfo", path=os.pathsep.join(options.bin)):
        parser.error("resinfo is in none of the --bin folders")
    cases = [Case(folder, name, options) for folder, name in find_cases(options.root, options.only)]
    if not cases:
        print("no case matches", file=sys.stderr)
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max(1, options.j)) as pool:
        for case in pool.map(Case.run, cases):
            if case.updated:
                print(f"updated {case.name}: {', '.join(case.updated)}")
            if case.failures:
                failed += 1
                print(f"FAILED {case.name}")
                for failure in case.failures:
                    print("  " + failure.replace("\n", "\n  "))
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
