# SPDX-License-Identifier: MIT
"""Random edits of a world: after each, the incremental build does what a clean one would."""

import os
import shutil

from world_kit import (Source, Tree, doubled, equals_clean, same_bytes, check, source_files, with_value, without, write)


class Editor:
    """Sources, what they were, and ways to change them."""

    def __init__(self, kit, folder):
        self.kit, self.rng, self.folder = kit, kit.rng, folder
        self.original = {p: open(p, "rb").read() for p in self.paths()}
        self.layers = []

    def paths(self, *endings):
        found = source_files(self.kit.path(self.folder))
        return [p for p in found if not endings or p.endswith(endings)]

    def random_source(self, *endings):
        """Of what is well-formed now."""
        for _ in range(50):
            try:
                return Source(self.rng.choice(self.paths(*endings)))
            except Exception:  # broken by an edit before
                continue
        return None

    def restore(self):
        for path in self.paths():
            if path not in self.original:
                os.remove(path)
        for path, data in self.original.items():
            if not os.path.exists(path) or open(path, "rb").read() != data:
                write(path, data)
        self.layers = []
        return "everything as it was at first"

    def with_entity(self):
        for _ in range(50):
            source = self.random_source(".ymap.xml")
            if source is not None and source.entities():
                return source, self.rng.choice(source.entities())
        return None, None

    # Each edit gives a text, or None where it found nothing to do.

    def move(self):
        source, e = self.with_entity()
        node, axis = e.child("position"), self.rng.choice("xyz")
        value = round(float(node.attributes[axis]) + self.rng.choice([-0.5, 0.25, 1, 2000]), 2)
        write(source.path, with_value(source, node, value, axis))
        return f"position.{axis} {value} in {source.path}"

    def number(self):
        source, e = self.with_entity()
        name = self.rng.choice(["lodDist", "childLodDist", "numChildren", "flags", "guid", "scaleZ"])
        value = {"lodDist": self.rng.choice([-1, 30, 80, 500]), "childLodDist": self.rng.choice([0, 40, 250])}.get(
            name, int(e.number(name)) + 1)
        write(source.path, with_value(source, e.child(name), value))
        return f"{name} {value} in {source.path}"

    def archetype_name(self):
        source, e = self.with_entity()
        types = self.random_source(".ytyp.xml")
        name = self.rng.choice(types.items("archetypes")).value("name")
        write(source.path, with_value(source, e.child("archetypeName"), name))
        return f"archetype {name} in {source.path}"

    def archetype(self):
        source = self.random_source(".ytyp.xml")
        a = self.rng.choice(source.items("archetypes"))
        if self.rng.random() < 0.5:
            node = a.child(self.rng.choice(["bbMax", "bsCentre"]))
            data = with_value(source, node, round(float(node.attributes["z"]) + 0.125, 3), "z")
        else:
            node = a.child(self.rng.choice(["lodDist", "flags", "bsRadius", "hdTextureDist"]))
            data = with_value(source, node, int(float(node.attributes["value"])) + 1)
        write(source.path, data)
        return f"{node.name} of {a.value('name')} in {source.path}"

    def map_member(self):
        source = self.random_source(".ymap.xml")
        node = source.root.child(self.rng.choice(["flags", "contentFlags"]))
        if self.rng.random() < 0.5:
            node = source.root.child(self.rng.choice(["streamingExtentsMin", "entitiesExtentsMax"]))
            write(source.path, with_value(source, node, float(node.attributes["x"]) - 1, "x"))
        else:
            write(source.path, with_value(source, node, int(node.attributes["value"]) ^ 64))
        return f"{node.name} in {source.path}"

    def parent_map(self):
        source, other = self.random_source(".ymap.xml"), self.random_source(".ymap.xml")
        write(source.path, with_value(source, source.root.child("parent"), other.root.value("name")))
        return f"parent {other.root.value('name')} in {source.path}"

    def delete_entity(self):
        source, e = self.with_entity()
        write(source.path, without(source, e))
        return f"an entity less in {source.path}"

    def double_entity(self):
        source, e = self.with_entity()
        write(source.path, doubled(source, e))
        return f"an entity twice in {source.path}"

    def move_entity(self):
        source, e = self.with_entity()
        other, at = self.with_entity()
        if other.path == source.path:
            return None
        write(other.path, other.data[:at.start] + source.data[e.start:e.end] + b"\n   " + other.data[at.start:])
        write(source.path, without(source, e))
        return f"an entity from {source.path} to {other.path}"

    def delete_file(self):
        path = self.rng.choice(self.paths())
        os.remove(path)
        return f"without {path}"

    def add_file(self):
        source = self.random_source(".ymap.xml")
        path = os.path.join(os.path.dirname(source.path), f"new_{self.rng.randrange(4)}.ymap.xml")
        write(path, source.data)
        return f"{path}, a copy of {source.path}"

    def rename_file(self):
        path = self.rng.choice(self.paths(".ymap.xml", ".ytyp.xml"))
        to = os.path.join(os.path.dirname(path), f"x{self.rng.randrange(9)}_" + os.path.basename(path))
        os.rename(path, to)
        return f"{path} renamed to {to}"

    def move_file(self):
        path = self.rng.choice(self.paths(".ymap.xml", ".ytyp.xml"))
        to = os.path.join(os.path.dirname(self.rng.choice(self.paths())), os.path.basename(path))
        if to == path or os.path.exists(to):
            return None
        os.rename(path, to)  # keeps inode and time
        return f"{path} moved to {to}"

    def swap_files(self):
        a, b = self.rng.choice(self.paths(".ymap.xml")), self.rng.choice(self.paths(".ymap.xml"))
        if a == b:
            return None
        os.rename(a, a + "~"), os.rename(b, a), os.rename(a + "~", b)
        return f"{a} and {b} have changed places"

    def touch(self):
        path = self.rng.choice(self.paths())
        os.utime(path)
        return f"touched {path}"

    def rewrite_same(self):
        path = self.rng.choice(self.paths())
        write(path, open(path, "rb").read())
        return f"written again with the same bytes: {path}"

    def in_place_with_old_time(self):
        """As rsync --inplace -t, or a tool that restores times: size, inode and time stay."""
        source, e = self.with_entity()
        node = e.child("position")
        text = node.attributes["x"]
        digit = next((c for c in text if c.isdigit()), None)
        value = text.replace(digit, str((int(digit) + 1) % 10 or 1), 1)
        data, status = with_value(source, node, value, "x"), os.stat(source.path)
        with open(source.path, "r+b") as file:
            file.write(data)
        os.utime(source.path, ns=(status.st_atime_ns, status.st_mtime_ns))
        return f"position.x {text} -> {value} in place, time kept, in {source.path}"

    def break_file(self):
        path = self.rng.choice(self.paths())
        data = open(path, "rb").read()
        write(path, data[: len(data) * 2 // 3])
        return f"cut off {path}"

    def other_file(self):
        path = self.kit.path(self.folder, self.rng.choice(["README.md", "notes.xml", "sub/picture.png"]))
        write(path, b"<html>no map</html>" if self.rng.random() < 0.5 else b"text")
        return f"{path}, which is no source"

    def layer(self):
        if self.layers and self.rng.random() < 0.6:
            self.layers = []
            return "without layers"
        source, e = self.with_entity()
        self.kit.remove("patch")
        x = float(e.child("position").attributes["x"]) + 0.5
        write(self.kit.path("patch", os.path.basename(source.path)), with_value(source, e.child("position"), x, "x"))
        if self.rng.random() < 0.5:
            types = self.random_source(".ytyp.xml")
            a = self.rng.choice(types.items("archetypes"))
            write(self.kit.path("patch", os.path.basename(types.path)),
                  with_value(types, a.child("lodDist"), int(a.number("lodDist")) + 10))
        if self.rng.random() < 0.3:
            shutil.copy(self.kit.path(self.folder, "gameconfig.xml"), self.kit.path("patch"))
        self.layers = ["--layer", "patch"]
        return f"with a layer of {sorted(os.listdir(self.kit.path('patch')))}"

    def output_damaged(self):
        files = sorted(Tree(self.kit.path("out")).files)
        if not files:
            return None
        name = self.rng.choice(files)
        path = self.kit.path("out", name)
        if self.rng.random() < 0.5:
            os.remove(path)
            return f"output {name} deleted"
        data = open(path, "rb").read()
        write(path, data[:-8] + b"damaged!")
        return f"output {name} overwritten"

    COMMON = [move, number, archetype, archetype_name, map_member, delete_entity, double_entity, move_entity, touch,
              in_place_with_old_time, layer, rewrite_same, move_file, add_file, swap_files]
    RARE = [parent_map, delete_file, rename_file, break_file, other_file]


def random_edits(kit, folder, count):
    editor = Editor(kit, folder)
    kit.remove("out", "patch")
    equals_clean(kit, [folder], "out", "first build")
    log, failed = [], False
    ways = Editor.COMMON * 2 + Editor.RARE
    # A build of broken sources must be as right as one of good ones; but they are not to stay broken for ever.
    for number in range(count):
        if failed and kit.rng.random() < 0.6 or number == count - 1:
            text = editor.restore()
        else:
            text = kit.rng.choice(ways)(editor)
        if text is None:
            continue
        log.append(text.replace(kit.scratch + os.sep, ""))
        damaged = None
        if not failed and kit.rng.random() < 0.1:
            damaged = editor.output_damaged()  # by somebody else, while a source changed too
            if damaged:
                log[-1] += "; " + damaged
        when = f"edit {number}: {log[-1]} (after: {'; '.join(log[-4:-1])})"
        if damaged:
            step, clean = kit.build([folder], "out", *editor.layers), kit.clean_build([folder], *editor.layers)
            check(step.said() == clean.said(), f"{when}: says otherwise than a clean build")
            if step.code == 0:
                same_bytes(Tree(kit.path("out")), Tree(kit.path("clean")), when)
            failed = step.code != 0
            if failed:  # the damage stays until a build succeeds
                editor.restore()
                kit.build([folder], "out")
                failed = False
            continue
        failed = equals_clean(kit, [folder], "out", when, *editor.layers).code != 0
        if not failed:
            again = kit.build([folder], "out", *editor.layers, "--stats=json")
            check(again.code == 0 and '"written": 0' in again.out.replace('":', '": ').replace("  ", " "),
                  f"{when}: a second build wrote something: {again.out}")
    return len(log)
