#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds the pool sizes of real game configurations against those that the XML gives by the rules of its filters.

  check_pool_sizes.py --gameconfigc P --resinfo P --corpus DIR --work DIR

For each file below DIR with root fwAllConfigs: compiles it whole, and for every build and platform, with and without
each parameter of the file, compares `resinfo pools --json` (the runtime's selection and merge) with what this script
finds in the XML; and likewise after `gameconfigc --for` has selected beforehand. Shares no code with what it tests.
Exit 0, 1 on failures, 77 (skipped) if there is no such file.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

# What each word of a build filter is for, from the meaning of the words.
BUILDS = {
    "any": "debug beta bankrelease release profile final",
    "bank": "debug beta bankrelease",
    "bankrelease": "bankrelease",
    "beta": "beta",
    "debug": "debug",
    "dev": "debug beta",
    "final": "final",
    "nonfinal": "debug beta bankrelease release profile",
    "profile": "profile",
    "release": "release profile",
}
# Likewise for platforms, each by its first name.
PLATFORMS = {
    "any": "ps3 psp2 x64 xbox360 xboxone ps4 xbsx ps5 linux",
    "ps3": "ps3", "psn": "ps3",
    "psp2": "psp2",
    "x64": "x64 linux",
    "xbox360": "xbox360", "xenon": "xbox360",
    "xboxone": "xboxone",
    "ps4": "ps4",
    "xbsx": "xbsx", "scarlett": "xbsx",
    "ps5": "ps5", "prospero": "ps5",
    "linux": "linux",
}


def words(item, element):
    return [word.lower() for word in re.split(r"[\s,|]+", item.findtext(element) or "") if word]


def applies(item, build, platform, parameters):
    builds, platforms, wanted = words(item, "Build"), words(item, "Platforms"), words(item, "Param")
    if builds and not any(build in BUILDS.get(word, "").split() for word in builds):
        return False
    if platforms and not any(platform in PLATFORMS.get(word, "").split() for word in platforms):
        return False
    return build == "final" or not wanted or any(word in parameters for word in wanted)


def expected_pools(items, build, platform, parameters):
    """Name in lower case -> (size, index of the configuration among all)."""
    pools = {}
    for index, item in enumerate(items):
        if applies(item, build, platform, parameters):
            for entry in item.findall("Config/PoolSizes/Entries/Item"):
                pools[entry.findtext("PoolName").strip().lower()] = (int(entry.find("PoolSize").get("value")), index)
    return pools


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def seen_pools(resinfo, resource, target):
    report = json.loads(run([resinfo, "pools", "--json", "--for", target, resource]))
    if report["messages"]:
        raise RuntimeError(f"{resource} for {target}: unexpected messages {report['messages']}")
    return {pool["name"].lower(): (pool["size"], pool["configuration"]) for pool in report["pools"]}


def differences(seen, expected):
    for name in sorted(seen.keys() | expected.keys()):
        if seen.get(name) != expected.get(name):
            yield f"{name}: runtime has {seen.get(name)}, XML has {expected.get(name)}"


def check_file(options, source, items):
    resource = os.path.join(options.work, os.path.basename(source) + ".gcfg")
    run([options.gameconfigc, "--quiet", source, "-o", resource])
    parameters = sorted({word for item in items for word in words(item, "Param")})
    faults, sizes = [], set()
    for build in BUILDS["any"].split():
        for platform in PLATFORMS["any"].split():
            for given in [[]] + [[parameter] for parameter in parameters]:
                target = ",".join([f"build={build}", f"platform={platform}"] + [f"param={p}" for p in given])
                expected = expected_pools(items, build, platform, given)
                sizes.add(tuple(sorted(expected.items())))
                faults += [f"{target}: {text}" for text in differences(seen_pools(options.resinfo, resource, target), expected)]
        # Selected beforehand: the same sizes, though the configurations that are left have other places in the file.
        target = f"build={build},platform=x64"
        run([options.gameconfigc, "--quiet", source, "--for", target, "-o", resource + ".x64.gcfg"])
        seen = {name: size for name, (size, _) in seen_pools(options.resinfo, resource + ".x64.gcfg", target).items()}
        wanted = {name: size for name, (size, _) in expected_pools(items, build, "x64", []).items()}
        faults += [f"{target}, selected beforehand: {text}" for text in differences(seen, wanted)]
    return faults, len(sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("gameconfigc", "resinfo", "corpus", "work"):
        parser.add_argument("--" + option, required=True)
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    checked = failed = 0
    for folder, folders, names in os.walk(options.corpus):
        folders.sort()
        for name in sorted(names):
            source = os.path.join(folder, name)
            with open(source, "rb") as file:
                if not name.endswith(".xml") or b"fwAllConfigs" not in file.read():
                    continue
            root = ElementTree.parse(source).getroot()
            if root.tag != "fwAllConfigs":
                continue
            faults, kinds = check_file(options, source, root.findall("ConfigArray/Item"))
            checked += 1
            failed += bool(faults)
            for fault in faults:
                print(f"{name}: {fault}")
            print(f"{name}: {'FAILED' if faults else f'{kinds} different sets of sizes, all as in the XML'}")
    if checked == 0:
        print("skipped: no game configurations in " + options.corpus)
        return 77
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
