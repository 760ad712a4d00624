# SPDX-License-Identifier: MIT
"""Prints what stands in compiled maps and type files, through the code that flatc generated (on PYTHONPATH)."""

import json
import os
import sys

from meridian.schema.MapData import MapData
from meridian.schema.MapTypes import MapTypes
from meridian.schema.Vec3 import Vec3


def xyz(member):
    v = member(Vec3())  # a struct inside a struct is read into an object of the caller's
    return [v.X(), v.Y(), v.Z()]


def read_map(data):
    m = MapData.GetRootAs(data, 0)
    entities = []
    for i in range(m.EntitiesLength()):
        e = m.Entities(i)
        entities.append([e.ArchetypeName()] + xyz(e.Position))
    return {"name": m.Name(), "entities": entities, "interiors": m.MloInstancesLength(), "extensions": m.EntityExtensionsLength()}


def read_types(data):
    t = MapTypes.GetRootAs(data, 0)
    archetypes = []
    for i in range(t.ArchetypesLength()):
        a = t.Archetypes(i)
        archetypes.append([a.Name()] + xyz(a.BbMin) + xyz(a.BbMax))
    return {"name": t.Name(), "archetypes": archetypes, "interiors": t.MloArchetypesLength()}


def main():
    readers = {".imap": read_map, ".ityp": read_types}
    out = {}
    for path in sys.argv[1:]:
        with open(path, "rb") as f:
            data = bytearray(f.read())
        out[os.path.basename(path)] = readers[os.path.splitext(path)[1]](data)
    json.dump(out, sys.stdout)


main()
