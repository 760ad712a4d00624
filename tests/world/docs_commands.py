# SPDX-License-Identifier: MIT
"""The commands of the pages about worlds do what the pages say.

In such a page, in order and in one folder: a fence `xml FILE` or `json FILE` is that file; each line of a fence `sh` runs,
and ends with 0 or with the code of its comment `# exit N`; a fence `text` right behind is what was printed, `...` for
any lines.
"""

import os
import re
import subprocess

from world_kit import as_started_by_a_user, check, write

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
PAGES = ["worldc.md", "worlds.md", "check_my_map.md"]
FENCE = re.compile(r"^```(\w+) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def matches(expected, printed):
    """Lines against lines; `...` stands for any number."""
    if not expected:
        return not printed
    if expected[0] == "...":
        return any(matches(expected[1:], printed[n:]) for n in range(len(printed) + 1))
    return bool(printed) and printed[0] == expected[0] and matches(expected[1:], printed[1:])


def run_commands(kit, page, folder, text):
    """Variables live on from line to line, so all lines go to one shell, which says how each ended."""
    script, codes = [], []
    for line in text.splitlines():
        wanted = re.search(r"# exit (\d+)$", line)
        codes.append(int(wanted.group(1)) if wanted else 0)
        script.append(f"{line}\necho \"@@ $?\"")
    environment = {**kit.environment, "PATH": kit.programs + os.pathsep + os.environ.get("PATH", os.defpath)}
    done = subprocess.run(["bash", "-c", "\n".join(script)], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=120, preexec_fn=as_started_by_a_user)
    ended = [int(n) for n in re.findall(r"^@@ (\d+)$", done.stdout, re.MULTILINE)]
    check(ended == codes, f"{page}: ended with {ended}, not {codes}:\n{text}{done.stdout}")
    return [l for l in done.stdout.splitlines() if not l.startswith("@@ ")]


def run(kit):
    commands = 0
    for page in PAGES:
        folder = kit.path(page)
        os.makedirs(folder)
        with open(os.path.join(DOCS, page), encoding="utf-8") as file:
            fences = FENCE.findall(file.read())
        printed = None
        for language, name, text in fences:
            if language in ("xml", "json") and name:
                write(os.path.join(folder, name), text)
            elif language == "sh":
                printed = run_commands(kit, page, folder, text)
                commands += len(text.splitlines())
            elif language == "text":
                check(printed is not None, f"{page}: a text fence without commands before it")
                check(matches(text.splitlines(), printed), f"{page}: expected\n{text}but printed\n" + "\n".join(printed))
    return f"{commands} commands of {len(PAGES)} pages"
