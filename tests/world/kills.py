# SPDX-License-Identifier: MIT
"""Builds that end too early, or meet each other. WORLD-2, REL-3, PACK-3, CLI-5, PAIN P048."""

import os
import signal
import time

from edits import Editor
from world_kit import Source, Tree, check, equals_clean, kept, same_bytes, with_value, write


def stray_files(folder):
    """Whatever is no output and nothing of ours."""
    found = []
    for where, _, names in os.walk(folder):
        for name in names:
            known = name.endswith((".imap", ".ityp", ".gcfg", ".unit", ".blob")) or name in ("world.mpk", "world.widx", "state", "lock")
            if not known:
                found.append(os.path.relpath(os.path.join(where, name), folder))
    return found


def whole(tree, old, new, when):
    """Each output is the old one or the new one."""
    for name, (data, _, _) in tree.files.items():
        if os.path.basename(name).startswith(".meridian-"):
            continue  # of the killed one, just before it was renamed; the next build takes it away
        choices = [t.files[name][0] for t in (old, new) if name in t.files]
        check(data in choices, f"{when}: {name} is neither the old nor the new one")
    for name in old.files:
        check(name in tree.files or name not in new.files, f"{when}: {name} is gone")


def started(kit, *more, out="out"):
    return kit.start("build", "w", "-o", out, "--quiet", *more)


def ended_by(kit, how, seconds):
    """Exit code, negative for a signal; stdout and stderr."""
    child = started(kit)
    time.sleep(seconds)
    child.send_signal(how)
    out, err = child.communicate(timeout=60)
    return child.returncode, err.decode()


def random_change(editor):
    """One that leaves no errors."""
    rng = editor.rng
    if rng.random() < 0.3:
        return editor.restore()
    while True:
        text = rng.choice([Editor.move, Editor.archetype, Editor.touch, Editor.in_place_with_old_time])(editor)
        if text:
            return text


def killed(kit, how, count, expected):
    """Random change, a build that is ended at a random moment, then a whole one."""
    editor, ends = Editor(kit, "w"), {}
    kit.remove("out")
    begin = time.monotonic()
    check(kit.build(["w"], "out").code == 0, "first build")
    longest = time.monotonic() - begin
    for number in range(4 * count):
        if ends.get(expected, 0) == count:
            break
        old = Tree(kit.path("out"))
        if number % 5 == 0:
            kit.remove("out")  # all of it is to be written
            old = Tree(kit.path("out"))
        text = random_change(editor)
        begin = time.monotonic()
        check(kit.clean_build(["w"]).code == 0, text)
        longest = 0.5 * longest + 0.5 * (time.monotonic() - begin)
        code, err = ended_by(kit, how, kit.rng.random() * longest * (0.7 if number % 5 == 0 else 0.3))
        when = f"{how.name} {number} after {text.replace(kit.scratch + os.sep, '')}"
        if code == -signal.SIGINT:  # before the program had a say; a shell calls that 130 too
            code = 130
        check(code in (expected, 0), f"{when}: exit {code}: {err[:300]}")
        ends[code] = ends.get(code, 0) + 1
        between = Tree(kit.path("out"))
        whole(between, old, Tree(kit.path("clean")), when)
        stray = stray_files(kit.path("out"))
        check(how == signal.SIGKILL or not stray, f"{when}: left behind: {stray[:5]}")
        last = kit.build(["w"], "out")
        after, stray = Tree(kit.path("out")), stray_files(kit.path("out"))
        check(not stray, f"{when}: left behind after the next build too: {stray[:5]}")
        check(last.code == 0, f"{when}: the next build: exit {last.code}: {last.err[:300]}")
        same_bytes(after, Tree(kit.path("clean")), when)
        kept(between, after, when)
    check(ends.get(expected, 0) * 2 >= count, f"just {ends.get(expected, 0)} builds were hit by {how.name}, not {count}")
    editor.restore()
    return ends.get(expected, 0)


def taken_back(kit, count):
    """A map is added, the build killed, the map taken away again: what the killed build wrote must go."""
    source = Source(next(p for p in Editor(kit, "w").paths(".ymap.xml") if p.endswith("_occl.ymap.xml")))
    added = source.path.replace("_occl.", "_occl_more.")
    hits = 0
    for number in range(count * 4):
        kit.build(["w"], "out")
        write(added, with_value(source, source.root.child("name"), "more"))
        child = started(kit, "--level", "19")  # other settings too: all outputs are looked at, and the pack takes long
        path = kit.path("out", "imap", os.path.basename(added).replace(".ymap.xml", ".imap"))
        while child.poll() is None and not os.path.exists(path):
            time.sleep(0.001)
        child.kill()
        child.communicate()
        hits += child.returncode != 0 and os.path.exists(path)
        os.remove(added)
        equals_clean(kit, ["w"], "out", f"a map added by a killed build ({number})")
        if hits >= count:
            break
    check(hits > 0, "no build was caught after the new map and before its end")


def two_at_once(kit, rounds):
    editor = Editor(kit, "w")
    for number in range(rounds):
        if number % 2 == 0:
            kit.remove("out")
        text = random_change(editor)
        children = [started(kit) for _ in range(3)] + [started(kit, out="other", *["--cache", "out/.worldc/cache"])]
        for child in children:
            _, err = child.communicate(timeout=120)
            check(child.returncode == 0, f"builds at once: exit {child.returncode}: {err.decode()[:300]}")
        check(kit.clean_build(["w"]).code == 0, text)
        for out in ("out", "other"):
            same_bytes(Tree(kit.path(out)), Tree(kit.path("clean")), f"builds at once, {out}")
    editor.restore()


def changed_while_built(kit, rounds):
    """A source that changes after it was looked at must not enter the cache under its old name."""
    source = next(s for s in (Source(p) for p in Editor(kit, "w").paths(".ymap.xml")) if len(s.entities()) > 20)
    paths = {p: open(p, "rb").read() for p in Editor(kit, "w").paths(".ymap.xml")}
    changed = {}
    for path in paths:
        s = Source(path)
        if s.entities():
            node = s.entities()[0].child("position")
            changed[path] = with_value(s, node, float(node.attributes["z"]) + 0.25, "z")
    check(len(changed) > 10 and source.path in changed, "too few maps with entities")
    for number in range(rounds):
        kit.remove("out")  # with its cache
        child = started(kit)
        time.sleep(kit.rng.random() * 0.15)
        for path, data in changed.items():
            write(path, data)
        child.communicate(timeout=60)
        when = f"sources changed while they were built ({number})"
        equals_clean(kit, ["w"], "out", when)
        for path in changed:
            write(path, paths[path])
        equals_clean(kit, ["w"], "out", when + ", then put back")


def stray_taken_away(kit):
    """What a process killed between two system calls leaves, put there by hand; that of a living one stays."""
    gone = started(kit)
    gone.communicate()
    for folder in ("", "imap", ".worldc"):
        write(kit.path("out", folder, f".meridian-{gone.pid}-3.tmp"), b"half")
        write(kit.path("out", folder, f".meridian-{os.getpid()}-3.tmp"), b"half")
    check(kit.build(["w"], "out").code == 0, "a build over stray files")
    left = [os.path.exists(kit.path("out", f, f".meridian-{p}-3.tmp")) for f in ("", "imap", ".worldc")
            for p in (gone.pid, os.getpid())]
    check(left == [False, True] * 3, f"stray files: {left}")
    kit.remove("out")


def run(kit, count):
    kit.generate("w", "--preset", "small", "--maps", "25", "--entities", "1200")
    hit = killed(kit, signal.SIGKILL, count, -signal.SIGKILL)
    interrupted = killed(kit, signal.SIGINT, max(3, count // 3), 130)
    taken_back(kit, max(1, count // 20))
    stray_taken_away(kit)
    two_at_once(kit, max(2, count // 10))
    changed_while_built(kit, max(3, count // 10))
    return f"{hit} killed, {interrupted} interrupted"
