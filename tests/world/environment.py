# SPDX-License-Identifier: MIT
"""Caches and folders that fail: exit 3, nothing lost. REL-3, WORLD-1, WORLD-2, CLI-2."""

import os
import resource
import shutil
import signal
import subprocess

from edits import Editor
from world_kit import Tree, as_started_by_a_user, check, equals_clean, kept, same_bytes, untouched, write


def files(folder, *endings):
    found = []
    for where, _, names in os.walk(folder):
        found += [os.path.join(where, n) for n in sorted(names) if not endings or n.endswith(endings)]
    return sorted(found)


def fails_safely(kit, when, *more, before=as_started_by_a_user):
    """A build with something to do ends with 3, tells what, and leaves the outputs; the next one repairs all."""
    editor = Editor(kit, "w")
    editor.move(), editor.archetype()
    old = Tree(kit.path("out"))
    done = kit.build(["w"], "out", *more, before=before)
    check(done.code == 3, f"{when}: exit {done.code}: {done.err[:300]}")
    told = [f for f in done.findings() if f["rule"] == "ENV001"]
    check(told and all(f["file"] and f["message"] for f in told), f"{when}: no ENV001 that names the file")
    now = Tree(kit.path("out"))
    check(set(now.files) == set(old.files), f"{when}: other files than before")
    equals_clean(kit, ["w"], "out", f"after {when}")
    return done


def unwritable_cache(kit):
    write(kit.path("blocked"), b"a file in place of a folder")
    fails_safely(kit, "a file in place of the cache", "--cache", "blocked")
    os.makedirs(kit.path("frozen"), exist_ok=True)
    if os.geteuid() != 0:
        os.chmod(kit.path("frozen"), 0o555)
        fails_safely(kit, "a read-only cache", "--cache", "frozen")
        return "read-only folder"
    if subprocess.run(["chattr", "+i", kit.path("frozen")], capture_output=True).returncode != 0:
        return "no read-only cache (chattr +i is refused here)"
    try:
        fails_safely(kit, "an immutable cache", "--cache", "frozen")
    finally:
        subprocess.run(["chattr", "-i", kit.path("frozen")], check=True)
    return "immutable cache"


def warm_read_only_cache(kit):
    """A cache that holds all of it need not be writable."""
    kit.remove("shared", "out")
    check(kit.build(["w"], "out", "--cache", "shared").code == 0, "first build")
    for path in files(kit.path("shared")):
        os.chmod(path, 0o444)
    kit.remove("out")
    stats = kit.build(["w"], "out", "--cache", "shared", "--stats=json")
    check(stats.code == 0 and '"compiled": 0' in stats.out.replace('":', '": ').replace("  ", " "), stats.out)


def full_disk(kit):
    def small_files_only():  # writing beyond it fails like a full disk does, with EFBIG for ENOSPC
        as_started_by_a_user()
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    for limit in (0, 4096, 20_000, 60_000):
        fails_safely(kit, f"no file above {limit} bytes", before=small_files_only)
    mount = kit.path("disk")
    os.makedirs(mount)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", mount], capture_output=True).returncode != 0:
        return "no tmpfs (mount is refused here)"
    try:
        done = kit.build(["w"], "disk/out")
        check(done.code == 3, f"full disk: exit {done.code}")
        check(not [p for p in files(mount) if p.endswith((".tmp", "~"))], "full disk: temporary files are left")
    finally:
        subprocess.run(["umount", mount], check=True)
    return "tmpfs"


def unwritable_output(kit):
    kit.remove("out2")
    write(kit.path("out2"), b"a file")
    done = kit.build(["w"], "out2")
    check(done.code == 3, f"a file in place of the output folder: exit {done.code}")
    check(open(kit.path("out2"), "rb").read() == b"a file", "the file is gone")
    os.remove(kit.path("out2"))
    kit.build(["w"], "out2")
    victim = next(p for p in files(kit.path("out2", "imap")))
    os.remove(victim), os.makedirs(os.path.join(victim, "full"))
    done = kit.build(["w"], "out2")
    check(done.code == 3, f"a folder in place of an output: exit {done.code}")
    shutil.rmtree(victim)
    equals_clean(kit, ["w"], "out2", "after a folder stood in place of an output")
    done = kit.build(["nowhere"], "out2")
    check(done.code == 3, f"no such source folder: exit {done.code}")


def damaged_memory(kit, rounds):
    """Entries and state with flipped bits, cut off, empty, of others."""
    rng = kit.rng
    for number in range(rounds):
        editor = Editor(kit, "w")
        units = files(kit.path("out", ".worldc", "cache"), ".unit", ".blob")
        check(len(units) > 15, "the cache is nearly empty")
        victims = rng.sample(units, 6) + ([kit.path("out", ".worldc", "state")] if number % 2 else [])
        for path in victims:
            data = bytearray(open(path, "rb").read())
            how = rng.randrange(4)
            if not data:  # nothing in it to flip or cut
                how = 3
            if how == 0:
                data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
            elif how == 1:
                data = data[:rng.randrange(len(data))]
            elif how == 2:
                data = b""
            else:
                data = open(rng.choice(units), "rb").read()
            with open(path, "wb") as file:
                file.write(data)
        if number % 3 == 0:
            editor.move()
        if number % 3 == 1:
            kit.remove("out/imap")
        before = Tree(kit.path("out"))
        check(kit.build(["w"], "out").code == 0, f"damaged cache {number}")
        check(kit.clean_build(["w"]).code == 0, "clean build")
        same_bytes(Tree(kit.path("out")), Tree(kit.path("clean")), f"damaged cache {number}")
        kept(before, Tree(kit.path("out")), f"damaged cache {number}")
    for gone in ("cache", "state", ""):
        target = kit.path("out", ".worldc", gone)
        shutil.rmtree(target) if os.path.isdir(target) else os.remove(target)
        equals_clean(kit, ["w"], "out", f"without .worldc/{gone}")


def shared_cache(kit):
    kit.remove("shared", "a", "b")
    a = kit.build(["w"], "a", "--cache", "shared", "--stats=json")
    b = kit.build(["w"], "b", "--cache", "shared", "--stats=json")
    check(a.code == b.code == 0, "builds with one cache")
    check('"compiled": 0' in b.out.replace('":', '": ').replace("  ", " "), f"the second build compiled: {b.out}")
    same_bytes(Tree(kit.path("a")), Tree(kit.path("b")), "one cache")
    Editor(kit, "w").move()
    for out in ("b", "a"):
        equals_clean(kit, ["w"], out, f"one cache, {out}", "--cache", "shared")


def cache_size(kit):
    def size():
        return sum(os.path.getsize(p) for p in files(kit.path("shared"), ".unit", ".blob"))

    whole = size()
    note = kit.path("shared", "notes.txt")
    write(note, b"x" * 1_000_000)  # nothing of ours
    limit = whole // 2
    for command in ("build", "check"):
        for _ in range(3):
            Editor(kit, "w").move()
            more = ["--cache", "shared", "--cache-size", str(limit)]
            done = kit.build(["w"], "a", *more) if command == "build" else kit.check(["w"], *more)
            check(done.code == 0, f"{command} --cache-size: exit {done.code}")
            check(size() <= limit, f"{command} --cache-size {limit}: {size()} bytes are left in the cache")
    check(os.path.getsize(note) == 1_000_000, "a file of somebody else was deleted from the cache")
    equals_clean(kit, ["w"], "a", "with a small cache", "--cache", "shared", "--cache-size", "0")


def run(kit):
    kit.generate("w")
    check(kit.build(["w"], "out").code == 0, "first build")
    told = [unwritable_cache(kit), full_disk(kit)]
    unwritable_output(kit)
    warm_read_only_cache(kit)
    kit.remove("out")
    kit.build(["w"], "out")
    damaged_memory(kit, 6)
    shared_cache(kit)
    cache_size(kit)
    return ", ".join(told)
