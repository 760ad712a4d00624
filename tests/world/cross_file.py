# SPDX-License-Identifier: MIT
"""What is wrong between files, each case by hand: rule, severity, place, places in other files, in all three forms."""

import json
import os
import re

from hand_made import (Sources, archetype, config_text, entity, interior_text, manifest_text, map_text, types_text)
from world_kit import Tree, check


def seen(findings):
    return sorted((f["rule"], f["severity"], (f["file"], f["line"], f["column"])) for f in findings)


def expect(kit, sources, wanted, folders=("w",), more=(), code=None):
    """`wanted`: (rule, severity, place, words of the message, places of related). All of it, and in all forms."""
    done = kit.check(folders, *more)
    findings = done.findings()
    check(seen(findings) == sorted((w[0], w[1], w[2]) for w in wanted),
          f"found {seen(findings)}, expected {sorted(w[:3] for w in wanted)}")
    has_errors = any(w[1] == "error" for w in wanted)
    check(done.code == (has_errors if code is None else code), f"exit {done.code}")
    for rule, severity, place, words, *rest in wanted:
        words = [words] if isinstance(words, str) else words
        here = [f for f in findings if (f["rule"], (f["file"], f["line"], f["column"])) == (rule, place)]
        f = next((f for f in here if all(w in f["message"] for w in words)), None)
        check(f is not None, f"{rule}: {words} not in {[f['message'] for f in here]}")
        if rest:
            related = sorted((r["file"], r["line"], r["column"]) for r in f["related"])
            check(related == sorted(rest[0]), f"{rule}: related {related}, expected {sorted(rest[0])}")
    same_in_text(kit.run("check", *folders, "--all", *more), findings)
    same_in_sarif(kit.run("check", *folders, "--diagnostics=sarif", *more), findings)
    return done


def same_in_text(done, findings):
    lines = re.findall(r"^(.+?):(\d+):(\d+): (error|warning|note): (.*)$", done.err, re.MULTILINE)
    texts = [(f, int(l), int(c), s, m) for f, l, c, s, m in lines]
    for f in findings:
        mine = [t for t in texts if t[:4] == (f["file"], f["line"], f["column"], f["severity"]) and
                f"[{f['rule']} {f['name']}]" in t[4] and f["message"] in t[4]]
        check(mine, f"not in the text form: {f}")
        for r in f["related"]:
            check(any(t[:4] == (r["file"], r["line"], r["column"], "note") and r["message"] in t[4] for t in texts),
                  f"a related place is not in the text form: {r}")


def same_in_sarif(done, findings):
    run = json.loads(done.err)["runs"][0]

    def place(location):
        where = location["physicalLocation"]
        return where["artifactLocation"]["uri"], where["region"]["startLine"], where["region"]["startColumn"]

    def mine(f):
        return (f["rule"], f["severity"], (f["file"], f["line"], f["column"]),
                sorted((r["file"], r["line"], r["column"]) for r in f["related"]))

    said = [(r["ruleId"], r["level"], place(r["locations"][0]), sorted(map(place, r.get("relatedLocations", []))))
            for r in run["results"]]
    check(sorted(said) == sorted(map(mine, findings)), f"SARIF says {sorted(said)}, JSON {sorted(map(mine, findings))}")


def duplicate_map(kit):  # NAM004, PAIN P005
    s = Sources(kit)
    s.put("root1/qa_dock.ymap.xml", map_text("qa_dock", entity("qa_box")))
    s.put("root2/qa_dock.ymap.xml", map_text("qa_dock", entity("qa_box"), entity("qa_box", at=(9, 0, 0))))
    s.put("root1/t.ytyp.xml", types_text("t", archetype("qa_box")))
    first, second = s.place("root1/qa_dock.ymap.xml", "CMapData"), s.place("root2/qa_dock.ymap.xml", "CMapData")
    expect(kit, s, [("NAM004", "error", second, ["qa_dock", first[0], second[0]], [first])], ("root1", "root2"))
    expect(kit, s, [("NAM004", "error", first, ["qa_dock"], [second])], ("root2", "root1"))
    # A layer decides, and says so and what differs; either way round.
    differs = ("root2/qa_dock.ymap.xml", 17, 4)  # the second entity, of five lines each from line 12 on
    for low, high, count in (("root1", "root2", 2), ("root2", "root1", 1)):
        lower, upper = (first, second) if low == "root1" else (second, first)
        expect(kit, s, [("NAM004", "note", lower, "shadowed", [upper, differs])], (low,), ("--layer", high))
        kit.remove("out")
        done = kit.build((low,), "out", "--layer", high)
        dump = kit.run("dump", "out/imap/qa_dock.imap", program="resinfo").out
        check(done.code == 0 and dump.count('"archetype_name"') == count, f"{low} under {high}: not {count} entities")
    # Without the layer again what it replaced is back. PAIN P089
    kit.remove("out")
    os.rename(kit.path("root2"), kit.path("patch"))
    kit.build(("root1",), "out")
    old = {n: f[0] for n, f in Tree(kit.path("out")).files.items()}
    kit.build(("root1",), "out", "--layer", "patch")
    check({n: f[0] for n, f in Tree(kit.path("out")).files.items()} != old, "the layer has no effect")
    kit.build(("root1",), "out")
    check({n: f[0] for n, f in Tree(kit.path("out")).files.items()} == old, "what the layer replaced is not back")


def one_file_twice(kit):  # one file under two operands is one file
    s = Sources(kit)
    s.put("w/sub/m.ymap.xml", map_text("m", entity("qa_box")))
    s.put("w/t.ytyp.xml", types_text("t", archetype("qa_box")))
    for folders in (("w", "w"), ("w", "w/sub"), ("w/sub/m.ymap.xml", "w"), ("w", "./w/sub/../sub"), ("w/", "w")):
        done = kit.check(folders)
        check(done.code == 0 and done.findings() == [], f"{folders}: {done.findings()}")


def configurations(kit):  # NAM004 for game configurations
    s = Sources(kit)
    s.put("w/gameconfig.xml", config_text(31)).put("l/gameconfig.xml", config_text(44))
    a, b = s.place("w/gameconfig.xml", "fwAllConfigs"), s.place("l/gameconfig.xml", "fwAllConfigs")
    expect(kit, s, [("NAM004", "error", b, "configuration 'gameconfig' given twice", [a])], ("w", "l"))
    expect(kit, s, [("NAM004", "note", a, "shadowed", [b])], ("w",), ("--layer", "l"))
    done = kit.build(("w",), "out", "--layer", "l")
    dump = kit.run("dump", "out/gcfg/gameconfig.gcfg", program="resinfo").out
    check(done.code == 0 and "44" in dump and "31" not in dump, "not the later layer's configuration")
    done = kit.build(("w", "l"), "out2")
    check(done.code == 1 and not Tree(kit.path("out2")).files, "two configurations of one name were built")


def duplicate_archetype(kit):  # NAM005
    s = Sources(kit)
    s.put("w/a.ytyp.xml", types_text("a", archetype("qa_box"), archetype("qa_same")))
    s.put("w/b.ytyp.xml", types_text("b", archetype("qa_other"), archetype("QA_BOX", lod=61), archetype("qa_same")))
    s.put("w/m.ymap.xml", map_text("m", entity("qa_box")))
    expect(kit, s, [
        ("NAM005", "error", s.place("w/b.ytyp.xml", "<name>|QA_BOX"), "differently", [s.place("w/a.ytyp.xml", "<name>|qa_box")]),
        ("NAM005", "warning", s.place("w/b.ytyp.xml", "<name>|qa_same"), "the same", [s.place("w/a.ytyp.xml", "<name>|qa_same")]),
        ("NAM002", "note", s.place("w/b.ytyp.xml", "<name>|QA_BOX"), "QA_BOX")])
    # P044: the duplicate comes later; the build that had been right is no longer.
    kit.remove("out")
    b = s.texts["w/b.ytyp.xml"]
    s.remove("w/b.ytyp.xml")
    check(kit.build(("w",), "out").code == 0, "one definition")
    s.put("w/b.ytyp.xml", b)
    check(kit.build(("w",), "out").code == 1, "a second definition went unnoticed")


def missing_archetype(kit):  # REF001
    s = Sources(kit)
    s.put("w/t.ytyp.xml", types_text("t", archetype("qa_bench"), archetype("qa_table")))
    s.put("w/m.ymap.xml", map_text("m", entity("qa_table"), entity("qa_bench1"), entity("zzzzzz")))
    bench, z = s.place("w/m.ymap.xml", "qa_bench1"), s.place("w/m.ymap.xml", "zzzzzz")
    expect(kit, s, [("REF001", "error", bench, ["qa_bench1", "1 type file", "did you mean 'qa_bench'?"]),
                    ("REF001", "error", z, "zzzzzz")])
    expect(kit, s, [("REF001", "warning", bench, "did you mean 'qa_bench'?"), ("REF001", "warning", z, "zzzzzz")],
           more=("--allow-missing-archetypes",))


def manifests(kit):  # REF002, REF003, REF004
    s = Sources(kit)
    s.put("w/t.ytyp.xml", types_text("t", archetype("qa_box"))).put("w/u.ytyp.xml", types_text("u", archetype("qa_u")))
    s.put("w/m.ymap.xml", map_text("m", entity("qa_box"), parent="nowhere"))
    s.put("w/_manifest.ymf.xml", manifest_text(maps=[("m", ["u", "gone_types"]), ("gone_map", ["t"])],
                                               types=[("gone_file", []), ("t", ["u"])]))
    m, y = "w/m.ymap.xml", "w/_manifest.ymf.xml"
    lists = [s.place(y, "<|itypDepArray>", n) for n in range(4)]
    expect(kit, s, [
        ("REF003", "warning", s.place(m, ">|nowhere"), "nowhere"),
        ("REF002", "warning", lists[0], "needs type file 't', which is not listed", [s.place(m, "qa_box")]),
        ("REF002", "warning", lists[0], "lists type file 'u', but uses nothing of it", []),
        ("REF004", "note", lists[0], "gone_types"),
        ("REF004", "note", s.place(y, ">|gone_map"), "gone_map"),
        ("REF004", "note", s.place(y, ">|gone_file"), "gone_file"),
        ("REF002", "warning", lists[3], "lists type file 'u', but uses nothing of it")])


def lod_links(kit):  # LOD001, LOD003, LOD004, LOD005, FLG002, FLG004
    s = Sources(kit)
    s.put("w/t.ytyp.xml", types_text("t", archetype("qa_hd"), archetype("qa_lod", lod=200)))
    child = entity("qa_hd", parentIndex=0, flags=8, lodLevel="HD")
    top = entity("qa_lod", lodDist=200, childLodDist=50, numChildren=1, lodLevel="LOD")

    def world(*children, parent=top, flags=2, own=0):
        s.put("w/top.ymap.xml", map_text("top", parent, flags=flags, content=2))
        s.put("w/low.ymap.xml", map_text("low", *children, parent="top", flags=own))

    low, high = "w/low.ymap.xml", "w/top.ymap.xml"
    world(child)
    expect(kit, s, [])
    world(entity("qa_hd", at=(3, 0, 0), parentIndex=7, flags=8, lodLevel="HD"), child)
    expect(kit, s, [("LOD001", "error", s.place(low, '"|7"'), ["parentIndex 7", "top"], [s.place(high, "<|entities>")])])
    world(entity("qa_lod", lodDist=50, parentIndex=0, flags=8, lodLevel="LOD"), entity("qa_hd"))
    s.put(low, s.texts[low].replace('<contentFlags value="1"', '<contentFlags value="3"'))
    expect(kit, s, [("LOD003", "error", s.place(low, 'parentIndex value="|0'), "not coarser", [s.place(high, "LODTYPES_DEPTH_LOD")])])
    world(child, child.replace('x="0"', 'x="3"'), child.replace('x="0"', 'x="6"'))
    expect(kit, s, [("LOD004", "warning", s.place(high, 'numChildren value="|1'), ["is 1", "have 3"],
                     [s.place(low, 'parentIndex value="|0')])])
    world(child, parent=top.replace('childLodDist value="50"', 'childLodDist value="0"').replace("200", "40"))
    expect(kit, s, [("LOD005", "warning", s.place(low, 'lodDist value="|50'), ["50 m", "40 m"], [s.place(high, 'lodDist value="|40')])])
    world(child, flags=0)
    expect(kit, s, [("FLG002", "warning", s.place(high, 'flags value="|0'), "low", [s.place(low, ">|top")])])
    world(child, own=1)
    expect(kit, s, [("FLG004", "warning", s.place(low, 'flags value="|1'), "top", [s.place(high, 'flags value="|2')])])


def lights(kit):  # LGT002
    s = Sources(kit)
    numbers = "  <{0}>\n   {1}\n  </{0}>\n"
    soa = (" <LODLightsSOA>\n  <direction>\n" + '   <Item><x value="0" /><y value="0" /><z value="-1" /></Item>\n' * 2 +
           "  </direction>\n" + "".join(numbers.format(n, "1 2") for n in ("falloff", "falloffExponent", "timeAndStateFlags",
           "hash", "coneInnerAngle", "coneOuterAngleOrCapExt", "coronaIntensity")) + " </LODLightsSOA>\n")
    one = '   <Item><x value="0" /><y value="0" /><z value="5" /></Item>\n'
    s.put("w/far.ymap.xml", map_text("far", flags=2, content=256, more=" <DistantLODLightsSOA>\n  <position>\n" + one * 3 +
                                     "  </position>\n" + numbers.format("RGBI", "1 2 3") + " </DistantLODLightsSOA>\n"))
    s.put("w/near.ymap.xml", map_text("near", content=128, parent="far", more=soa))
    expect(kit, s, [("LGT002", "warning", s.place("w/near.ymap.xml", "<|LODLightsSOA"), ["2 LOD lights", "'far' has 3"],
                     [s.place("w/far.ymap.xml", "<|DistantLODLightsSOA")])])


def occluder_in_doorway(kit):  # OCC003, PAIN P021
    s = Sources(kit)
    s.put("w/i.ytyp.xml", interior_text("qa_int", "i"))
    instance = entity("qa_int", at=(10, 20, 0), numExitPortals=1).replace("CEntityDef", "CMloInstanceDef")
    s.put("w/house.ymap.xml", map_text("house", instance, content=9))

    def box(x, y):
        return (f' <boxOccluders>\n  <Item>\n   <iCenterX value="{4 * x}" />\n   <iCenterY value="{4 * y}" />\n'
                '   <iCenterZ value="8" />\n   <iCosZ value="16384" />\n   <iLength value="4" />\n   <iWidth value="40" />\n'
                '   <iHeight value="16" />\n   <iSinZ value="0" />\n  </Item>\n </boxOccluders>\n')

    s.put("w/wall.ymap.xml", map_text("wall", content=32, more=box(10, 20)))
    expect(kit, s, [("OCC003", "warning", s.place("w/wall.ymap.xml", "<|Item"), ["exit portal 0", "qa_int"],
                     [s.place("w/house.ymap.xml", "<|Item")])])
    s.put("w/wall.ymap.xml", map_text("wall", content=32, more=box(10, 24)))  # 4 m behind the door
    expect(kit, s, [])


def hash_collision(kit):  # NAM001 across files
    a, b = colliding_names()
    s = Sources(kit)
    s.put("w/a.ytyp.xml", types_text("a", archetype(a)))
    s.put("w/m.ymap.xml", map_text("m", entity(b)))
    expect(kit, s, [("NAM001", "error", s.place("w/m.ymap.xml", b), [a, b], [s.place("w/a.ytyp.xml", a, 0)])])


def colliding_names():
    """Two names of one hash: among some 100 000 random ones a pair is likely, by the birthday paradox."""
    seen, number = {}, 0
    while True:
        name, number = "qa_%x" % (number * 2654435761 % 2**32), number + 1
        value = 0
        for byte in name.encode():
            value = (value + byte) * 1025 & 0xFFFFFFFF
            value ^= value >> 6
        value = value * 9 & 0xFFFFFFFF
        value = (value ^ value >> 11) * 32769 & 0xFFFFFFFF
        if value in seen:
            return seen[value], name
        seen[value] = name


CASES = [(f.__name__, f) for f in (duplicate_map, one_file_twice, configurations, duplicate_archetype, missing_archetype,
                                   manifests, lod_links, lights, occluder_in_doorway, hash_collision)]
