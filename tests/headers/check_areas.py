#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that an area of the runtime includes only itself and areas to the left of it.

  check_areas.py RUNTIME_DIR    reads include/meridian/<area>/, src/<area>/ and the same below jobs_tbb/
  check_areas.py --self-test    the check finds what is wrong in a small tree

Exit 0, or 1 with a line for each include that is wrong: file, line, what is included, and why not.
"""
import os
import re
import sys
import tempfile

AREAS = ["base", "core", "jobs", "resource", "stream", "entity", "scene", "visibility", "search", "map", "game"]
# Folders that includes may name beside the areas: what flatc writes, and libraries.
OTHERS = {"schemas", "compat", "flatbuffers", "hwy", "oneapi", "tbb", "sys"}
# Files of no area: the umbrella includes all.
NO_AREA = {"include/meridian/meridian.h"}
# (file, included): why it is so nevertheless. Each must be met, or it has to go.
EXCEPTIONS = {}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
PLACE = re.compile(r"^(?:jobs_tbb/)?(?:include/meridian|src)/(?:(\w+)/)?[^/]*$")


def sources(runtime):
    for top in ("include", "src", "jobs_tbb/include", "jobs_tbb/src"):
        for folder, _, names in sorted(os.walk(os.path.join(runtime, top))):
            for name in sorted(names):
                if name.endswith((".h", ".cpp")):
                    yield os.path.relpath(os.path.join(folder, name), runtime)


def area_of(file):
    """The area that a file is in; jobs_tbb/src has only one. None: it is in no area."""
    place = PLACE.match(file)
    if file.startswith("jobs_tbb/src/"):
        return "jobs"
    return place.group(1) if place and place.group(1) in AREAS else None


def why_not(area, included):
    """Why a file of this area must not include that; None if it may."""
    parts = included.split("/")
    if len(parts) > 1 and parts[0] == "meridian":
        parts = parts[1:]
        if parts == ["meridian.h"]:
            return "the umbrella is for programs"
    if len(parts) == 1 or parts[0] in OTHERS:  # the standard library, or a library's own header
        return None
    if parts[0] not in AREAS:
        return f"{parts[0]} is no area"
    if AREAS.index(parts[0]) > AREAS.index(area):
        return f"{parts[0]} is to the right of {area}"
    return None


def check(runtime, exceptions):
    wrong, count, met = [], 0, set()
    for file in sources(runtime):
        count += 1
        if file in NO_AREA:
            continue
        area = area_of(file)
        if area is None:
            wrong.append(f"{file}: is in no area")
            continue
        with open(os.path.join(runtime, file), encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                found = INCLUDE.match(line)
                reason = why_not(area, found.group(1)) if found else None
                if reason and (file, found.group(1)) in exceptions:
                    met.add((file, found.group(1)))
                elif reason:
                    wrong.append(f"{file}:{number}: includes {found.group(1)}: {reason}")
    wrong += [f"{file}: no longer includes {included}: its exception can go"
              for file, included in sorted(set(exceptions) - met)]
    if count == 0:
        wrong.append(f"{runtime}: no files there")
    return wrong


def self_test():
    tree = {
        "include/meridian/meridian.h": '#include "meridian/map/map.h"\n',
        "include/meridian/base/a.h": '#include <span>\n#include "meridian/base/b.h"\n',
        "include/meridian/entity/e.h": '#include "meridian/core/c.h"\n\n#include "meridian/scene/s.h"\n',
        "include/meridian/scene/s.h": '#include "meridian/entity/e.h"\n#include "meridian/schemas/imap_generated.h"\n',
        "include/meridian/odd/o.h": "",
        "src/core/c.cpp": '// #include "map/text.h"\n  #  include "map/loading.h"\n#include <hwy/highway.h>\n',
        "src/map/m.cpp": '#include "core/c.h"\n#include "meridian/tools/cli.h"\n#include "meridian/meridian.h"\n',
        "src/search/s.cpp": '#include "map/one.h"\n',
        "jobs_tbb/include/meridian/jobs/t.h": '#include "meridian/resource/r.h"\n',
        "jobs_tbb/src/t.cpp": '#include <tbb/task_arena.h>\n#include "meridian/entity/e.h"\n',
    }
    exceptions = {("src/search/s.cpp", "map/one.h"): "met", ("src/map/m.cpp", "map/gone.h"): "not met"}
    expected = [
        "include/meridian/entity/e.h:3: includes meridian/scene/s.h: scene is to the right of entity",
        "include/meridian/odd/o.h: is in no area",
        "jobs_tbb/include/meridian/jobs/t.h:1: includes meridian/resource/r.h: resource is to the right of jobs",
        "jobs_tbb/src/t.cpp:2: includes meridian/entity/e.h: entity is to the right of jobs",
        "src/core/c.cpp:2: includes map/loading.h: map is to the right of core",
        "src/map/m.cpp: no longer includes map/gone.h: its exception can go",
        "src/map/m.cpp:2: includes meridian/tools/cli.h: tools is no area",
        "src/map/m.cpp:3: includes meridian/meridian.h: the umbrella is for programs",
    ]
    with tempfile.TemporaryDirectory() as runtime:
        for file, text in tree.items():
            os.makedirs(os.path.dirname(os.path.join(runtime, file)), exist_ok=True)
            with open(os.path.join(runtime, file), "w", encoding="utf-8") as out:
                out.write(text)
        found = sorted(check(runtime, exceptions))
    missed = [f"not found: {line}" for line in expected if line not in found]
    return missed + [f"found, but right: {line}" for line in found if line not in expected]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    faults = self_test() if sys.argv[1] == "--self-test" else check(sys.argv[1], EXCEPTIONS)
    for fault in faults:
        print(fault, file=sys.stderr)
    sys.exit(1 if faults else 0)
