#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What samples/hello_map prints, against answers worked out from the XML, and what it says of bad input.

  hello_map_test.py --bin DIR --data DIR

DIR of --bin holds imapc, itypc, worldc and hello_map; that of --data the sample world.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

MAP = "hv_harbour_strm_0"
TYPES = ("hv_props", "hv_buildings")
options = None


def run(program, *arguments):
    return subprocess.run([os.path.join(options.bin, program), *arguments], capture_output=True, text=True, check=False)


def vector(element, *names):
    return [float(element.get(n)) for n in names]


def turned(q, v):
    """A vector turned by the inverse of a quaternion, which is what entities store."""
    x, y, z, w = -q[0], -q[1], -q[2], q[3]
    length = (x * x + y * y + z * z + w * w) ** 0.5
    x, y, z, w = x / length, y / length, z / length, w / length
    c = (y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0])
    return [v[0] + 2 * (w * c[0] + y * c[2] - z * c[1]), v[1] + 2 * (w * c[1] + z * c[0] - x * c[2]),
            v[2] + 2 * (w * c[2] + x * c[1] - y * c[0])]


def boxes():
    """Of each entity: name and box in the world. What is hardly tilted stands upright."""
    archetypes = {}
    for name in TYPES:
        for item in ET.parse(os.path.join(options.data, "types", name + ".ytyp.xml")).iter("Item"):
            if item.find("bbMin") is not None and item.find("name") is not None:
                archetypes[item.find("name").text] = [vector(item.find(k), "x", "y", "z") for k in ("bbMin", "bbMax")]
    out = []
    for item in ET.parse(os.path.join(options.data, "maps", MAP + ".ymap.xml")).find("entities"):
        low, high = archetypes[item.find("archetypeName").text]
        q = vector(item.find("rotation"), "x", "y", "z", "w")
        if max(abs(q[0]), abs(q[1])) <= 0.05 and not int(item.find("flags").get("value")) & 1:
            q[0] = q[1] = 0
        scales = [float(item.find(k).get("value")) for k in ("scaleXY", "scaleXY", "scaleZ")]
        at = vector(item.find("position"), "x", "y", "z")
        corners = []
        for i in range(8):
            corner = [(high if i >> axis & 1 else low)[axis] * scales[axis] for axis in range(3)]
            corners.append([at[axis] + turned(q, corner)[axis] for axis in range(3)])
        out.append((item.find("archetypeName").text, [min(c[a] for c in corners) for a in range(3)],
                    [max(c[a] for c in corners) for a in range(3)]))
    return out


def touches_line(low, high, a, b):
    first, last = 0.0, 1.0
    for axis in range(3):
        step = b[axis] - a[axis]
        if step == 0:
            if not low[axis] <= a[axis] <= high[axis]:
                return False
            continue
        near, far = sorted(((low[axis] - a[axis]) / step, (high[axis] - a[axis]) / step))
        first, last = max(first, near), min(last, far)
    return first <= last


def expected():
    """The names that each question should find, in order of the alphabet."""
    all_boxes = boxes()
    low = [min(b[1][a] for b in all_boxes) for a in range(3)]
    high = [max(b[2][a] for b in all_boxes) for a in range(3)]
    middle = [(low[a] + high[a]) / 2 for a in range(3)]

    def near(box):
        gaps = [max(box[1][a] - middle[a], middle[a] - box[2][a], 0) for a in range(3)]
        return sum(g * g for g in gaps) <= 30 * 30

    def crossed(box):
        return touches_line(box[1], box[2], [low[0], middle[1], middle[2]], [high[0], middle[1], middle[2]])

    def low_down(box):
        return box[1][2] <= low[2] + 1
    return len(all_boxes), [sorted(b[0] for b in all_boxes if test(b)) for test in (near, crossed, low_down)]


class HelloMap(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.map = cls.at(MAP + ".imap")
        assert run("imapc", os.path.join(options.data, "maps", MAP + ".ymap.xml"), "-o", cls.map).returncode == 0
        cls.types = [cls.at(t + ".ityp") for t in TYPES]
        for name, out in zip(TYPES, cls.types):
            assert run("itypc", os.path.join(options.data, "types", name + ".ytyp.xml"), "-o", out).returncode == 0

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder.name, name)

    def answers(self, result):
        """Of each question: how many, and the names that were printed."""
        found = []
        for line in result.stdout.splitlines()[1:]:
            if count := re.search(r": (\d+) entities$", line):
                found.append((int(count[1]), []))
            elif name := re.match(r"  '(\w+)' \(0x[0-9A-F]{8}\) +at \(", line):
                found[-1][1].append(name[1])
        return found

    def check_answers(self, result, how):
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        entities, questions = expected()
        self.assertEqual(result.stdout.splitlines()[0], f"{entities} of {entities} entities, descriptors {how}")
        found = self.answers(result)
        self.assertEqual(len(found), len(questions))
        for (count, names), wanted in zip(found, questions):
            self.assertGreater(len(wanted), 0)
            self.assertEqual(count, len(wanted))
            self.assertEqual(len(names), min(count, 10))
            for name in names:
                self.assertLessEqual(names.count(name), wanted.count(name), name)

    def test_answers_are_those_of_the_xml(self):
        self.check_answers(run("hello_map", self.map, *self.types), "made while loading")

    def test_a_linked_map_gives_the_same_answers(self):
        self.assertEqual(run("worldc", "build", options.data, "-o", self.at("world"), "--no-pack", "--quiet").returncode, 0)
        types = [os.path.join(self.at("world"), "ityp", t + ".ityp") for t in TYPES]
        linked = run("hello_map", os.path.join(self.at("world"), "imap", MAP + ".imap"), *types)
        self.check_answers(linked, "as the linker made them")

    def test_wrong_arguments_get_the_usage(self):
        for arguments in ((), (self.map,)):
            result = run("hello_map", *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertTrue(result.stderr.startswith("usage: hello_map MAP.imap TYPES.ityp..."), result.stderr)

    def test_files_that_cannot_be_read_are_named(self):
        open(self.at("empty.imap"), "w", encoding="utf-8").close()
        for arguments, name, why in (((self.at("none.imap"), *self.types), "none.imap", "No such file"),
                                     ((self.map, self.at("none.ityp")), "none.ityp", "No such file"),
                                     ((self.at("empty.imap"), *self.types), "empty.imap", "empty"),
                                     ((self.folder.name, *self.types), self.folder.name, "no file")):
            result = run("hello_map", *arguments)
            self.assertEqual((result.returncode, result.stdout), (3, ""))
            self.assertRegex(result.stderr, f"hello_map: cannot read .*{re.escape(name)}: .*{why}")

    def test_broken_files_are_refused_with_a_reason(self):
        with open(self.map, "rb") as file:
            good = file.read()
        changed = bytearray(good)
        changed[len(good) // 2] ^= 1
        for name, content, why in (("cut.imap", good[: len(good) // 2], "cut off|trailer"),
                                   ("changed.imap", bytes(changed), "checksum"), ("text.imap", b"hello" * 100, "resource")):
            with open(self.at(name), "wb") as file:
                file.write(content)
            result = run("hello_map", self.at(name), *self.types)
            self.assertEqual((result.returncode, result.stdout), (1, ""), name)
            self.assertRegex(result.stderr, f"hello_map: .*{name}: .*({why})")

    def test_files_in_the_wrong_order_are_told_apart(self):
        result = run("hello_map", self.types[0], self.map)
        self.assertEqual(result.returncode, 1)
        self.assertIn("its kind is IMAP; the map comes first", result.stderr)
        result = run("hello_map", self.types[0], self.types[1])
        self.assertEqual(result.returncode, 1)
        self.assertIn("its kind is ITYP; the map comes first", result.stderr)

    def test_without_a_type_file_each_missing_archetype_is_named_once(self):
        result = run("hello_map", self.map, self.types[1])
        self.assertEqual(result.returncode, 1)
        here = {i.find("name").text for i in ET.parse(os.path.join(options.data, "types", TYPES[1] + ".ytyp.xml")).iter("Item")
                if i.find("name") is not None}
        missing = [b[0] for b in boxes() if b[0] not in here]
        self.assertGreater(len(missing), 0)
        self.assertIn(f"hello_map: {len(missing)} entities are left out: is a type file missing?", result.stderr)
        for name in set(missing):
            self.assertEqual(result.stderr.count(f"archetype '{name}'"), 1, name)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--data", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
