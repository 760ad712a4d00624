# SPDX-License-Identifier: MIT
"""Breaks one thing at a time in a clean world: the rule for it must find it, at its line, and no other error may come.

LINT-1, LINT-2. Each kind is a function of (rng, source) that gives (bytes, rule, line) or None where the source has
nothing of the kind; what it breaks, and where, is known from the XML and from what the rule is to say.
"""

import collections
import os

from world_kit import Source, check, doubled, source_files, with_value, without, write

def pick(rng, nodes):
    return rng.choice(nodes) if nodes else None


def changed(source, node, value, rule, attribute="value"):
    return with_value(source, node, value, attribute), rule, node.line


# --- entities

def parent_index(rng, s):
    e = pick(rng, [e for e in s.entities() if e.number("parentIndex") >= 0])
    return e and changed(s, e.child("parentIndex"), 5000, "LOD001")


def level(rng, s):
    """A parent made as fine as its children; said at the link of each."""
    linked = [e for e in s.entities() if e.number("parentIndex") >= 0 and not int(e.number("flags")) & 8]
    e = pick(rng, linked)
    if not e:
        return None
    above = s.entities()[int(e.number("parentIndex"))]
    return with_value(s, above.child("lodLevel"), e.value("lodLevel")), "LOD003", e.child("parentIndex").line


def child_count(rng, s):
    e = pick(rng, s.entities())
    return e and changed(s, e.child("numChildren"), int(e.number("numChildren")) + 3, "LOD004")


def archetype_name(rng, s):
    e = pick(rng, s.entities())
    return e and changed(s, e.child("archetypeName"), e.value("archetypeName") + "_gone", "REF001")


def rotation_zero(rng, s):
    e = pick(rng, s.entities())
    if not e:
        return None
    node = e.child("rotation")
    return s.data[:node.start] + b'<rotation x="0" y="0" z="0" w="0" />' + s.data[node.end:], "ENT001", node.line


def scale_zero(rng, s):
    e = pick(rng, s.entities())
    return e and changed(s, e.child(rng.choice(["scaleXY", "scaleZ"])), 0, "ENT002")


def placed_twice(rng, s):
    e = pick(rng, s.entities())
    if not e:
        return None
    last = s.entities()[-1]  # behind all others, so that no index changes
    return (s.data[:last.end] + b"\n  " + s.data[e.start:e.end] + s.data[last.end:], "ENT005", last.line +
            s.data[last.start:last.end].count(b"\n") + 1)


def odd_distance(rng, s):
    e = pick(rng, s.entities())
    return e and changed(s, e.child("lodDist"), -7, "LOD006")


# --- maps

def extents(rng, s):
    """The box ends before what is farthest out."""
    es = [e for e in s.entities()]
    if len(es) < 2:
        return None
    axis = rng.choice("xy")
    at = sorted(float(e.child("position").attributes[axis]) for e in es)
    if at[-1] - at[0] < 1:
        return None
    return changed(s, s.root.child("entitiesExtentsMax"), (at[0] + at[-1]) / 2, "EXT001", axis)


def extents_turned(rng, s):
    low, high = s.root.child("streamingExtentsMin"), s.root.child("streamingExtentsMax")
    return changed(s, low, float(high.attributes["z"]) + 10, "EXT002", "z")


def content_flags(rng, s):
    node = s.root.child("contentFlags")
    return changed(s, node, int(node.attributes["value"]) ^ rng.choice([32, 128, 256, 1024, 64, 8]), "FLG001")


def parent_flag(rng, s):
    node = s.root.child("flags")
    flags = int(node.attributes["value"])
    return changed(s, node, flags & ~2, "FLG002") if flags & 2 else None


def parent_name(rng, s):
    return changed(s, s.root.child("parent"), "no_such_map", "REF003") if s.root.value("parent") else None


def occluder_size(rng, s):
    o = pick(rng, s.items("boxOccluders"))
    return o and changed(s, o.child(rng.choice(["iLength", "iWidth", "iHeight"])), -8, "OCC001")


def occluder_turn(rng, s):
    o = pick(rng, s.items("boxOccluders"))
    return o and (with_value(s, o.child("iCosZ"), 9000 if abs(o.number("iSinZ")) < 9000 else 16384 * 3 // 2), "OCC002",
                  o.child("iSinZ").line)


def occluder_mesh(rng, s):
    o = pick(rng, s.items("occludeModels"))
    return o and changed(s, o.child("dataSize"), int(o.number("dataSize")) + 3, "OCC004")


def car_direction(rng, s):
    c = pick(rng, s.items("carGenerators"))
    if not c:
        return None
    x, y = c.child("orientX"), c.child("orientY")
    data = s.data
    for node in sorted((x, y), key=lambda n: -n.start):
        data = data[:node.start] + f'<{node.name} value="0" />'.encode() + data[node.end:]
    return data, "CAR001", x.line


def light_array(rng, s):
    soa = s.root.child("LODLightsSOA")
    if soa is None or not (soa.value("hash") or "").split():
        return None
    node = soa.child(rng.choice(["falloff", "falloffExponent", "timeAndStateFlags", "coneInnerAngle", "coronaIntensity"]))
    return with_value(s, node, " ".join(node.text.split()[1:])), "LGT001", node.line


def light_pairing(rng, s):
    soa = s.root.child("DistantLODLightsSOA")
    lights = soa.child("position").all("Item") if soa is not None else []
    if len(lights) < 3:
        return None
    colours = soa.child("RGBI")
    data = with_value(s, colours, " ".join(colours.text.split()[1:]))
    data = data[:lights[0].start] + data[lights[0].end:]
    return data, "LGT002", None  # at the twin's LODLightsSOA, in the child map


def street_lights(rng, s):
    soa = s.root.child("DistantLODLightsSOA")
    if soa is None or not soa.child("position").all("Item"):
        return None
    return changed(s, soa.child("numStreetLights"), 60000, "LGT003")


def grass_box(rng, s):
    g = pick(rng, s.items("instancedData", "GrassInstanceList"))
    if not g:
        return None
    box = g.child("BatchAABB")
    low, high = box.child("min"), box.child("max")
    return with_value(s, low, float(high.attributes["z"]) + 1, "z"), "GRS001", box.line


def time_cycle_hour(rng, s):
    t = pick(rng, s.items("timeCycleModifiers"))
    return t and changed(s, t.child(rng.choice(["startHour", "endHour"])), 31, "TCM001")


# --- type files

def archetype_box(rng, s):
    a = pick(rng, [a for a in s.items("archetypes") if a.vector("bbMax") != a.vector("bbMin")])
    return a and changed(s, a.child("bbMin"), float(a.child("bbMax").attributes["x"]) + 1, "ARC001", "x")


def archetype_sphere(rng, s):
    a = pick(rng, [a for a in s.items("archetypes") if a.number("bsRadius") > 1])
    return a and changed(s, a.child("bsRadius"), 0.1, "ARC002")


def duplicate_archetype(rng, s):
    a = pick(rng, [a for a in s.items("archetypes") if a.attributes.get("type") == "CBaseArchetypeDef"])
    if not a:
        return None
    copy = Source.__new__(Source)
    copy.data = with_value(s, a.child("lodDist"), int(a.number("lodDist")) + 5)
    last = s.items("archetypes")[-1]
    text = copy.data[a.start:a.end + len(copy.data) - len(s.data)]
    data = s.data[:last.end] + b"\n  " + text + s.data[last.end:]
    line = last.line + s.data[last.start:last.end].count(b"\n") + 1 + a.child("name").line - a.line
    return data, "NAM005", line


def interiors(s):
    return [a for a in s.items("archetypes") if a.attributes.get("type") == "CMloArchetypeDef"]


def of_interior(rng, s, *names):
    a = pick(rng, interiors(s))
    at = a.find(*names) if a else None
    return (None, []) if at is None else (a, at.all("Item"))


def portal_room(rng, s):
    p = pick(rng, of_interior(rng, s, "portals")[1])
    return p and changed(s, p.child("roomFrom"), 77, "MLO001")


def portal_corner(rng, s):
    p = pick(rng, of_interior(rng, s, "portals")[1])
    if not p:
        return None
    corners = p.child("corners")
    lines = [l for l in corners.text.strip().splitlines() if l.strip()]
    if len(lines) == 4:
        return with_value(s, corners, "\n".join(lines[:3])), "MLO002", corners.line
    items = corners.all("Item")
    return (without(s, items[-1]), "MLO002", corners.line) if len(items) == 4 else None


def attached_object(rng, s):
    r = pick(rng, [r for r in of_interior(rng, s, "rooms")[1] if r.child("attachedObjects").text.split()])
    if not r:
        return None
    node = r.child("attachedObjects")
    return with_value(s, node, " ".join(node.text.split() + ["4000"])), "MLO003", node.line


def loose_object(rng, s):
    a, rooms = of_interior(rng, s, "rooms")
    r = pick(rng, [r for r in rooms if len(r.child("attachedObjects").text.split()) > 1])
    if not r:
        return None
    node = r.child("attachedObjects")
    return with_value(s, node, " ".join(node.text.split()[1:])), "MLO004", a.child("entities").line


def set_locations(rng, s):
    e = pick(rng, [e for e in of_interior(rng, s, "entitySets")[1] if e.child("locations").text.split()])
    if not e:
        return None
    node = e.child("locations")
    words = node.text.split()
    return with_value(s, node, " ".join(words[1:] if rng.random() < 0.5 else ["900"] + words[1:])), "MLO005", node.line


def limbo_name(rng, s):
    rooms = of_interior(rng, s, "rooms")[1]
    return changed(s, rooms[0].child("name"), "cellar_of_nobody", "MLO006") if rooms else None


def portal_count(rng, s):
    r = pick(rng, of_interior(rng, s, "rooms")[1])
    return r and changed(s, r.child("portalCount"), int(r.number("portalCount")) + 2, "MLO007")


def instances(s):
    return [e for e in s.entities() if e.attributes.get("type") == "CMloInstanceDef"]


def default_set(rng, s):
    e = pick(rng, instances(s))
    if not e:
        return None
    node = e.child("defaultEntitySets")
    text = b"<defaultEntitySets>\n    <Item>no_such_set</Item>\n   </defaultEntitySets>"
    return s.data[:node.start] + text + s.data[node.end:], "MLO008", node.line + 1


def exit_portals(rng, s):
    e = pick(rng, instances(s))
    return e and changed(s, e.child("numExitPortals"), int(e.number("numExitPortals")) + 1, "MLO009")


# --- manifests

def dependency_gone(rng, s):
    if s.root.name != "CPackFileMetaData":
        return None
    item = pick(rng, [i for i in s.items("imapDependencies_2") if i.child("itypDepArray").all("Item")])
    if not item:
        return None
    types = item.child("itypDepArray")
    return without(s, rng.choice(types.all("Item"))), "REF002", types.line


def dependency_odd(rng, s):
    item = pick(rng, [i for i in s.items("imapDependencies_2") if i.child("itypDepArray").all("Item")])
    if not item or s.root.name != "CPackFileMetaData":
        return None
    first = item.child("itypDepArray").all("Item")[0]
    data = s.data[:first.start] + b"<Item>no_such_types</Item>" + s.data[first.start:]
    return data, "REF004", item.child("itypDepArray").line


def manifest_map(rng, s):
    item = pick(rng, s.items("imapDependencies_2")) if s.root.name == "CPackFileMetaData" else None
    return item and changed(s, item.child("imapName"), "no_such_map", "REF004")


# --- text

def bad_number(rng, s):
    e = pick(rng, s.entities())
    return e and changed(s, e.child("position"), "1,5", "XML005", "x")


def bad_level(rng, s):
    e = pick(rng, s.entities())
    return e and changed(s, e.child("lodLevel"), "LODTYPES_DEPTH_HDD", "XML012")


# --- game configurations

# Pools that any world of ours fills: with stores, one slot is too few; of the others one map needs more.
FULL_POOLS = ("MapDataStore", "MapTypesStore", "fwArchetypePooledMap", "Building", "Dummy Object")


def pool_item(rng, s, names=None):
    items = [i for c in s.items("ConfigArray") for i in c.find("Config", "PoolSizes", "Entries").all("Item")]
    return pick(rng, [i for i in items if names is None or i.value("PoolName") in names])


def pool_full(rng, s):
    item = pool_item(rng, s, FULL_POOLS)
    return item and changed(s, item.child("PoolSize"), 1, "CFG001")


def pool_unknown(rng, s):
    item = pool_item(rng, s)
    return item and changed(s, item.child("PoolName"), item.value("PoolName") + "Xyz", "CFG002")


def pool_twice(rng, s):
    item = pool_item(rng, s)
    if not item:
        return None
    last = item.parent.all("Item")[-1]
    again = f'<Item><PoolName>{item.value("PoolName")}</PoolName><PoolSize value="2000000"/></Item>'.encode()
    line = last.line + s.data[last.start:last.end].count(b"\n") + 1
    return s.data[:last.end] + b"\n" + again + s.data[last.end:], "CFG003", line


def pool_size(rng, s):
    item = pool_item(rng, s)
    return item and changed(s, item.child("PoolSize"), -1, "CFG004")


MAP = [parent_index, level, child_count, archetype_name, rotation_zero, scale_zero, placed_twice, odd_distance, extents,
       extents_turned, content_flags, parent_flag, parent_name, occluder_size, occluder_turn, occluder_mesh,
       car_direction, light_array, light_pairing, street_lights, grass_box, time_cycle_hour, default_set, exit_portals,
       bad_number, bad_level]
TYPES = [archetype_box, archetype_sphere, duplicate_archetype, portal_room, portal_corner, attached_object,
         loose_object, set_locations, limbo_name, portal_count]
MANIFEST = [dependency_gone, dependency_odd, manifest_map]
CONFIG = [pool_full, pool_unknown, pool_twice, pool_size]

# Warnings that may come with it: the one thing that was broken is wrong in more than one way.
FOLLOWS = {
    "parent_index": {"LOD004", "EXT001", "FLG002"},
    "level": {"FLG001", "LOD005", "FLG002"},
    "archetype_name": {"REF002", "EXT001", "MLO008"},
    "placed_twice": {"LOD004", "ENT004"},
    "odd_distance": {"LOD005", "EXT001"},
    "rotation_zero": {"EXT001"},
    "extents": {"EXT002"},
    "extents_turned": {"EXT001"},
    "parent_name": {"LOD004", "FLG002", "LGT002", "EXT001"},
    "light_array": {"LGT001"},
    "light_pairing": {"EXT001"},
    "archetype_box": {"ARC002", "EXT001", "MLO010"},
    "archetype_sphere": {"EXT001"},
    "portal_room": {"MLO007", "MLO009", "MLO012"},
    "portal_corner": {"MLO009"},
    "set_locations": {"MLO005"},
    "occluder_mesh": {"EXT001"},
    "limbo_name": {"MLO014"},
    "attached_object": {"MLO003"},
    "dependency_odd": {"REF002"},
    "manifest_map": {"REF002"},
}


def run(kit, count):
    kit.generate("w")
    check(kit.check(["w"], "--cache", "cache").findings() == [], "the world is not clean as it is")
    sources = [Source(p) for p in source_files(kit.path("w"))]
    by_root = {root: [s for s in sources if s.root.name == root]
               for root in ("CMapData", "CMapTypes", "CPackFileMetaData", "fwAllConfigs")}
    kinds = [(k, r) for ks, r in ((MAP, "CMapData"), (TYPES, "CMapTypes"), (MANIFEST, "CPackFileMetaData"),
                                 (CONFIG, "fwAllConfigs")) for k in ks]
    order, done, impossible, faults = [], collections.Counter(), set(), []
    while sum(done.values()) < count:
        if not order:  # each kind once a round, in any order
            order = kit.rng.sample(kinds, len(kinds))
            check(len(impossible) < len(kinds), "nothing can be broken")
        kind, root = order.pop()
        name = kind.__name__
        candidates = kit.rng.sample(by_root[root], len(by_root[root]))
        source, result = next(((s, r) for s in candidates for r in [kind(kit.rng, s)] if r), (None, None))
        if result is None:
            impossible.add(name)
            continue
        data, rule, line = result
        write(source.path, data)
        found = kit.check(["w"], "--cache", "cache")
        write(source.path, source.data)
        path = os.path.relpath(source.path, kit.scratch)
        when = f"{name} in {path}, line {line}"
        hits = [f for f in found.findings() if f["rule"] == rule and
                (line is None or (f["file"], f["line"]) == (path, line))]
        said = [f"{f['file']}:{f['line']}: {f['severity']}: {f['message']} [{f['rule']}]" for f in found.findings()]
        if not hits:
            faults.append(f"{when}: no {rule} there, but {said[:6]}")
        allowed = FOLLOWS.get(name, set()) | {rule}
        for f, text in zip(found.findings(), said):
            if f["rule"] not in allowed or (f["severity"] == "error" and f["rule"] != rule):
                faults.append(f"{when}: unrelated: {text}")
        if found.code != any(f["severity"] == "error" for f in found.findings()):
            faults.append(f"{when}: exit {found.code}")
        done[name] += 1
    check(not faults, f"{len(faults)} faults:\n  " + "\n  ".join(faults[:20]))
    check(kit.check(["w"], "--cache", "cache").findings() == [], "the world did not become clean again")
    check(len(done) >= min(20, count), f"just {len(done)} kinds: {sorted(done)}")
    return f"{sum(done.values())} of {len(done)} kinds" + (f"; none of {', '.join(sorted(impossible))}" if impossible else "")
