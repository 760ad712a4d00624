#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads map, type, game-configuration and manifest XML, and prints facts about it as JSON.

  expect_from_xml.py FILE... > facts.json

Tests hold these facts against what the tools made of the same files. So this script shares nothing with the tools:
it knows the XML only, by expat, and no schema. The output is one object, file -> facts; missing elements are null.
Numbers are as written (not rounded to 32 bits), names are texts. A file with ${...} placeholders outside comments
gives {"template": true, "placeholders": [[line, column], ...]}, columns in bytes from 1, a byte-order mark not counted.
"""

import json
import re
import sys
import xml.parsers.expat


class Node:
    """An element: name, attributes, children, and its own text, all pieces joined."""

    def __init__(self, tag, attributes):
        self.tag, self.attributes, self.children, self.pieces = tag, attributes, [], []

    @property
    def text(self):
        return "".join(self.pieces).strip()

    def child(self, tag):
        """The first child of this name; an empty element if there is none."""
        return next((c for c in self.children if c.tag == tag), Node(tag, {}))

    def items(self, tag=None):
        """The Items of a child, or of this element."""
        return [c for c in (self.child(tag) if tag else self).children if c.tag == "Item"]

    def value(self, tag):
        """A scalar: the attribute `value`, or the text; None if the element is missing or empty."""
        node = self.child(tag)
        return node.attributes.get("value", node.text).strip() or None

    def number(self, tag):
        text = self.value(tag)
        return None if text is None else number(text)

    def vector(self, tag):
        node = self.child(tag)
        found = [node.attributes.get(axis) for axis in "xyz"]
        return None if None in found else [number(f) for f in found]

    def texts(self, tag=None):
        return [item.text for item in self.items(tag)]

    def numbers(self, tag):
        """The numbers in the text of an element, however they are laid out."""
        return [number(t) for t in self.child(tag).text.split()]


def number(text):
    text = text.strip()
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    if re.fullmatch(r"0[xX][0-9a-fA-F]+", text):
        return int(text, 16)
    return float(text)


def read_tree(data):
    """The root element of the bytes of a file. White space before the declaration is skipped."""
    if not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    stack = [Node("", {})]

    def start(tag, attributes):
        node = Node(tag, attributes)
        stack[-1].children.append(node)
        stack.append(node)

    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.CharacterDataHandler = lambda text: stack[-1].pieces.append(text)
    parser.Parse(data, True)
    return stack[0].children[0]


def placeholders(data):
    """[line, column] of each ${...} outside comments."""
    data = data.removeprefix(b"\xef\xbb\xbf")
    blank = re.sub(rb"<!--.*?-->", lambda m: re.sub(rb"[^\n]", b" ", m.group()), data, flags=re.S)
    found = []
    for match in re.finditer(rb"\$\{[^}\n]*\}", blank):
        line_start = blank.rfind(b"\n", 0, match.start()) + 1
        found.append([blank.count(b"\n", 0, match.start()) + 1, match.start() - line_start + 1])
    return found


def count(values):
    counts = {}
    for value in values:
        counts[value] = counts.get(value, 0) + 1
    return dict(sorted(counts.items()))


def pick(items):
    """First, middle and last, without repetition, with their indices."""
    return [(i, items[i]) for i in sorted({0, len(items) // 2, len(items) - 1}) if 0 <= i < len(items)]


def item_types(items):
    return count(item.attributes.get("type") for item in items)


def extension_types(owners):
    return count(e.attributes.get("type") for owner in owners for e in owner.items("extensions"))


def chosen_entities(items):
    return [{
        "index": index,
        "archetypeName": entity.value("archetypeName"),
        "position": entity.vector("position"),
        "rotation": [number(entity.child("rotation").attributes[a]) for a in "xyzw"]
        if entity.child("rotation").attributes else None,
        "lodDist": entity.number("lodDist"),
        "parentIndex": entity.number("parentIndex"),
        "lodLevel": entity.value("lodLevel"),
        "numChildren": entity.number("numChildren"),
    } for index, entity in pick(items)]


def map_facts(root):
    entities = root.items("entities")
    lights, distant = root.child("LODLightsSOA"), root.child("DistantLODLightsSOA")
    return {
        "name": root.value("name"),
        "parent": root.value("parent"),
        "flags": root.number("flags"),
        "contentFlags": root.number("contentFlags"),
        "extents": {tag: root.vector(tag) for tag in (
            "streamingExtentsMin", "streamingExtentsMax", "entitiesExtentsMin", "entitiesExtentsMax")},
        "entities": len(entities),
        "entityTypes": item_types(entities),
        "chosenEntities": chosen_entities(entities),
        "extensions": extension_types(entities),
        "interiorInstances": [{
            "entity": index,
            "defaultEntitySets": entity.texts("defaultEntitySets"),
            "numExitPortals": entity.number("numExitPortals"),
        } for index, entity in enumerate(entities) if entity.attributes.get("type") == "CMloInstanceDef"],
        "containerLods": len(root.items("containerLods")),
        "boxOccluders": len(root.items("boxOccluders")),
        "occludeModels": [{"dataSize": m.number("dataSize"), "numTris": m.number("numTris")}
                          for m in root.items("occludeModels")],
        "physicsDictionaries": root.texts("physicsDictionaries"),
        "grassInstances": [len(g.items("InstanceList")) for g in root.child("instancedData").items("GrassInstanceList")],
        "timeCycleModifiers": names_of(root.items("timeCycleModifiers")),
        "carGenerators": len(root.items("carGenerators")),
        "lodLights": [len(lights.items("direction")), *(len(lights.numbers(tag)) for tag in (
            "falloff", "falloffExponent", "timeAndStateFlags", "hash", "coneInnerAngle", "coneOuterAngleOrCapExt",
            "coronaIntensity"))],
        "distantLodLights": [len(distant.items("position")), len(distant.numbers("RGBI"))],
    }


def names_of(items):
    return [item.value("name") for item in items]


def portal_corners(portal):
    """Four [x, y, z] each, from Items with commas or from lines of numbers; a fourth number means nothing."""
    corners = portal.child("corners")
    lines = [i.text for i in corners.items()] or [line for line in corners.text.splitlines() if line.strip()]
    return [[number(n) for n in re.split(r"[\s,]+", line.strip())[:3]] for line in lines]


def interior_facts(index, mlo):
    entities, rooms, portals, sets = (mlo.items(t) for t in ("entities", "rooms", "portals", "entitySets"))
    return {
        "archetype": index,
        "name": mlo.value("name"),
        "rooms": names_of(rooms),
        "portals": len(portals),
        "entities": len(entities),
        "chosenEntities": chosen_entities(entities),
        "entitySets": {s.value("name"): len(s.items("entities")) for s in sets},
        "setLocations": {s.value("name"): s.numbers("locations") for s in sets},
        "attachedObjects": {"rooms": [r.numbers("attachedObjects") for r in rooms],
                            "portals": [p.numbers("attachedObjects") for p in portals]},
        "timeCycleModifiers": len(mlo.items("timeCycleModifiers")),
        "extensions": extension_types(entities),
        "portal0Corners": portal_corners(portals[0]) if portals else None,
    }


def types_facts(root):
    archetypes = root.items("archetypes")
    return {
        "name": root.value("name"),
        "archetypes": len(archetypes),
        "archetypeTypes": item_types(archetypes),
        "chosenArchetypes": [{
            "index": index,
            "name": a.value("name"),
            "lodDist": a.number("lodDist"),
            "flags": a.number("flags"),
            "bbMin": a.vector("bbMin"),
            "bbMax": a.vector("bbMax"),
        } for index, a in pick(archetypes)],
        "extensions": extension_types(archetypes),
        "interiors": [interior_facts(i, a) for i, a in enumerate(archetypes)
                      if a.attributes.get("type") == "CMloArchetypeDef"],
        "compositeEntityTypes": len(root.items("compositeEntityTypes")),
        "dependencies": root.texts("dependencies"),
    }


def config_facts(root):
    def one(item):
        config = item.child("Config")
        pools = [(p.value("PoolName"), p.number("PoolSize")) for p in config.child("PoolSizes").items("Entries")]
        return {
            "build": item.value("Build"),
            "platforms": item.value("Platforms"),
            "param": item.value("Param"),
            "sections": [c.tag for c in config.children],
            "pools": len(pools),
            "poolSum": sum(size for _, size in pools),
            "chosenPools": [list(pool) for _, pool in pick(pools)],
            "population": len(config.child("ConfigPopulation").children),
            "threads": len(config.items("Threads")),
            "threadCores": sum(len(t.child("CpuAffinity").children) for t in config.items("Threads")),
            "stackSizes": len(config.child("ConfigScriptStackSizes").items("StackSizeData")),
        }
    return {"configurations": [one(item) for item in root.items("ConfigArray")]}


def manifest_facts(root):
    def content(node):
        """An Item as an object: text, `value`, or the list of Items."""
        return {c.tag: c.texts() if c.children else c.attributes.get("value", c.text) for c in node.children}

    arrays = {c.tag: c.items() for c in root.children}
    return {
        "counts": {tag: len(items) for tag, items in arrays.items()},
        "first": {tag: content(items[0]) for tag, items in arrays.items() if items},
    }


FACTS = {"CMapData": map_facts, "CMapTypes": types_facts, "fwAllConfigs": config_facts,
         "CPackFileMetaData": manifest_facts}


def facts_of(path):
    with open(path, "rb") as file:
        data = file.read()
    found = placeholders(data)
    if found:
        return {"template": True, "placeholders": found}
    root = read_tree(data)
    if root.tag not in FACTS:
        return {"root": root.tag}
    return {"root": root.tag, **FACTS[root.tag](root)}


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__, end="")
        return 2 if len(sys.argv) < 2 else 0
    result, code = {}, 0
    for path in sys.argv[1:]:
        try:
            result[path] = facts_of(path)
        except (OSError, ValueError, xml.parsers.expat.ExpatError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            code = 1
    json.dump(result, sys.stdout, indent=1, ensure_ascii=False)
    print()
    return code


if __name__ == "__main__":
    sys.exit(main())
