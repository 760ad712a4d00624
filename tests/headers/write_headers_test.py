#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a source file for each public header: the header alone, then the example of its first comment.

  write_headers_test.py INCLUDE_DIR OUTPUT_DIR          writes OUTPUT_DIR/<area>_<name>.cpp; with --list prints their names
  write_headers_test.py --check-includes COMPILER INCLUDE_DIR [OTHER_DIR...]   fails if a header pulls in what it must not

An example is what stands indented by three blanks or more in the comment before the first #include. It becomes the body
of a function; the names that it leaves open are declared in tests/headers/open_names.h.
"""
import os
import re
import subprocess
import sys

# Headers that have nothing to show.
NO_EXAMPLE = {"meridian/meridian.h", "meridian/base/version.h", "meridian/core/pool_slots.h"}
FORBIDDEN = re.compile(r"/(tinyxml2|CLI|tbb|oneapi|flatbuffers|reflection|zstd|xxhash|hwy)[./]|/meridian/tools/|_generated\.h$"
                       r"|/c\+\+/\d+/(iostream|functional|regex)$")


def headers(include):
    for folder, _, files in sorted(os.walk(include)):
        for name in sorted(files):
            if name.endswith(".h"):
                yield os.path.relpath(os.path.join(folder, name), include)


def example_of(path):
    """Blocks of the first comment that are indented by exactly three blanks or more and follow an empty line."""
    lines, blank, inside = [], False, False
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("#include"):
                break
            inside = line.startswith("///   ") and (blank or inside)
            if inside:
                lines.append(line[6:].rstrip())
            blank = line.strip() == "///"
    return lines


def write(include, output, listing):
    os.makedirs(output, exist_ok=True)
    wrong = []
    for header in headers(include):
        example = example_of(os.path.join(include, header))
        if not example and header not in NO_EXAMPLE:
            wrong.append(f"{header}: no example in its first comment")
        name = re.sub(r"\W", "_", header[len("meridian/"):-2])
        text = (f'#include "{header}"\n\n#include "headers/open_names.h"\n\n'
                f"Status example_of_{name}();\nStatus example_of_{name}() {{\n"
                f'#line 1 "example in {header}"\n' + "\n".join(example) + "\nreturn {};\n}\n")
        path = os.path.join(output, name + ".cpp")
        if not os.path.exists(path) or open(path, encoding="utf-8").read() != text:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        if listing:
            print(path)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def check(compiler, include, others):
    wrong = 0
    for header in headers(include):
        command = [compiler, "-std=c++20", "-M", "-x", "c++", os.path.join(include, header)]
        for folder in [include] + others:
            command += ["-I", folder]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        for path in done.stdout.replace("\\\n", " ").split()[1:]:
            if FORBIDDEN.search(path):
                print(f"{header}: pulls in {path}", file=sys.stderr)
                wrong = 1
    return wrong


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--check-includes":
        sys.exit(check(sys.argv[2], sys.argv[3], sys.argv[4:]))
    arguments = [a for a in sys.argv[1:] if a != "--list"]
    if len(arguments) != 2:
        sys.exit(__doc__)
    sys.exit(write(*arguments, "--list" in sys.argv))
