# SPDX-License-Identifier: MIT
"""The same sources give the same bytes: any number of threads, order, folder, locale, times. REL-6."""

import locale
import os
import shutil

from world_kit import Tree, check, same_bytes


def run(kit):
    kit.generate("w", "--preset", "small", "--maps", "40", "--entities", "1500")
    # Three folders that lie apart.
    for name, inside in (("one", "common"), ("two", "r000")):
        shutil.copytree(kit.path("w", inside), kit.path("parts", name))
    os.makedirs(kit.path("parts", "three"))
    shutil.copy(kit.path("w", "gameconfig.xml"), kit.path("parts", "three"))
    sources = ["parts/one", "parts/two", "parts/three"]
    first = kit.clean_build(sources, "-j1", out="first")
    check(first.code == 0 and first.findings() == [], f"the world is not clean: {first.err[:500]}")
    expected, count = Tree(kit.path("first")), 0
    check(len(expected.files) > 40 and "world.mpk" in expected.files, "too few outputs")

    def same(when, run, said=True):
        nonlocal count
        count += 1
        check(run.code == 0, f"{when}: exit {run.code}: {run.err[:300]}")
        check(not said or run.findings() == first.findings(), f"{when}: other diagnostics")
        same_bytes(Tree(kit.path("other")), expected, when)

    for jobs in (2, 3, 8):
        same(f"-j{jobs}", kit.clean_build(sources, f"-j{jobs}", out="other"))
    for _ in range(4):
        shuffled = kit.rng.sample(sources, len(sources))
        same(f"sources {shuffled}", kit.clean_build(shuffled, out="other"))
        # And over an older build, to which other paths are other sources.
        same(f"sources {shuffled} again", kit.build(kit.rng.sample(sources, len(sources)), "other"))
    same("one folder for all", kit.clean_build(["parts"], out="other"))
    same("a path with a slash", kit.clean_build(["parts/"], out="other"))
    same("each file by name", kit.clean_build(sorted(
        os.path.relpath(os.path.join(where, n), kit.scratch) for where, _, names in os.walk(kit.path("parts"))
        for n in names), out="other"))

    # Another working folder, absolute and relative paths.
    os.makedirs(kit.path("elsewhere/deep"))
    kit.remove("other")
    same("another working folder", kit.build(["../../" + s for s in sources], "../../other",
                                             cwd=kit.path("elsewhere/deep")))
    kit.remove("other")
    same("absolute paths", kit.build([kit.path(s) for s in sources], kit.path("other"), cwd="/"))

    # Other times, other inodes.
    shutil.copytree(kit.path("parts"), kit.path("copy"))
    for where, _, names in os.walk(kit.path("copy")):
        for name in names:
            time = kit.rng.randrange(0, 4_000_000_000)
            os.utime(os.path.join(where, name), (time, time))
    same("other times", kit.clean_build(["copy"], out="other"))

    # Files deal themselves out to folders otherwise.
    for where, _, names in list(os.walk(kit.path("copy"))):
        for name in names:
            to = kit.path("dealt", str(kit.rng.randrange(4)), name)
            if name != "_manifest.ymf.xml":
                os.makedirs(os.path.dirname(to), exist_ok=True)
                shutil.copy(os.path.join(where, name), to)
    same("other folders", kit.clean_build(["dealt"], out="other"), said=False)

    told = "no locale with a decimal comma here"
    for name in ("de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"):
        try:
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        locale.setlocale(locale.LC_ALL, "C")
        told = name
        same(name, kit.clean_build(sources, out="other", environment={**kit.environment, "LC_ALL": name, "LANG": name}))
        break
    environment = {**kit.environment, "TZ": "Asia/Tokyo", "HOME": "/nowhere", "USER": "somebody", "COLUMNS": "20"}
    same("another environment", kit.clean_build(sources, out="other", environment=environment))
    return f"{count} ways, {told}"
