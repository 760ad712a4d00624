#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs clang-tidy over the sources of the libraries, several at a time, and says what it finds.

  tidy.py [--jobs N] BUILD_DIR

BUILD_DIR was configured with clang and MERIDIAN_UNITY_SOURCES; its compile commands say which sources go together. They
are written one after the other into one file, because clang's analyzer (version 14) follows no function of a file that
is included, and most of the time goes into headers. Findings are told at the place where they are in the source. The
longest come first, so that no processor ends long before the others. It fails if no target has one of the sources.
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys

# The analyzer gives up a function after so many steps. Its own default is three times that and takes twice the time of
# all of this, for large functions alone.
MAX_NODES = 75000
SOURCES = ["runtime/src/*.cpp", "runtime/jobs_tbb/src/*.cpp", "tools/lib/src/*.cpp"]
INCLUDE = re.compile(r"#include [<\"].*")


def read_lines(file):
    with open(file, encoding="utf-8") as text:
        return text.read().split("\n")


class Group:
    """One file for clang-tidy, and where its lines come from."""

    def __init__(self, entry, sources, folder):
        self.places, text, before = [], [], set()
        for source in sources:
            included = set()
            for number, line in enumerate(read_lines(source), 1):
                if INCLUDE.match(line):
                    included.add(line)
                    # What an earlier source included already would be found as a repetition.
                    line = "" if line in before else line
                text.append(line)
                self.places.append((source, number))
            before |= included
        self.file = os.path.join(folder, re.sub(r"\W", "_", os.path.relpath(entry["file"], folder)) + ".cpp")
        with open(self.file, "w", encoding="utf-8") as file:
            file.write("\n".join(text))
        self.command = {"directory": entry["directory"], "file": self.file,
                        "command": entry["command"].replace(entry["file"], self.file)}

    def place(self, match):
        source, number = self.places[int(match[1]) - 1]
        return f"{os.path.relpath(source)}:{number}:"

    def run(self, folder):
        command = ["clang-tidy", "--quiet", "-p", folder, self.file]
        for argument in ["-analyzer-config", f"max-nodes={MAX_NODES}"]:
            command += ["--extra-arg=-Xclang", f"--extra-arg={argument}"]
        done = subprocess.run(command, capture_output=True, text=True)
        # stderr only counts warnings, unless clang-tidy itself had trouble.
        said = [line for line in done.stderr.split("\n") if line and not re.match(r"\d+ warnings? (gen|treated)", line)]
        text = re.sub(re.escape(self.file) + r":(\d+):", self.place, done.stdout + "\n".join(said))
        return done.returncode, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("build_dir")
    arguments = parser.parse_args()
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    listed = subprocess.run(["git", "ls-files", "--"] + SOURCES, cwd=root, check=True, capture_output=True, text=True)
    wanted = {os.path.join(root, name) for name in listed.stdout.split()}
    missing = set(wanted)
    build = os.path.abspath(arguments.build_dir)
    folder = os.path.join(build, "sources")
    os.makedirs(folder, exist_ok=True)
    groups = []
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as text:
        entries = json.load(text)
    # The schemas' own program shares sources with the runtime, which comes first.
    for entry in sorted(entries, key=lambda entry: "/meridian_schema_pack.dir/" in entry["file"]):
        sources = [entry["file"]]
        if "/Unity/" in entry["file"]:
            sources = [m[1] for line in read_lines(entry["file"]) if (m := re.match(r'#include "(.*)"$', line))]
        sources = [source for source in sources if source in missing]
        if sources:
            missing.difference_update(sources)
            groups.append(Group(entry, sources, folder))
    if missing:
        sys.exit("no target has " + " ".join(sorted(missing)))
    with open(os.path.join(folder, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump([group.command for group in groups], file)
    groups.sort(key=lambda group: -len(group.places))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for status, text in pool.map(lambda group: group.run(folder), groups):
            failed += status != 0
            sys.stdout.write(text)
    print(f"{len(wanted)} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
