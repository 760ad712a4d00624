# SPDX-License-Identifier: MIT
"""`worldc watch`: edits, new folders, errors, a changed world.json, a root that goes and comes back. WORLD-3.

Nothing sleeps for a fixed time: each step waits for what it must bring about, and fails after a long while.
"""

import json
import os
import shutil
import signal
import threading
import time

from edits import Editor
from world_kit import Source, Tree, check, same_bytes, source_files, with_value, write

PATIENCE = 60.0  # [s]


class Watch:
    """A running program whose lines are collected as they come."""

    def __init__(self, kit, *args):
        self.child = kit.start("watch", *args)
        self.lines, self.changed = [], threading.Condition()
        self.readers = [threading.Thread(target=self.read, args=(s,), daemon=True)
                        for s in (self.child.stdout, self.child.stderr)]
        for reader in self.readers:
            reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()

    def read(self, stream):
        for line in stream:
            with self.changed:
                self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))
                self.changed.notify_all()

    def wait_for(self, what, seen):
        """Until `seen(lines since the last wait)` holds; those lines."""
        end = time.monotonic() + PATIENCE
        with self.changed:
            while not seen(self.lines):
                check(self.child.poll() is None, f"{what}: ended with {self.child.returncode}: {self.lines}")
                left = end - time.monotonic()
                check(left > 0, f"{what}: not seen in {PATIENCE} s: {self.lines}")
                self.changed.wait(min(left, 1))
            lines, self.lines = self.lines, []
            return lines

    def built(self, what, beginning="built: "):
        return self.wait_for(what, lambda lines: any(l.startswith(beginning) for l in lines))

    def stop(self):
        self.child.send_signal(signal.SIGINT)
        code = self.child.wait(timeout=PATIENCE)
        for reader in self.readers:
            reader.join(timeout=PATIENCE)
        return code


def eventually(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        check(time.monotonic() < end, f"{what}: not in {PATIENCE} s")
        time.sleep(0.02)


def session(kit, *more):
    kit.remove("w", "out", "winter", "clean")
    kit.generate("w")
    editor = Editor(kit, "w")
    with Watch(kit, "w", "-o", "out", "--quiet", *more) as watch:
        watch.built("first build")
        before = Tree(kit.path("out"))

        source, e = editor.with_entity()
        node = e.child("position")
        write(source.path, with_value(source, node, float(node.attributes["x"]) + 0.5, "x"))
        watch.built("an edit")
        name = "imap/" + os.path.basename(source.path).split(".")[0] + ".imap"
        after = Tree(kit.path("out"))
        check(after.files[name][0] != before.files[name][0], f"{name} was not made again")
        check(kit.clean_build(["w"]).code == 0, "clean build")
        same_bytes(after, Tree(kit.path("clean")), "after an edit")

        write(source.path, source.data[:len(source.data) // 2])
        watch.wait_for("a broken file", lambda lines: any(l == "not built: 1 error" for l in lines) and
                       any("error: " in l and os.path.basename(source.path) in l for l in lines))
        check(Tree(kit.path("out")).files == after.files, "a failed build touched the outputs")
        write(source.path, source.data)
        watch.built("repaired")
        check(Tree(kit.path("out")).files[name][0] == before.files[name][0], f"{name} is not what it was")

        os.makedirs(kit.path("w", "new", "er"))  # then, maybe before it is seen, a file in it
        write(kit.path("w", "new", "er", "watched_copy.ymap.xml"), source.data.replace(b"<name>", b"<name>x", 1))
        eventually("a map in a new folder", lambda: os.path.exists(kit.path("out", "imap", "watched_copy.imap")))
        shutil.rmtree(kit.path("w", "new"))
        eventually("a folder gone", lambda: not os.path.exists(kit.path("out", "imap", "watched_copy.imap")))

        write(kit.path("w", "world.json"), '{"layers": [{"path": "."}, {"path": "../winter"}]}')
        watch.wait_for("a layer that is not there", lambda lines: any("winter" in l and "world.json:1:" in l for l in lines))
        write(kit.path("winter", os.path.basename(source.path)), source.data.replace(b'<lodDist value="', b'<lodDist value="1', 1))
        eventually("the layer in place", lambda: Tree(kit.path("out")).files[name][0] != before.files[name][0])
        write(kit.path("w", "world.json"), '{"layrs": []}')
        watch.wait_for("a wrong key", lambda lines: any("'layrs' is no key" in l for l in lines))
        os.remove(kit.path("w", "world.json"))
        watch.built("without the layer")  # and the line of the round before is heard
        check(Tree(kit.path("out")).files[name][0] == before.files[name][0], "the layer is gone, its map is not")

        os.rename(kit.path("w"), kit.path("elsewhere"))
        watch.wait_for("the root gone", lambda lines: any(l.startswith("not built") for l in lines))
        os.rename(kit.path("elsewhere"), kit.path("w"))
        watch.wait_for("the root back", lambda lines: any(l == "nothing to do" or l.startswith("built") for l in lines))
        code = watch.stop()
        check(code == 130, f"ended with {code} on Ctrl-C")


def idle(kit):
    """While nothing changes it does nothing: the processor time of half a second of waiting is small."""
    kit.remove("w", "out")
    kit.generate("w")
    for more in ([], ["--poll"]):
        with Watch(kit, "w", "-o", "out", "--quiet", *more) as watch:
            watch.wait_for("first build", lambda lines: any(l.startswith(("built", "nothing")) for l in lines))
            begin, spent = time.monotonic(), spent_by(watch.child.pid)
            while time.monotonic() < begin + 0.5:
                time.sleep(0.05)
            share = (spent_by(watch.child.pid) - spent) / (time.monotonic() - begin)
            check(share < 0.5, f"{more}: {share:.0%} of a processor while nothing happens")
            check(watch.stop() == 130, "exit code")


def last_findings_stay(kit):
    """What the last build found is still in the file of messages after Ctrl-C."""
    kit.remove("w", "out")
    kit.generate("w")
    source = next(s for s in map(Source, source_files(kit.path("w"))) if s.root.name == "CMapData" and s.entities())
    write(source.path, with_value(source, source.entities()[0].child("lodDist"), -7))
    with Watch(kit, "w", "-o", "out", "--quiet", "--diagnostics=json", "--diagnostics-file", "found.json") as watch:
        watch.built("first build")
        check(watch.stop() == 130, "exit code")
    with open(kit.path("found.json"), encoding="utf-8") as file:
        rules = {d["rule"] for d in json.load(file)["diagnostics"]}
    check("LOD006" in rules, f"found.json has only {sorted(rules)}")


def spent_by(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(kit):
    session(kit)
    session(kit, "--poll")
    idle(kit)
    last_findings_stay(kit)
    return "told of changes and looking for them"
