#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What samples/fly_through says of what is seen, against distances and directions worked out from the XML.

  fly_through_test.py --bin DIR --data DIR

DIR of --bin holds worldc and fly_through; that of --data the sample world.
"""

import argparse
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
import zlib

MAP = "hv_harbour_strm_0"
EYE = (40.0, 20.0, 15.0)
PHASES = ["gbuffer", "cascades", "reflections", "water", "mirror", "streaming"]
# The lens of the picture, which looks along y when the camera stands still.
TAN_HALF_WIDTH, TAN_HALF_HEIGHT = 0.8, 0.45
# Where else something may be seen or not whatever its place is.
NOT_OF_PLACE = re.compile(r"hidden by|LOD set|switched off|hour|m away")
options = None


def run(program, *arguments):
    return subprocess.run([os.path.join(options.bin, program), *arguments], capture_output=True, text=True, check=False)


def entities():
    """Position, LOD distance and whether it has a LOD parent, of each entity of the map."""
    out = []
    for item in ET.parse(os.path.join(options.data, "maps", MAP + ".ymap.xml")).find("entities"):
        at = item.find("position")
        out.append(([float(at.get(axis)) for axis in "xyz"], float(item.find("lodDist").get("value")),
                    int(item.find("parentIndex").get("value")) >= 0))
    return out


def pixels(path):
    """Rows of an 8-bit RGB PNG, without libpng."""
    with open(path, "rb") as f:
        data = f.read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, body, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        chunk = data[at + 8:at + 8 + length]
        assert zlib.crc32(kind + chunk) == struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0]
        if kind == b"IHDR":
            width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", chunk)
            assert (depth, colour, interlaced) == (8, 2, 0)
            size = (width, height)
        elif kind == b"IDAT":
            body += chunk
        at += 12 + length
    raw, rows, above = zlib.decompress(body), [], bytes(size[0] * 3)
    for y in range(size[1]):
        start = y * (size[0] * 3 + 1)
        row = bytearray(raw[start + 1:start + 1 + size[0] * 3])
        how = raw[start]
        for i, value in enumerate(row):
            left = row[i - 3] if i >= 3 else 0
            up, corner = above[i], above[i - 3] if i >= 3 else 0
            guess = left + up - corner
            paeth = min((left, up, corner), key=lambda v: abs(guess - v))
            row[i] = (value + (0, left, up, (left + up) // 2, paeth)[how]) & 255
        rows.append(row)
        above = row
    return size, rows


class FlyThrough(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        built = run("worldc", "build", options.data, "-o", cls.at("world"), "--quiet")
        assert built.returncode == 0, built.stderr
        cls.world = cls.at("world/world.mpk")
        cls.asked = [f"{MAP}:{i}" for i in range(len(entities()))]

    @classmethod
    def at(cls, name):
        return os.path.join(cls.folder.name, name)

    def fly(self, *arguments, expect=0):
        result = run("fly_through", self.world, *arguments)
        self.assertEqual(result.returncode, expect, result.stderr)
        return result

    def standing(self, *arguments, seconds=1):
        path = [str(v) for v in EYE] + "400 60 20 500 100 20".split()
        return self.fly("--path", *path, "--speed", "0", "--seconds", str(seconds), *arguments)

    def test_entities_are_where_they_are(self):
        lines = self.standing("--explain-visibility", *self.asked).stdout.splitlines()
        compared = seen = 0
        for number, (at, lod_distance, has_parent) in enumerate(entities()):
            first = next(i for i, line in enumerate(lines) if line.startswith(f"{MAP}:{number} is "))
            of_phase = {line.split()[0]: line for line in lines[first + 1:first + 1 + len(PHASES)]}
            self.assertEqual(list(of_phase), PHASES)
            distance = math.dist(at, EYE)
            said = re.search(r"([0-9.]+) m away, (?:asked for|seen) up to ([0-9.]+) m", of_phase["streaming"])
            if said and not has_parent:
                self.assertAlmostEqual(float(said[1]), distance, delta=0.1)
                if lod_distance > 20:  # else the archetype's
                    self.assertAlmostEqual(float(said[2]), lod_distance + 20, delta=1)
                self.assertEqual("asks for" in of_phase["streaming"], float(said[1]) <= float(said[2]))
                compared += 1
            off = [a - b for a, b in zip(at, EYE)]
            is_ahead = off[1] > 1 and abs(off[0]) < TAN_HALF_WIDTH * off[1] and abs(off[2]) < TAN_HALF_HEIGHT * off[1]
            picture = of_phase["gbuffer"]
            if is_ahead:
                self.assertTrue(" sees " in picture or NOT_OF_PLACE.search(picture), picture)
            if off[1] < -30:  # nothing in this map reaches so far
                self.assertNotIn(" sees ", picture)
            seen += " sees " in picture
        self.assertGreater(compared, 5)
        self.assertGreater(seen, 2)

    def test_counts_of_phases(self):
        summary = json.loads(self.standing("--json", "-").stdout)
        self.assertEqual(list(summary["visible"]), PHASES)
        for phase, count in summary["visible"].items():
            self.assertLessEqual(count["mean"], count["most"])
            self.assertGreater(count["mean"], 0, phase)
        self.assertGreater(summary["occluded_mean"], 0)
        self.assertGreater(summary["scan_us"]["median"], 0)
        # The line of a second has such numbers in the same order; children have been faded in by then.
        result = self.standing("--explain-visibility", *self.asked).stdout.splitlines()
        words = [line.split() for line in result]
        head = next(w for w in words if w and w[0] == "second")
        self.assertEqual(head[-8:-2], PHASES)
        line = [int(n) for n in next(w for w in words if w and w[0] == "1")[-9:-3]]
        for phase, shown in zip(PHASES, line):
            self.assertLessEqual(shown, summary["visible"][phase]["most"])
            # Other maps are seen too.
            named = sum(w[0] == phase and ("sees" in w[:4] or w[3:5] == ["asks", "for"]) for w in words if len(w) > 5)
            self.assertGreaterEqual(shown, named, phase)
            self.assertGreater(shown, 0, phase)

    def test_entity_that_is_not_there(self):
        said = self.standing("--explain-visibility", "hv_pier_before:0", "no_such_map:3").stdout
        self.assertIn("not in the world", said)
        self.assertIn("(unknown)", said)

    def test_pictures(self):
        os.mkdir(self.at("pictures"))
        result = run("fly_through", self.world, "--pictures", self.at("pictures"), "--seconds", "1")
        if result.returncode == 2:
            self.assertIn("built without libpng", result.stderr)
            return
        self.standing("--every", "1", "--picture-reach", "150", "--pictures", self.at("pictures"), seconds=2)
        self.assertEqual(sorted(os.listdir(self.at("pictures"))), ["frame_000000.png", "frame_000060.png"])
        size, rows = pixels(self.at("pictures/frame_000060.png"))
        self.assertEqual(size, (1000, 1000))
        colour = lambda x, y: tuple(rows[y][3 * x:3 * x + 3])
        self.assertEqual(colour(500, 500), (255, 255, 255), "the camera is in the middle")
        legend = {name: colour(15, 15 + 20 * i) for i, name in enumerate(["visible", "occluded", "far", "outside"])}
        self.assertEqual(len(set(legend.values())), 4)
        found = {name: sum(row[3 * x:3 * x + 3] == bytes(c) for row in rows[:500] for x in range(30, 1000))
                 for name, c in legend.items()}
        self.assertGreater(found["visible"], 500, "ahead, that is above the middle")
        below = sum(row[3 * x:3 * x + 3] == bytes(legend["visible"]) for row in rows[620:] for x in range(30, 1000))
        self.assertEqual(below, 0, "nothing behind the camera is seen")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", required=True)
    parser.add_argument("--data", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])
