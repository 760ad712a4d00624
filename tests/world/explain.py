# SPDX-License-Identifier: MIT
"""--explain-rebuild names what changed, and just the maps that rest on it are made again. WORLD-1, PAIN P044."""

import os
import struct

from world_kit import Source, check, fold, source_files, with_value, write

LOD_IN_PARENT = 8


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


PARSED = {}  # path -> source; most files stay as they are from one model to the next


def parsed(path):
    with open(path, "rb") as file:
        data = file.read()
    if path not in PARSED or PARSED[path].data != data:
        PARSED[path] = Source(path)
    return PARSED[path]


class Model:
    """What maps take from each other and from archetypes, by the XML alone."""

    def __init__(self, folder):
        sources = [parsed(p) for p in source_files(folder)]
        self.maps = {fold(s.root.value("name")): s for s in sources if s.root.name == "CMapData"}
        self.types = [s for s in sources if s.root.name == "CMapTypes"]
        self.distances = {}
        for s in self.types:
            for a in s.items("archetypes"):
                self.distances[fold(a.value("name"))] = f32(a.number("lodDist"))

    def users(self):
        """Archetype -> maps that place it"""
        out = {}
        for name, source in self.maps.items():
            for e in source.entities():
                out.setdefault(fold(e.value("archetypeName")), set()).add(name)
        return {a: maps for a, maps in out.items() if a in self.distances}

    def own_distance(self, e):
        own = f32(e.number("lodDist"))
        return own if own > 0 else max(0.0, self.distances.get(fold(e.value("archetypeName")), 0.0))

    def links(self):
        """(map of the child, child, map of the parent, index there)"""
        for name, source in self.maps.items():
            for e in source.entities():
                index, inside = int(e.number("parentIndex", -1)), not int(e.number("flags")) & LOD_IN_PARENT
                where = name if inside else fold(source.root.value("parent") or "")
                if index >= 0 and where in self.maps and index < len(self.maps[where].entities()):
                    yield name, e, where, index

    def sets(self):
        """(map, index) of each LOD parent -> distance at which it and its children change places"""
        farthest = {}
        for _, e, where, index in self.links():
            farthest[where, index] = max(farthest.get((where, index), 0.0), self.own_distance(e))
        for (where, index), far in farthest.items():
            given = f32(self.maps[where].entities()[index].number("childLodDist"))
            farthest[where, index] = given if given > 0 else far
        return farthest

    def touched(self, before):
        """Maps in which LOD distances of their parents or children in other maps, or own ones, came out differently."""
        now = self.sets()
        changed = {key for key in now.keys() | before.keys() if now.get(key) != before.get(key)}
        out = {where for where, _ in changed}
        for name, _, where, index in self.links():
            if (where, index) in changed:
                out.add(name)
        return out


def explained(kit, out="out"):
    done = kit.run("build", "w", "-o", out, "--explain-rebuild", "--quiet", "--diagnostics-file", "said.txt")
    check(done.code == 0, f"exit {done.code}: {open(kit.path('said.txt')).read()[:500]}")
    reasons = {}
    for line in done.out.splitlines():
        name, _, reason = line.partition(": ")
        reasons.setdefault(name, []).append(reason)
    return reasons


def imaps(names):
    return {f"imap/{n}.imap" for n in names}


def mark_unset(kit):
    """Some sets take their distance from what hangs on them."""
    count = 0
    for path in source_files(kit.path("w")):
        source = Source(path)
        if source.root.name != "CMapData":
            continue
        for e in reversed(source.entities()):  # from behind, so that places before it stay right
            if e.number("numChildren") > 0 and kit.rng.random() < 0.5:
                source.data = with_value(source, e.child("childLodDist"), 0)
            elif e.number("numChildren") == 0 and kit.rng.random() < 0.7:
                source.data = with_value(source, e.child("lodDist"), -1)
            else:
                continue
            count += 1
        write(path, source.data)
    check(count > 100, "the world has too few links to test with")


def touch_archetypes(kit, rounds):
    largest = 0
    for number in range(rounds):
        model = Model(kit.path("w"))
        users = model.users()
        name = kit.rng.choice(sorted(n for n, u in users.items() if len(u) > (1 if number % 2 else 0)))
        source, a = next((s, a) for s in model.types for a in s.items("archetypes") if fold(a.value("name")) == name)
        before = model.sets()
        if number % 3 == 0:
            node, attribute = a.child("bbMax"), kit.rng.choice("xyz")
            value = float(node.attributes[attribute]) + 0.5
        else:
            node, attribute = a.child("lodDist"), "value"
            value = float(node.attributes[attribute]) + kit.rng.choice([-5, 7, 60])
        write(source.path, with_value(source, node, value, attribute))
        expected = users[name] | Model(kit.path("w")).touched(before)
        reasons = explained(kit)
        types = "ityp/" + os.path.basename(source.path).replace(".ytyp.xml", ".ityp")
        what = f"{node.name} of {name}"
        check(set(reasons) == imaps(expected) | {types},
              f"{what}: made again: {sorted(set(reasons))}; by the XML: {sorted(imaps(expected) | {types})}")
        path = os.path.relpath(source.path, kit.scratch)
        check(reasons[types] == [f"source {path} changed"], f"{what}: {types}: {reasons[types]}")
        for user in users[name]:
            check(f"archetype '{a.value('name')}' changed" in reasons[f"imap/{user}.imap"],
                  f"{what}: {user}: {reasons[f'imap/{user}.imap']}")
        largest = max(largest, len(expected))
    return largest


def other_reasons(kit):
    model = Model(kit.path("w"))
    # One map of its own: a guid, which nobody else reads.
    source = next(s for s in model.maps.values() if s.root.value("parent") and s.entities())
    write(source.path, with_value(source, source.entities()[0].child("guid"), 77))
    name = f"imap/{fold(source.root.value('name'))}.imap"
    reasons, path = explained(kit), os.path.relpath(source.path, kit.scratch)
    check(reasons == {name: [f"source {path} changed"]}, f"guid in {path}: {reasons}")
    # Nothing: no reason. Touched without change: none either.
    os.utime(source.path)
    check(explained(kit) == {}, "a touched source is a reason")
    # A LOD parent moves: maps with children of it follow its pivot.
    child, _, where, index = next(l for l in model.links() if l[0] != l[2])
    parent = Source(model.maps[where].path)
    node = parent.entities()[index].child("position")
    write(parent.path, with_value(parent, node, float(node.attributes["x"]) + 0.25, "x"))
    children = {c for c, _, w, i in model.links() if w == where and i == index}
    reasons = explained(kit)
    check(set(reasons) == imaps(children | {where}), f"parent {index} of {where} moved: {sorted(reasons)}")
    for c in children - {where}:
        check(reasons[f"imap/{c}.imap"] == [f"LOD parents in map '{parent.root.value('name')}' changed"],
              f"parent {index} of {where} moved: {c}: {reasons[f'imap/{c}.imap']}")
    # An output that somebody deleted.
    os.remove(kit.path("out", name))
    check(explained(kit) == {name: ["the output was missing or changed by somebody else"]}, "a deleted output")
    # Other settings: all of it.
    done = kit.run("build", "w", "-o", "out", "--explain-rebuild", "--no-names", "--quiet", "--diagnostics-file", "said")
    outputs = sum(len(os.listdir(kit.path("out", f))) for f in ("imap", "ityp", "gcfg"))
    check(len(done.out.splitlines()) == outputs, f"with --no-names: {len(done.out.splitlines())} of {outputs} outputs")


def run(kit, rounds=8):
    kit.generate("w", "--preset", "small", "--maps", "40", "--entities", "1500")
    first = explained(kit)
    check(all(r == ["no build state fits (first build, or other settings)"] for r in first.values()) and
          len(first) > 40, "reasons of a first build")
    mark_unset(kit)
    explained(kit)
    largest = touch_archetypes(kit, rounds)
    other_reasons(kit)
    return f"{rounds} archetypes touched, at most {largest} maps made again"
