#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads compiled samples in other languages and holds what they find against the XML.

  run_languages.py --bin build/bin --flatc flatc --schemas schemas --samples samples/data --work build/work

1. Compiles the samples with imapc, itypc, gameconfigc and metac.
2. Reads the same facts straight out of the XML with expat; hashes are computed here.
3. JavaScript: flatc --ts, type-checked and compiled by TypeScript, run by Node with the npm package `flatbuffers`.
4. Python: flatc --python, run with the package `flatbuffers` (Debian: python3-flatbuffers).
5. flatc itself: --json --strict-json --raw-binary with our schemas.

npm packages are installed into the work folder, and so is the Debian package if it is not on the machine; without a
network the test fails and says what is missing.
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import xml.parsers.expat

# Versions that go with flatc 2.0.8; newer runtimes read the same bytes, but their APIs have moved on.
NPM_PACKAGES = ["flatbuffers@2.0.7", "typescript@5.4.5"]
PYTHON_PACKAGE = "python3-flatbuffers"


def fail(message):
    sys.exit("run_languages.py: " + message)


def run(command, **options):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
    if done.returncode != 0:
        fail("%s: exit %d\n%s%s" % (" ".join(command)[:300], done.returncode, done.stdout[-4000:], done.stderr[-4000:]))
    return done.stdout


# --- what the XML says ------------------------------------------------------------------------------------------------

def joaat(text):
    h = 0
    for b in text.encode("utf-8"):
        if 0x41 <= b <= 0x5A:
            b += 0x20
        h = (h + b) & 0xFFFFFFFF
        h = (h + (h << 10)) & 0xFFFFFFFF
        h ^= h >> 6
    h = (h + (h << 3)) & 0xFFFFFFFF
    h ^= h >> 11
    return (h + (h << 15)) & 0xFFFFFFFF


def name_hash(text):
    text = text.strip()
    if text.startswith("hash_"):
        return int(text[5:], 16)
    return joaat(text) if text else 0


def f32(text):
    return struct.unpack("<f", struct.pack("<f", float(text)))[0]


def tree(path):
    """The document as nested [name, attributes, children, text]."""
    root = ["", {}, [], ""]
    stack = [root]

    def start(name, attributes):
        node = [name, attributes, [], ""]
        stack[-1][2].append(node)
        stack.append(node)

    def data(text):
        stack[-1][3] += text

    parser = xml.parsers.expat.ParserCreate()
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda name: stack.pop()
    parser.CharacterDataHandler = data
    with open(path, "rb") as f:
        parser.Parse(f.read(), True)
    return root[2][0]


def child(node, name):
    return next((c for c in node[2] if c[0] == name), None)


def vector(node, name):
    found = child(node, name)
    return [f32(found[1][k]) if found else 0.0 for k in ("x", "y", "z")]


def items(node, name):
    found = child(node, name)
    return found[2] if found else []


def stem_of(path):
    return os.path.basename(path).split(".")[0]


def map_facts(path):
    root = tree(path)
    entities = items(root, "entities")
    name = child(root, "name")
    return {
        "name": name_hash(name[3]) if name else joaat(stem_of(path)),
        "entities": [[name_hash(child(e, "archetypeName")[3])] + vector(e, "position") for e in entities],
        "interiors": sum(e[1].get("type") == "CMloInstanceDef" for e in entities),
        "extensions": sum(len(items(e, "extensions")) for e in entities),
    }


def type_facts(path):
    root = tree(path)
    archetypes = items(root, "archetypes")
    name = child(root, "name")
    return {
        "name": name_hash(name[3]) if name else joaat(stem_of(path)),
        "archetypes": [[name_hash(child(a, "name")[3])] + vector(a, "bbMin") + vector(a, "bbMax") for a in archetypes],
        "interiors": sum(a[1].get("type") == "CMloArchetypeDef" for a in archetypes),
    }


# --- steps ------------------------------------------------------------------------------------------------------------

def compile_samples(args, out):
    """Compiles everything; gives {file name of the resource: (path, facts)}."""
    found = {}
    for tool, folder, suffix, extension, facts in (("imapc", "maps", ".ymap.xml", ".imap", map_facts),
                                                   ("itypc", "types", ".ytyp.xml", ".ityp", type_facts)):
        folder = os.path.join(args.samples, folder)
        sources = sorted(os.path.join(folder, f) for f in os.listdir(folder) if f.endswith(suffix))
        if not sources:
            fail("no samples in " + folder)
        run([os.path.join(args.bin, tool), "--quiet", "--out-dir", out] + sources)
        for source in sources:
            path = os.path.join(out, os.path.basename(source)[:-len(suffix)] + extension)
            found[os.path.basename(path)] = (path, facts(source))
    run([os.path.join(args.bin, "gameconfigc"), "--quiet", os.path.join(args.samples, "gameconfig.xml"), "-o", os.path.join(out, "gameconfig.gcfg")])
    run([os.path.join(args.bin, "metac"), "--quiet", os.path.join(args.samples, "_manifest.ymf.xml"), "-o", os.path.join(out, "_manifest.ymfm")])
    return found


def compare(language, seen, found):
    differences = []
    for name, (_, facts) in sorted(found.items()):
        got = seen.get(name)
        if got is None:
            differences.append("%s: not read" % name)
            continue
        for key, expected in facts.items():
            if got.get(key) == expected:
                continue
            if isinstance(expected, list) and isinstance(got.get(key), list):
                if len(expected) != len(got[key]):
                    differences.append("%s: %d %s, %d in the XML" % (name, len(got[key]), key, len(expected)))
                for i, (a, b) in enumerate(zip(expected, got[key])):
                    if a != b:
                        differences.append("%s: %s[%d] is %s, in the XML %s" % (name, key, i, b, a))
                        break
            else:
                differences.append("%s: %s is %s, in the XML %s" % (name, key, got.get(key), expected))
    if differences:
        fail("%s reads other values:\n  %s" % (language, "\n  ".join(differences)))
    print("%-12s %d files agree with their XML" % (language, len(found)))


def read_by_javascript(args, found):
    if not args.node or not args.npm or args.node.endswith("NOTFOUND") or args.npm.endswith("NOTFOUND"):
        fail("node and npm are needed (Debian: nodejs, npm)")
    folder = os.path.join(args.work, "js")
    stamp = os.path.join(folder, "node_modules", ".meridian")
    if not os.path.exists(stamp) or open(stamp).read() != " ".join(NPM_PACKAGES):
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "package.json"), "w") as f:
            f.write('{"private": true}\n')
        done = subprocess.run([args.npm, "install", "--no-audit", "--no-fund", "--loglevel=error"] + NPM_PACKAGES, cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            fail("npm cannot install %s (is the registry reachable?)\n%s" % (" ".join(NPM_PACKAGES), done.stdout[-2000:]))
        with open(stamp, "w") as f:
            f.write(" ".join(NPM_PACKAGES))
    source, compiled = os.path.join(folder, "ts"), os.path.join(folder, "generated")
    for path in (source, compiled):
        shutil.rmtree(path, ignore_errors=True)
    for schema in ("imap", "ityp", "gameconfig", "manifest"):
        run([args.flatc, "--ts", "--gen-all", "-I", args.schemas, "-o", source, os.path.join(args.schemas, "meridian", schema + ".fbs")])
    generated = [os.path.join(base, f) for base, _, files in os.walk(source) for f in files if f.endswith(".ts")]
    run([args.node, os.path.join(folder, "node_modules", "typescript", "bin", "tsc"), "--target", "es2020", "--module", "commonjs",
         "--moduleResolution", "node", "--skipLibCheck", "--outDir", compiled, "--rootDir", source] + sorted(generated))
    here = os.path.dirname(os.path.abspath(__file__))
    out = run([args.node, os.path.join(here, "read_maps.js"), compiled] + [path for path, _ in found.values()])
    compare("JavaScript", json.loads(out), found)


def read_by_python(args, found):
    generated = os.path.join(args.work, "py")
    shutil.rmtree(generated, ignore_errors=True)
    # One run for each file: with --gen-all the Python code of flatc 2.0.8 has no imports.
    for schema in ("common", "extensions", "imap", "ityp", "gameconfig", "manifest"):
        run([args.flatc, "--python", "-I", args.schemas, "-o", generated, os.path.join(args.schemas, "meridian", schema + ".fbs")])
    unpacked = os.path.join(args.work, "deb")
    packages = os.path.join(unpacked, "usr", "lib", "python3", "dist-packages")
    interpreter = next((p for p in (sys.executable, "/usr/bin/python3")
                        if os.path.exists(p) and subprocess.run([p, "-c", "import flatbuffers"], stderr=subprocess.DEVNULL).returncode == 0), None)
    if interpreter is None:
        interpreter = sys.executable
        if not os.path.isdir(os.path.join(packages, "flatbuffers")):
            os.makedirs(unpacked, exist_ok=True)
            done = subprocess.run("apt-get download %s && dpkg -x %s_*.deb ." % (PYTHON_PACKAGE, PYTHON_PACKAGE), shell=True, cwd=unpacked,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if done.returncode != 0:
                fail("no Python package flatbuffers: apt-get install %s\n%s" % (PYTHON_PACKAGE, done.stdout[-2000:]))
    here = os.path.dirname(os.path.abspath(__file__))
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([generated, packages]), PYTHONDONTWRITEBYTECODE="1")
    out = run([interpreter, os.path.join(here, "read_maps.py")] + [path for path, _ in found.values()], env=environment)
    compare("Python", json.loads(out), found)
    # What no sample uses must at least be Python.
    run([interpreter, "-c", "import compileall, sys; sys.exit(not compileall.compile_dir(sys.argv[1], quiet=1, force=True))", generated])


def read_by_flatc(args, found, compiled):
    folder = os.path.join(args.work, "json")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)

    def document(schema, path):
        run([args.flatc, "--json", "--strict-json", "--raw-binary", "--defaults-json", "-I", args.schemas, "-o", folder,
             os.path.join(args.schemas, "meridian", schema + ".fbs"), "--", path])
        with open(os.path.join(folder, os.path.splitext(os.path.basename(path))[0] + ".json")) as f:
            return json.load(f)

    seen = {}
    for name, (path, _) in found.items():
        if name.endswith(".imap"):
            d = document("imap", path)
            seen[name] = {"name": d["name"], "entities": [[e["archetype_name"]] + [f32(e["position"][k]) for k in "xyz"] for e in d.get("entities", [])],
                          "interiors": len(d.get("mlo_instances", [])), "extensions": len(d.get("entity_extensions", []))}
        else:
            d = document("ityp", path)
            seen[name] = {"name": d["name"], "archetypes": [[a["name"]] + [f32(a[b][k]) for b in ("bb_min", "bb_max") for k in "xyz"] for a in d.get("archetypes", [])],
                          "interiors": len(d.get("mlo_archetypes", []))}
    # flatc prints floats with six digits after the point: hold the XML's to the same.
    def rounded(value):
        return [rounded(v) for v in value] if isinstance(value, list) else f32("%.6f" % value) if isinstance(value, float) else value

    compare("flatc", {n: {k: rounded(v) for k, v in s.items()} for n, s in seen.items()},
            {n: (p, {k: rounded(v) for k, v in facts.items()}) for n, (p, facts) in found.items()})

    config = document("gameconfig", os.path.join(compiled, "gameconfig.gcfg"))
    expected = len(items(tree(os.path.join(args.samples, "gameconfig.xml")), "ConfigArray"))
    if len(config["config_array"]) != expected:
        fail("flatc: %d configurations, %d in the XML" % (len(config["config_array"]), expected))
    manifest = document("manifest", os.path.join(compiled, "_manifest.ymfm"))
    root = tree(os.path.join(args.samples, "_manifest.ymf.xml"))
    for member, element in (("map_data_groups", "MapDataGroups"), ("imap_dependencies_2", "imapDependencies_2"),
                            ("ityp_dependencies_2", "itypDependencies_2"), ("interiors", "Interiors")):
        if len(manifest.get(member, [])) != len(items(root, element)):
            fail("flatc: %d %s, %d in the XML" % (len(manifest.get(member, [])), member, len(items(root, element))))
    print("%-12s configuration and manifest have the counts of their XML" % "flatc")


def main():
    parser = argparse.ArgumentParser()
    for option in ("bin", "flatc", "schemas", "samples", "work"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--node", default=shutil.which("node"))
    parser.add_argument("--npm", default=shutil.which("npm"))
    parser.add_argument("--only", choices=["javascript", "python", "flatc"])
    args = parser.parse_args()
    compiled = os.path.join(args.work, "compiled")
    shutil.rmtree(compiled, ignore_errors=True)
    os.makedirs(compiled)
    found = compile_samples(args, compiled)
    if args.only in (None, "flatc"):
        read_by_flatc(args, found, compiled)
    if args.only in (None, "python"):
        read_by_python(args, found)
    if args.only in (None, "javascript"):
        read_by_javascript(args, found)


main()
