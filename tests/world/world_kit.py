# SPDX-License-Identifier: MIT
"""What the parts of run_world.py share: sources as trees with places, running worldc, comparing output folders."""

import json
import os
import shutil
import signal
import subprocess
import xml.parsers.expat


class Failure(Exception):
    pass


def check(condition, message):
    if not condition:
        raise Failure(message)


# --- sources ------------------------------------------------------------------------------------------

class Node:
    """An element: where it stands, what is in it."""

    def __init__(self, name, attributes, start, line, column, parent):
        self.name, self.attributes, self.parent = name, attributes, parent
        self.start, self.line, self.column = start, line, column  # offset of '<'; line and column of the name, from 1
        self.end = start  # behind '>' of the end tag
        self.children, self.text = [], ""

    def child(self, name):
        return next((c for c in self.children if c.name == name), None)

    def all(self, name):
        return [c for c in self.children if c.name == name]

    def find(self, *names):
        at = self
        for name in names:
            at = at.child(name) if at is not None else None
        return at

    def value(self, name, default=None):
        """Of a child: its `value`, else its text."""
        c = self.child(name)
        return default if c is None else c.attributes.get("value", c.text.strip())

    def number(self, name, default=0.0):
        text = self.value(name)
        return default if text in (None, "") else float(text)

    def vector(self, name):
        c = self.child(name)
        return [float(c.attributes[a]) for a in "xyz"]


class Source:
    """One XML file: its bytes, and its tree by another parser than the one under test."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = file.read()
        self.root = parse(self.data)

    def items(self, *names):
        at = self.root.find(*names)
        return [] if at is None else at.all("Item")

    def entities(self):
        return self.items("entities")


def parse(data):
    parser = xml.parsers.expat.ParserCreate()
    stack, top = [], []

    def begin(name, attributes):
        node = Node(name, attributes, parser.CurrentByteIndex, parser.CurrentLineNumber, parser.CurrentColumnNumber + 2,
                    stack[-1] if stack else None)
        (stack[-1].children if stack else top).append(node)
        stack.append(node)

    def end(name):
        node = stack.pop()
        tag_end = data.index(b">", node.start)  # our sources have no '>' in attributes
        is_empty = data[tag_end - 1:tag_end] == b"/"
        node.end = tag_end + 1 if is_empty else data.index(b">", parser.CurrentByteIndex) + 1

    def text(t):
        stack[-1].text += t

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, text
    parser.Parse(data, True)
    return top[0]


def write(path, data):
    """As editors do: a new file in the old one's place."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + "~", "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.rename(path + "~", path)


def with_value(source, node, value, attribute="value"):
    """The bytes with another attribute, or text, of an element."""
    data, value = source.data, str(value).encode()
    tag_end = data.index(b">", node.start)
    if attribute in node.attributes:
        at = data.index(attribute.encode() + b'="', node.start, tag_end) + len(attribute) + 2
        return data[:at] + value + data[data.index(b'"', at):]
    name = node.name.encode()
    return data[:node.start] + b"<" + name + b">" + value + b"</" + name + b">" + data[node.end:]


def without(source, node):
    return source.data[:node.start] + source.data[node.end:]


def doubled(source, node):
    return source.data[:node.end] + b"\n" + source.data[node.start:node.end] + source.data[node.end:]


def source_files(folder):
    found = []
    for where, folders, names in os.walk(folder):
        folders.sort()
        found += [os.path.join(where, n) for n in sorted(names) if n.endswith(".xml")]
    return found


def fold(name):
    return "".join(c.lower() if "A" <= c <= "Z" else c for c in name)


# --- programs -----------------------------------------------------------------------------------------

class Run:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def document(self):
        try:
            return json.loads(self.err)
        except ValueError:
            raise Failure(f"standard error is no JSON document (exit {self.code}): {self.err[:400]}") from None

    def findings(self):
        return self.document()["diagnostics"]

    def said(self):
        """All that two runs over the same sources must have in common."""
        d = self.document()
        return {"exit": self.code, "diagnostics": d["diagnostics"],
                "summary": {k: v for k, v in d["summary"].items() if k != "unchanged"}}


def as_started_by_a_user():
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored in background jobs, and inherited


class Kit:
    """Where the programs are, and a scratch folder."""

    def __init__(self, programs, scratch, rng):
        self.programs, self.scratch, self.rng = programs, scratch, rng
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "MERIDIAN_"))}
        self.environment.update(LC_ALL="C", NO_COLOR="1", TZ="UTC")
        self.built = 0

    def path(self, *parts):
        return os.path.join(self.scratch, *parts)

    def start(self, *args, program="worldc", cwd=None, environment=None, before=as_started_by_a_user):
        return subprocess.Popen([os.path.join(self.programs, program), *args], cwd=cwd or self.scratch,
                                env=environment or self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, preexec_fn=before)

    def run(self, *args, **how):
        child = self.start(*args, **how)
        out, err = child.communicate(timeout=300)
        code = child.returncode
        check(code >= 0, f"{args}: killed by signal {-code}: {err.decode('utf-8', 'replace')[-400:]}")
        check(code != 4, f"{args}: internal fault: {err.decode('utf-8', 'replace')[-400:]}")
        return Run(code, out.decode("utf-8", "replace"), err.decode("utf-8", "replace"))

    def build(self, sources, out, *more, **how):
        self.built += 1
        return self.run("build", *sources, "-o", out, "--diagnostics=json", *more, **how)

    def check(self, sources, *more, **how):
        return self.run("check", *sources, "--diagnostics=json", *more, **how)

    def clean_build(self, sources, *more, out="clean", **how):
        shutil.rmtree(self.path(out), ignore_errors=True)
        return self.build(sources, out, *more, **how)

    def generate(self, folder, *more):
        done = self.run("--xml", "-o", folder, *(more or ("--preset", "small")), program="worldgen")
        check(done.code == 0, "worldgen: " + done.err)
        return folder

    def copy(self, folder, to):
        shutil.rmtree(self.path(to), ignore_errors=True)
        shutil.copytree(self.path(folder), self.path(to))
        return to

    def remove(self, *folders):
        for folder in folders:
            shutil.rmtree(self.path(folder), ignore_errors=True)


# --- outputs ------------------------------------------------------------------------------------------

class Tree:
    """The files below an output folder, what the program keeps for itself left out."""

    def __init__(self, folder):
        self.folder, self.files = folder, {}
        for where, folders, names in os.walk(folder):
            folders[:] = sorted(f for f in folders if f != ".worldc")
            for name in names:
                path = os.path.join(where, name)
                status = os.stat(path)
                with open(path, "rb") as file:
                    self.files[os.path.relpath(path, folder)] = (file.read(), status.st_ino, status.st_mtime_ns)


def same_bytes(a, b, when):
    for name in sorted(set(a.files) | set(b.files)):
        check(name in a.files, f"{when}: {a.folder} lacks {name}, which a clean build makes")
        check(name in b.files, f"{when}: {a.folder} has {name}, which a clean build does not make")
        check(a.files[name][0] == b.files[name][0], f"{when}: {name} differs from that of a clean build")


def kept(before, after, when):
    """What has the bytes of before was not touched. PAIN P057."""
    for name, (data, node, time) in before.files.items():
        if name in after.files and after.files[name][0] == data:
            check(after.files[name][1:] == (node, time), f"{when}: {name} was written again with the same bytes")


def untouched(before, after, when):
    check(before.files == after.files,
          f"{when}: changed: {sorted(n for n in set(before.files) | set(after.files) if before.files.get(n) != after.files.get(n))}")


def equals_clean(kit, sources, out, when, *more):
    """One more build of `out` says and makes what a build in a fresh folder does."""
    before = Tree(kit.path(out))
    step, clean = kit.build(sources, out, *more), kit.clean_build(sources, *more)
    after, fresh = Tree(kit.path(out)), Tree(kit.path("clean"))
    a, b = step.said(), clean.said()
    check(a == b, f"{when}: says otherwise than a clean build:\n  {json.dumps(a)[:1500]}\n  {json.dumps(b)[:1500]}")
    if step.code == 0:
        same_bytes(after, fresh, when)
        kept(before, after, when)
    else:
        untouched(before, after, when + " (with errors)")
        check(not fresh.files, f"{when}: a failed build left {sorted(fresh.files)[:5]}")
    return step
