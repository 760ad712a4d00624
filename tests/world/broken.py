# SPDX-License-Identifier: MIT
"""Sources that fail, waivers, repairs, and what is said again when there was nothing to do."""

import difflib
import os

from cross_file import expect
from hand_made import Sources, archetype, entity, map_text, types_text
from world_kit import Source, Tree, check, source_files, with_value, write


def skipped_needs(done):
    return sorted((s["input"], s["needs"]) for s in done.document()["summary"]["skipped"])


def failed_types(kit):  # PAIN P053
    s = Sources(kit)
    s.put("w/T1.ytyp.xml", types_text("T1", archetype("qa_a"), archetype("qa_b")))
    s.put("w/T2.ytyp.xml", types_text("T2", archetype("qa_c")))
    s.put("w/m1.ymap.xml", map_text("m1", entity("qa_a"))).put("w/m2.ymap.xml", map_text("m2", entity("qa_c"), entity("QA_B")))
    s.put("w/m3.ymap.xml", map_text("m3", entity("qa_c")))
    s.put("w/T1.ytyp.xml", s.texts["w/T1.ytyp.xml"].replace("</CMapTypes>", ""))
    done = kit.check(["w"])
    check(done.code == 1, f"exit {done.code}")
    rules = {(f["rule"], f["file"]) for f in done.findings() if f["severity"] != "note"}
    check(rules == {("XML001", "w/T1.ytyp.xml")}, f"noise: {rules}")
    check(done.document()["summary"]["failed"] == ["w/T1.ytyp.xml"], "the failed input is not named")
    check(skipped_needs(done) == [("w/m1.ymap.xml", "w/T1.ytyp.xml"), ("w/m2.ymap.xml", "w/T1.ytyp.xml")],
          f"skipped: {skipped_needs(done)}")
    text = kit.run("check", "w").err
    for line in ("failed: w/T1.ytyp.xml", "skipped: w/m1.ymap.xml", "skipped: w/m2.ymap.xml"):
        check(line in text.replace("(", "").replace("  ", " "), f"'{line}' is not in the text form:\n{text}")
    # A name that is part of another one is not that one.
    s.put("w/T1.ytyp.xml", types_text("T1", archetype("qa_a10")).replace("</CMapTypes>", ""))
    s.put("w/m1.ymap.xml", map_text("m1", entity("qa_a1"))).remove("w/m2.ymap.xml")
    done = kit.check(["w"])
    check([f["rule"] for f in done.findings()].count("REF001") == 1, "a missing archetype was put down to a failed file")


def any_one_failed(kit):  # PAIN P053: each file of a clean world in turn
    kit.generate("w")
    paths = source_files(kit.path("w"))
    for path in paths:
        data = open(path, "rb").read()
        for cut in (len(data) - 12, len(data) // 2):
            write(path, data[:cut])
            done = kit.check(["w"], "--cache", "cache")
            name = os.path.relpath(path, kit.scratch)
            check(done.code == 1, f"{name} cut off: exit {done.code}")
            for f in done.findings():
                check(f["rule"].startswith("XML") and f["file"] == name,
                      f"{name} cut off: {f['file']}:{f['line']}: {f['message']} [{f['rule']}]")
            check(done.document()["summary"]["failed"] == [name], f"{name} cut off: {done.document()['summary']}")
        write(path, data)
    return f"{len(paths)} files"


def waivers(kit):  # of rules that look at other files
    s = Sources(kit)
    note = "<!-- lint-ok map-flags: the streamer of this game sets it -->\n"
    top = entity("qa_box", lodDist=200, childLodDist=50, numChildren=1, lodLevel="LOD")
    child = entity("qa_box", parentIndex=0, flags=8, lodLevel="HD")
    s.put("w/t.ytyp.xml", types_text("t", archetype("qa_box")))
    s.put("w/low.ymap.xml", map_text("low", child, parent="top"))
    s.put("w/top.ymap.xml", map_text("top", top, content=2, before=note))
    expect(kit, s, [])
    s.put("w/top.ymap.xml", map_text("top", "<!-- lint-ok LOD004: more come by script -->\n" + top.replace(
        'numChildren value="1"', 'numChildren value="3"'), content=2, flags=2))
    expect(kit, s, [])
    # One that hits nothing is told, but not where its rule was not asked: in a replaced file, beside a failed one.
    s.put("w/top.ymap.xml", map_text("top", top, content=2, flags=2, before=note))
    where = s.place("w/top.ymap.xml", "<!-- lint-ok")
    expect(kit, s, [("WVR001", "warning", (where[0], where[1], where[2]), "map-flags")])
    s.put("l/top.ymap.xml", map_text("top", top, content=2, flags=2))
    done = kit.check(["w"], "--layer", "l")
    check([f["rule"] for f in done.findings()] == ["NAM004"], f"of a replaced file: {done.findings()}")
    # What is waived is waived again when nothing was to do.
    kit.build(["w"], "out")
    check(kit.build(["w"], "out").findings() == kit.check(["w"]).findings(), "after a build without work")


def said_again(kit):  # a build without work says what the last one said, in each form
    s = Sources(kit)
    name = "qa_\u00e9l\u00e9phant"
    s.put("w/t.ytyp.xml", types_text("t", archetype("qa_box")))
    pair = f"<!-- {name} -->" + entity("qa_box").strip() + "\n" + " " * 3 + f"<!-- {name} -->" + entity("qa_box").strip() + "\n"
    s.put("w/m.ymap.xml", map_text("m", pair, content=3).replace(" <flags", f" <!-- \u2603 \U0001F600 --><flags"))
    for form in ("text", "json", "sarif"):
        kit.remove("out")
        first = kit.run("build", "w", "-o", "out", f"--diagnostics={form}", "--quiet")
        check(first.code == 0 and len(first.err) > 100, f"{form}: exit {first.code}: {first.err}")
        again = kit.run("build", "w", "-o", "out", f"--diagnostics={form}", "--quiet")

        def lines(run):
            return [l for l in run.err.splitlines() if "unchanged" not in l]

        check(form == "json" or lines(again) == lines(first),
              f"{form}:\n" + "\n".join(difflib.unified_diff(lines(first), lines(again), "first", "again", lineterm="", n=0)))


def repaired(kit):  # --fix over a whole world
    kit.generate("w")
    original = {p: open(p, "rb").read() for p in source_files(kit.path("w"))}
    maps = [s for s in map(Source, original) if s.root.name == "CMapData"]
    broken = {}

    def damage(source, node, value, attribute="value"):
        line = node.line
        write(source.path, with_value(source, node, value, attribute))
        broken.setdefault(source.path, set()).add(line)

    # One thing in each file, where the right value is what stood there.
    parents = [s for s in maps if any(e.number("numChildren") > 0 for e in s.entities())]
    damage(parents[0], next(e for e in parents[0].entities() if e.number("numChildren") > 0).child("numChildren"), 99)
    damage(parents[1], parents[1].root.child("flags"), int(parents[1].root.number("flags")) & ~2)
    occluded = next(s for s in maps if s.items("boxOccluders"))
    damage(occluded, occluded.root.child("contentFlags"), int(occluded.root.number("contentFlags")) & ~32)
    seen_far = next(s for s in maps if s.entities() and s.path not in broken)
    damage(seen_far, seen_far.root.child("streamingExtentsMax"), "0", "x")
    before = {p: open(p, "rb").read() for p in original}
    preview = kit.run("check", "w", "--fix=preview")
    check({p: open(p, "rb").read() for p in original} == before, "--fix=preview wrote")
    for path in broken:
        check(os.path.relpath(path, kit.scratch) in preview.out, f"--fix=preview does not show {path}")
    done = kit.check(["w"], "--fix")
    check(done.code == 0 and done.findings() == [], f"after --fix: {done.findings()[:3]}")
    for path, old in original.items():
        new = open(path, "rb").read()
        if path not in broken:
            check(new == old, f"--fix changed {path}, in which nothing was wrong")
        elif path != seen_far.path:
            check(new == old, f"--fix did not put back {path}")
        else:  # extents come out computed, all four of them; nothing else may differ
            lines = [n for n, (a, b) in enumerate(zip(before[path].splitlines(), new.splitlines()), 1) if a != b]
            check(all("Extents" in new.decode().splitlines()[n - 1] for n in lines), f"--fix changed lines {lines} of {path}")
    fixed = {p: open(p, "rb").read() for p in original}
    times = {p: os.stat(p).st_mtime_ns for p in original}
    check(kit.check(["w"], "--fix").code == 0, "--fix again")
    check(fixed == {p: open(p, "rb").read() for p in original}, "--fix twice is not --fix once")
    check(times == {p: os.stat(p).st_mtime_ns for p in original}, "--fix wrote files that need none")
    check(kit.run("check", "w", "--fix=preview").out == "", "--fix=preview shows a difference where there is none")
    # And while building: the outputs are those of the repaired sources.
    for path, data in before.items():
        write(path, data)
    check(kit.build(["w"], "out", "--fix").code == 0 and kit.clean_build(["w"]).code == 0, "build --fix")
    check({n: f[0] for n, f in Tree(kit.path("out")).files.items()} ==
          {n: f[0] for n, f in Tree(kit.path("clean")).files.items()}, "build --fix made other outputs")


CASES = [(f.__name__, f) for f in (failed_types, any_one_failed, waivers, said_again, repaired)]
