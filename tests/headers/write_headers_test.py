#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests public headers: each compiles alone and pulls in nothing that it must not; the example of its first comment
compiles.

  write_headers_test.py INCLUDE_DIR OUTPUT
      writes all examples as one source file: they need the headers of what they use, and together they need them once
  write_headers_test.py --check-headers COMPILER INCLUDE_DIR [OTHER_DIR...]
      compiles each header alone; fails if one does not compile or pulls in what it must not

An example is what stands indented by three blanks or more in the comment before the first #include. It becomes the body
of a function; the names that it leaves open are declared in tests/headers/open_names.h.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

# Headers that have nothing to show.
NO_EXAMPLE = {"meridian/meridian.h", "meridian/base/poison.h", "meridian/base/version.h", "meridian/core/pool_slots.h"}
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


def write(include, output):
    wrong, text = [], '#include "headers/open_names.h"\n\n'
    text += "".join(f'#include "{header}"\n' for header in headers(include))
    for header in headers(include):
        example = example_of(os.path.join(include, header))
        if not example and header not in NO_EXAMPLE:
            wrong.append(f"{header}: no example in its first comment")
        name = re.sub(r"\W", "_", header[len("meridian/"):-2])
        text += (f"\nStatus example_of_{name}();\nStatus example_of_{name}() {{\n"
                 f'#line 1 "example in {header}"\n' + "\n".join(example) + "\nreturn {};\n}\n")
    os.makedirs(os.path.dirname(output), exist_ok=True)
    with open(output, "w", encoding="utf-8") as file:
        file.write(text)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def check(compiler, include, others):
    """One pass of the compiler for both: it says what it read."""
    def one(header):
        command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion",
                   "-Werror", "-DMERIDIAN_ENABLE_ASSERTS=1", "-I", include, "-x", "c++", "-include", header, "-MD", "-MF",
                   "/dev/stdout", "/dev/null"]
        for folder in others:
            command += ["-isystem", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            return [f"{header}: does not compile alone\n{done.stderr}"]
        read = done.stdout.replace("\\\n", " ").split()[1:]
        if os.path.join(include, header) not in read:
            return [f"{header}: was not read"]
        return [f"{header}: pulls in {path}" for path in read if FORBIDDEN.search(path)]

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [line for lines in pool.map(one, headers(include)) for line in lines]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) > 3 and sys.argv[1] == "--check-headers":
        sys.exit(check(sys.argv[2], sys.argv[3], sys.argv[4:]))
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(write(*sys.argv[1:]))
