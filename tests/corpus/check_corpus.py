#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compiles every real-world file of a folder and holds the result against the source.

  check_corpus.py --imapc P --itypc P --gameconfigc P --metac P --resinfo P --corpus DIR --work DIR

For each file with a known root element (found by content, not by extension):
  1. the tool for its root compiles it: exit 0 and no error;
  2. facts in `resinfo dump` (JSON) are those that expect_from_xml.py finds in the XML by its own reader;
  3. `resinfo dump --xml`, compiled again, gives the same bytes.
A file with ${...} placeholders must be refused: exit 1, one XML011 at each placeholder and nothing else, no output.
One line a file, then 'N passed, N failed'. Exit 0, 1 on failures, 77 (skipped) if the corpus is not there.
"""

import argparse
import json
import os
import struct
import subprocess
import sys
import xml.parsers.expat

sys.dont_write_bytecode = True
import expect_from_xml as expect  # noqa: E402 (the line above must come first)

KINDS = {  # root element -> option that names the tool, extension of the resource
    "CMapData": ("imapc", ".imap"),
    "CMapTypes": ("itypc", ".ityp"),
    "fwAllConfigs": ("gameconfigc", ".gcfg"),
    "CPackFileMetaData": ("metac", ".ymfm"),
}


class Mismatch(Exception):
    pass


# --- comparing values ---------------------------------------------------------------------------------

def name_hash(text):
    """32-bit hash of a name as it stands in XML or JSON; a hash literal is its own hash, nothing is 0."""
    if text is None or text == "" or text == 0:
        return 0
    if isinstance(text, int):
        return text
    digits = text[5:] if text.startswith("hash_") else text[2:] if text[:2] in ("0x", "0X") else ""
    if 1 <= len(digits) <= 8 and all(d in "0123456789abcdefABCDEF" for d in digits):
        return int(digits, 16)
    value = 0
    for byte in text.encode():
        value += byte + 32 if 65 <= byte <= 90 else byte
        value = (value + (value << 10)) & 0xFFFFFFFF
        value ^= value >> 6
    value = (value + (value << 3)) & 0xFFFFFFFF
    value ^= value >> 11
    return (value + (value << 15)) & 0xFFFFFFFF


def f32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def same(what, seen, wanted):
    if seen != wanted:
        raise Mismatch(f"{what}: resource has {seen!r}, source has {wanted!r}")


def same_count(what, seen, wanted):
    same(f"number of {what}", len(seen or []), wanted)


def same_floats(what, seen, wanted):
    """Equal as 32-bit floats. A missing element (None) has a default, which is not for this script to know."""
    if wanted is not None:
        same(what, [f32(s) for s in seen], [f32(w) for w in wanted])


def same_names(what, seen, wanted):
    same(what, [name_hash(s) for s in seen or []], [name_hash(w) for w in wanted])


def xyz(vector):
    return [vector[axis] for axis in "xyz"]


def enum_text(what, seen, wanted):
    if wanted is not None and not wanted.isdigit():
        same(what, seen, wanted)


# --- facts of each kind -------------------------------------------------------------------------------

def check_entities(where, entities, chosen):
    for fact in chosen:
        entity, what = entities[fact["index"]], f"{where} {fact['index']}"
        same(f"{what} archetypeName", name_hash(entity["archetype_name"]), name_hash(fact["archetypeName"]))
        if fact["position"]:
            same_floats(f"{what} position", xyz(entity["position"]), fact["position"])
        if fact["rotation"]:
            same_floats(f"{what} rotation", [entity["rotation"][a] for a in "xyzw"], fact["rotation"])
        if fact["lodDist"] is not None:
            same_floats(f"{what} lodDist", [entity["lod_dist"]], [fact["lodDist"]])
        for member, field in (("parentIndex", "parent_index"), ("numChildren", "num_children")):
            if fact[member] is not None:
                same(f"{what} {member}", entity[field], fact[member])
        enum_text(f"{what} lodLevel", entity["lod_level"], fact["lodLevel"])


def check_map(root, facts):
    if facts["name"] is not None:
        same("name", name_hash(root["name"]), name_hash(facts["name"]))
    same("parent", name_hash(root.get("parent")), name_hash(facts["parent"]))
    for member, field in (("flags", "flags"), ("contentFlags", "content_flags")):
        if facts[member] is not None:
            same(member, root[field], facts[member])
    for member, field in (("streamingExtentsMin", "streaming_extents_min"), ("streamingExtentsMax", "streaming_extents_max"),
                          ("entitiesExtentsMin", "entities_extents_min"), ("entitiesExtentsMax", "entities_extents_max")):
        if facts["extents"][member]:
            same_floats(member, xyz(root[field]), facts["extents"][member])
    same_count("entities", root.get("entities"), facts["entities"])
    check_entities("entity", root.get("entities") or [], facts["chosenEntities"])
    instances = root.get("mlo_instances") or []
    same("owners of interior instances", [i["owner"] for i in instances], [f["entity"] for f in facts["interiorInstances"]])
    for instance, fact in zip(instances, facts["interiorInstances"]):
        same_names("defaultEntitySets", instance.get("default_entity_sets"), fact["defaultEntitySets"])
        if fact["numExitPortals"] is not None:
            same("numExitPortals", instance["num_exit_portals"], fact["numExitPortals"])
    same_count("entity extensions", root.get("entity_extensions"), sum(facts["extensions"].values()))
    same_count("container LODs", root.get("container_lods"), facts["containerLods"])
    same_count("box occluders", root.get("box_occluders"), facts["boxOccluders"])
    models = root.get("occlude_models") or []
    same("occluder meshes", [(m["data_size"], m["num_tris"]) for m in models],
         [(f["dataSize"], f["numTris"]) for f in facts["occludeModels"]])
    for index, model in enumerate(models):
        if isinstance(model["verts"], list):
            same(f"bytes of verts of occluder mesh {index}", len(model["verts"]), facts["occludeModels"][index]["dataSize"])
    same_names("physicsDictionaries", root.get("physics_dictionaries"), facts["physicsDictionaries"])
    same_names("time-cycle modifiers", [t["name"] for t in root.get("time_cycle_modifiers") or []], facts["timeCycleModifiers"])
    same_count("car generators", root.get("car_generators"), facts["carGenerators"])
    batches = (root.get("instanced_data") or {}).get("grass_instance_list") or []
    same("grass instances", [len(b.get("instance_list") or []) for b in batches], facts["grassInstances"])
    lights = root.get("lod_lights_soa") or {}
    same("LOD lights", [len(lights.get(field) or []) for field in (
        "direction", "falloff", "falloff_exponent", "time_and_state_flags", "hash", "cone_inner_angle",
        "cone_outer_angle_or_cap_ext", "corona_intensity")], facts["lodLights"])
    distant = root.get("distant_lod_lights_soa") or {}
    same("distant LOD lights", [len(distant.get(field) or []) for field in ("position", "rgbi")], facts["distantLodLights"])


def check_interior(mlo, fact):
    where = f"interior {fact['name']}"
    same(f"{where} archetype", mlo["owner"], fact["archetype"])
    rooms, portals, sets = (mlo.get(f) or [] for f in ("rooms", "portals", "entity_sets"))
    same(f"{where} rooms", [r.get("name") for r in rooms], fact["rooms"])
    same_count(f"{where} portals", portals, fact["portals"])
    same_count(f"{where} entities", mlo.get("entities"), fact["entities"])
    check_entities(f"{where} entity", mlo.get("entities") or [], fact["chosenEntities"])
    same_names(f"{where} entity sets", [s["name"] for s in sets], fact["entitySets"])
    for entity_set, (name, size) in zip(sets, fact["entitySets"].items()):
        same_count(f"{where} entities of {name}", entity_set.get("entities"), size)
        same(f"{where} locations of {name}", entity_set.get("locations") or [], fact["setLocations"][name])
    for field, holders in (("rooms", rooms), ("portals", portals)):
        same(f"{where} attachedObjects of {field}", [h.get("attached_objects") or [] for h in holders],
             fact["attachedObjects"][field])
    same_count(f"{where} time-cycle modifiers", mlo.get("time_cycle_modifiers"), fact["timeCycleModifiers"])
    same_count(f"{where} entity extensions", mlo.get("entity_extensions"), sum(fact["extensions"].values()))
    if fact["portal0Corners"] is not None:
        corners = [c for corner in portals[0].get("corners") or [] for c in xyz(corner)]
        same_floats(f"{where} corners of portal 0", corners, [c for corner in fact["portal0Corners"] for c in corner])


def check_types(root, facts):
    if facts["name"] is not None:
        same("name", name_hash(root["name"]), name_hash(facts["name"]))
    archetypes = root.get("archetypes") or []
    same_count("archetypes", archetypes, facts["archetypes"])
    same_count("time archetypes", root.get("time_archetypes"), facts["archetypeTypes"].get("CTimeArchetypeDef", 0))
    same_count("interiors", root.get("mlo_archetypes"), len(facts["interiors"]))
    for fact in facts["chosenArchetypes"]:
        archetype, what = archetypes[fact["index"]], f"archetype {fact['index']}"
        same(f"{what} name", name_hash(archetype["name"]), name_hash(fact["name"]))
        if fact["lodDist"] is not None:
            same_floats(f"{what} lodDist", [archetype["lod_dist"]], [fact["lodDist"]])
        if fact["flags"] is not None:
            same(f"{what} flags", archetype["flags"], fact["flags"])
        for member, field in (("bbMin", "bb_min"), ("bbMax", "bb_max")):
            if fact[member]:
                same_floats(f"{what} {member}", xyz(archetype[field]), fact[member])
    same_count("archetype extensions", root.get("archetype_extensions"), sum(facts["extensions"].values()))
    for mlo, fact in zip(root.get("mlo_archetypes") or [], facts["interiors"]):
        check_interior(mlo, fact)
    same_count("composite entity types", root.get("composite_entity_types"), facts["compositeEntityTypes"])
    same_names("dependencies", root.get("dependencies"), facts["dependencies"])


def check_config(root, facts):
    items = root.get("config_array") or []
    same_count("configurations", items, len(facts["configurations"]))
    for index, (item, fact) in enumerate(zip(items, facts["configurations"])):
        where, config = f"configuration {index}", item.get("config") or {}
        for field in ("build", "platforms", "param"):
            same(f"{where} {field}", item.get(field) or None, fact[field])
        pools = (config.get("pool_sizes") or {}).get("entries") or []
        same_count(f"{where} pools", pools, fact["pools"])
        same(f"{where} sum of pool sizes", sum(p["size"] for p in pools), fact["poolSum"])
        by_name = {name_hash(p["name"]): p["size"] for p in pools}
        for name, size in fact["chosenPools"]:
            same(f"{where} pool {name}", by_name.get(name_hash(name)), size)
        population = config.get("population") or {}
        same(f"{where} population values", sum(v is not None for v in population.values()), fact["population"])
        threads = config.get("threads") or []
        same_count(f"{where} threads", threads, fact["threads"])
        same(f"{where} cores of threads", sum(len(t.get("cpu_affinity") or []) for t in threads), fact["threadCores"])
        stacks = (config.get("script_stack_sizes") or {}).get("stack_size_data")
        same_count(f"{where} stack sizes", stacks, fact["stackSizes"])


MANIFEST_ARRAYS = {  # XML -> field, and the members that are names
    "MapDataGroups": ("map_data_groups", {"Name": "name", "Bounds": "bounds", "WeatherTypes": "weather_types"}),
    "HDTxdBindingArray": ("hd_txd_bindings", {"targetAsset": "target_asset", "HDTxd": "hd_txd"}),
    "imapDependencies": ("imap_dependencies", {"imapName": "imap_name", "itypName": "ityp_name"}),
    "imapDependencies_2": ("imap_dependencies_2", {"imapName": "imap_name", "itypDepArray": "ityp_dep_array"}),
    "itypDependencies_2": ("ityp_dependencies_2", {"itypName": "ityp_name", "itypDepArray": "ityp_dep_array"}),
    "Interiors": ("interiors", {"Name": "name", "Bounds": "bounds"}),
}


def check_manifest(root, facts):
    for tag, (field, members) in MANIFEST_ARRAYS.items():
        items = root.get(field) or []
        same_count(tag, items, facts["counts"].get(tag, 0))
        for member, member_field in members.items() if items else ():
            wanted, seen = facts["first"][tag].get(member, ""), items[0].get(member_field)
            wanted, seen = ([v] if isinstance(v, (str, int)) else v or [] for v in (wanted, seen))
            same_names(f"{tag} 0 {member}", seen, [w for w in wanted if w])


CHECKS = {"CMapData": check_map, "CMapTypes": check_types, "fwAllConfigs": check_config,
          "CPackFileMetaData": check_manifest}


# --- running the tools --------------------------------------------------------------------------------

def run(command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)


def compile_file(tool, source, output, *options):
    """Exit code and diagnostics of the compiler."""
    done = run([tool, source, "-o", output, "--diagnostics=json", *options])
    try:
        return done.returncode, json.loads(done.stderr)["diagnostics"] if done.stderr.strip() else []
    except (ValueError, KeyError):
        raise Mismatch(f"exit {done.returncode}; standard error is not the diagnostics document: {done.stderr[:300]!r}")


def short(diagnostics):
    return "; ".join(f"{d['line']}:{d['column']} {d['rule']} {d['message']}" for d in diagnostics[:3])


def dump(resinfo, resource, *options):
    done = run([resinfo, "dump", *options, resource])
    if done.returncode != 0:
        raise Mismatch(f"resinfo dump {' '.join(options)}: exit {done.returncode}: {done.stderr.decode(errors='replace')[:300]}")
    return done.stdout


def check_template(tool, source, output, wanted):
    code, diagnostics = compile_file(tool, source, output)
    same("exit code for a template", code, 1)
    found = [[d["line"], d["column"]] for d in diagnostics if d["rule"] == "XML011"]
    same("places of XML011", found, wanted)
    same("other diagnostics", short([d for d in diagnostics if d["rule"] != "XML011"]), "")
    same("an output was written", os.path.exists(output), False)


def lost_links(source):
    """Lines of parentIndex values that lead outside the map's own entities, where bit 3 does not say the parent's."""
    lines, depth, inside, count, item = [], 0, False, 0, {}

    def start(name, attributes):
        nonlocal depth, inside, count, item
        depth += 1
        if depth == 2:
            inside = name == "entities"
        elif inside and depth == 3:
            count += 1
            item = {"flags": 0, "parent": None}
            items.append(item)
        elif inside and depth == 4 and name == "flags":
            item["flags"] = int(attributes.get("value", "0"), 0)
        elif inside and depth == 4 and name == "parentIndex":
            item["parent"] = (int(attributes.get("value", "-1")), parser.CurrentLineNumber)

    def end(_):
        nonlocal depth
        depth -= 1

    items = []
    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    with open(source, "rb") as file:
        parser.Parse(file.read(), True)
    for item in items:
        if item["parent"] and not item["flags"] & 8 and item["parent"][0] >= count:
            lines.append(item["parent"][1])
    return lines


def check_file(options, source, root, folder):
    tool_name, extension = KINDS[root]
    tool = getattr(options, tool_name)
    os.makedirs(folder, exist_ok=True)
    first, again = os.path.join(folder, "first" + extension), os.path.join(folder, "again" + extension)
    for path in (first, again):
        if os.path.exists(path):
            os.remove(path)
    facts = expect.facts_of(source)
    if facts.get("template"):
        check_template(tool, source, first, facts["placeholders"])
        return f"template, {len(facts['placeholders'])} placeholders"
    code, diagnostics = compile_file(tool, source, first)
    errors = [d for d in diagnostics if d["severity"] == "error"]
    wrong = lost_links(source) if root == "CMapData" else []
    same(f"errors ({short(errors)})", [(d["rule"], d["line"]) for d in errors], [("LOD001", line) for line in wrong])
    same(f"exit code ({short(errors)})", code, 1 if wrong else 0)
    if wrong:  # all else about it is still to be right
        same("an output was written", os.path.exists(first), False)
        code, diagnostics = compile_file(tool, source, first, "--no-lint")
        same(f"exit code without lint ({short(diagnostics)})", code, 0)

    document = json.loads(dump(options.resinfo, first))
    same("kind", document["kind"], {".imap": "IMAP", ".ityp": "ITYP", ".gcfg": "GCFG", ".ymfm": "YMFM"}[extension])
    CHECKS[root](document["root"], facts)

    text = os.path.join(folder, "dump.xml")
    with open(text, "wb") as file:
        file.write(dump(options.resinfo, first, "--xml"))
    code, diagnostics = compile_file(tool, text, again, *(["--no-lint"] if wrong else []))
    same(f"exit code of the second compilation ({short(diagnostics)})", code, 0)
    with open(first, "rb") as one, open(again, "rb") as two:
        if one.read() != two.read():
            raise Mismatch(f"compiling the dumped XML gives other bytes: {first} and {again}")
    noted = ", ".join(f"{n} {s}s" for s, n in expect.count(d["severity"] for d in diagnostics).items())
    return f"{os.path.getsize(first)} bytes" + (f"; again: {noted}" if noted else "")


def root_of(path):
    """Name of the root element, or None if the file is no XML."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return expect.read_tree(data).tag
    except (xml.parsers.expat.ExpatError, IndexError):
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for tool in ("imapc", "itypc", "gameconfigc", "metac", "resinfo"):
        parser.add_argument("--" + tool, required=True, metavar="PROGRAM", type=os.path.abspath)
    parser.add_argument("--corpus", required=True, metavar="DIR", help="folder of real-world files, searched recursively")
    parser.add_argument("--work", required=True, metavar="DIR", help="folder for outputs")
    options = parser.parse_args()
    if not os.path.isdir(options.corpus):
        print(f"skipped: there is no corpus at {options.corpus}")
        return 77

    passed = failed = 0
    for folder, folders, names in os.walk(options.corpus):
        folders.sort()
        for name in sorted(names):
            source = os.path.join(folder, name)
            shown = os.path.relpath(source, options.corpus)
            root = root_of(source)
            if root not in KINDS:
                continue
            try:
                print(f"ok      {shown}: {check_file(options, source, root, os.path.join(options.work, shown))}")
                passed += 1
            except (Mismatch, KeyError, IndexError, TypeError, ValueError, OSError, subprocess.TimeoutExpired) as error:
                what = str(error) if isinstance(error, Mismatch) else f"{type(error).__name__}: {error}"
                print(f"FAILED  {shown}: {what}")
                failed += 1
    if passed + failed == 0:
        print(f"skipped: nothing to compile in {options.corpus}")
        return 77
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
