#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what of the documentation can be checked by a program.

  check_docs.py [--bin DIR] [--update] [--write-example FILE]

1. Relative links in README.md, docs/ and samples/ lead to a file, and to a heading where they name one.
2. Every page of docs/ can be reached from docs/index.md.
3. The C++ example of README.md stands word for word in docs/hello.md.
4. With --bin: docs/cli/<program>.md is what `DIR/<program> --generate=markdown` prints; --update rewrites the pages.

--write-example writes that C++ example to FILE, so that a build can compile it.
Exit 0, or 1 with a line for each fault.
"""

import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAMS = ["imapc", "itypc", "gameconfigc", "metac", "resinfo", "worldc", "worldgen"]
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def pages():
    yield os.path.join(ROOT, "README.md")
    for folder in ("docs", "samples"):
        for where, _, names in os.walk(os.path.join(ROOT, folder)):
            yield from (os.path.join(where, name) for name in names if name.endswith(".md"))


def anchors(text):
    """Names of headings as the viewers of code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def check_links(faults):
    targets = {}  # page -> pages it leads to
    for page in sorted(pages()):
        prose = re.sub(r"`[^`\n]*`", "", FENCE.sub("", read(page)))
        for link in LINK.findall(prose):
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            shown = os.path.relpath(page, ROOT)
            if not os.path.exists(target):
                faults.append(f"{shown}: link to {link}: no such file")
            elif anchor and anchor not in anchors(read(target)):
                faults.append(f"{shown}: link to {link}: no such heading")
            targets.setdefault(page, set()).add(target)
    reached, waiting = set(), [os.path.join(ROOT, "docs", "index.md")]
    while waiting:
        page = waiting.pop()
        if page not in reached:
            reached.add(page)
            waiting += targets.get(page, ())
    for page in sorted(pages()):
        if page.startswith(os.path.join(ROOT, "docs") + os.sep) and page not in reached:
            faults.append(f"{os.path.relpath(page, ROOT)}: no way leads here from docs/index.md")


def cpp_example():
    found = re.search(r"^```cpp\n(.*?)^```$", read(os.path.join(ROOT, "README.md")), re.MULTILINE | re.DOTALL)
    return found.group(1) if found else ""


def check_cli(folder, update, faults):
    for program in PROGRAMS:
        done = subprocess.run([os.path.join(folder, program), "--generate=markdown"], stdout=subprocess.PIPE, check=True)
        page = os.path.join(ROOT, "docs", "cli", program + ".md")
        if os.path.exists(page) and done.stdout == read(page).encode():
            continue
        if update:
            with open(page, "wb") as file:
                file.write(done.stdout)
        else:
            faults.append(f"docs/cli/{program}.md: differs from '{program} --generate=markdown'; --update rewrites it")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", metavar="DIR", help="folder of the programs")
    parser.add_argument("--update", action="store_true", help="rewrite docs/cli")
    parser.add_argument("--write-example", metavar="FILE", help="write the C++ example of README.md")
    args = parser.parse_args()
    if args.update and not args.bin:
        parser.error("--update needs --bin")

    faults = []
    if args.bin:
        check_cli(args.bin, args.update, faults)
    check_links(faults)
    example = cpp_example()
    if not example:
        faults.append("README.md: no C++ example")
    elif example not in read(os.path.join(ROOT, "docs", "hello.md")):
        faults.append("docs/hello.md: lacks the C++ example of README.md, or has another")
    if args.write_example:
        with open(args.write_example, "w", encoding="utf-8") as file:
            file.write(example)
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
