#!/usr/bin/env python3
"""Turns the results of the benchmark programs into the table of performance targets.

Usage: bench_table.py FOLDER [--only ID] [--json FILE]

FOLDER holds Google Benchmark reports with repetitions (compile.json, load.json, map.json, pack.json, core.json, search.json,
box_tree.json, occlusion.json, scan.json), and program.json: what bench.sh measured of the programs themselves.
Each row: id, case, ours, peer, peer's name, unit, ratio, target, whether it holds. Ratios come from one run of one machine;
absolute figures are medians.
"""
import argparse
import itertools
import json
import os
import statistics


def load(path):
    """What a program wrote, or nothing: bench.sh runs only what is asked for."""
    return json.load(open(path, encoding="utf-8")) if os.path.exists(path) else {}


def medians(path):
    runs, spread = {}, {}
    for b in load(path).get("benchmarks", []):
        name = b["name"].split("/")[0] if "window" not in b["name"] else b["name"].replace("/real_time", "")
        name = name.split("_median")[0]
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}[b["time_unit"]]
        if b.get("run_type") == "aggregate":
            continue
        runs.setdefault(name, []).append(b["real_time"] * unit)
    for name, values in runs.items():
        values.sort()
        spread[name] = (values[-1] - values[0]) / values[len(values) // 2]
        runs[name] = values[len(values) // 2]
    return runs, spread


class Paired:
    """What contenders took that were measured in turn, by repetition: ratios are those of the same repetition."""

    def __init__(self):
        self.times = {}

    def median(self, name):
        return statistics.median(self.times[name])

    def ratio(self, a, b):
        return statistics.median(x / y for x, y in zip(self.times[a], self.times[b]))


def paired(path, spread):
    """Cases whose counters are microseconds of contenders."""
    cases = {}
    for b in load(path).get("benchmarks", []):
        if b.get("run_type") == "aggregate":
            continue
        times = cases.setdefault(b["name"].split("/")[0], Paired()).times
        for name in b.keys() & {"scan", "plain", "boost_rtree", "bullet_dbvt", "two_threads", "two_scans", "scalar", "SSE4", "AVX2", "AVX-512", "NEON", "still", "moving"}:
            times.setdefault(name, []).append(b[name])
    for case, of in cases.items():
        for name, values in of.times.items():
            spread[f"{case}_{name}"] = (max(values) - min(values)) / statistics.median(values)
    return cases


def flights(row, name, r, all_flights):
    """A flight that fly_bench made; times are of the owner's thread."""
    if name == "gta":
        row("PERF-7", "owner's thread, 99.9 % of updates", r["p99_9_us"], 1000, "limit", "us", r["p99_9_us"] / 1000, "<= 1", r["p99_9_us"] <= 1000)
        most = r["budget_us"] + r["longest_chunk_us"]
        row("PERF-7", "longest update", r["max_us"], most, "budget and a chunk", "us", r["max_us"] / most, "<= 1", r["max_us"] <= most)
        row("PERF-7", "median update", r["median_us"], r["mean_us"], "mean", "us", r["median_us"] / r["mean_us"], "", None)
        row("PERF-7", "heap allocations in flight", r["allocations"], 0, "limit", "1", r["allocations"], "<= 0", r["allocations"] == 0)
        row("PERF-7", "resident bytes, peak", r["peak_bytes"] / 1e6, r["budget_bytes"] / 1e6, "budget", "MB", r["peak_bytes"] / r["budget_bytes"], "<= 1", r["peak_bytes"] <= r["budget_bytes"])
        row("PERF-7", "holes in LOD chains", r["holes"], r["chains"], "chains", "1", r["holes"] / max(1, r["chains"]), "<= 0", r["holes"] == 0)
        row("PERF-7", "maps that came late", r["late"], r["placed"], "maps", "1", r["late"] / max(1, r["placed"]), "", None)
        chain = r.get("chain", {})
        for part, text in (("streaming", "streaming"), ("occluders", "picture of occluders"), ("scan_start", "scan, to its start"), ("scan_read", "scan, read to its end"), ("frame", "whole frame")):
            for key, quantile in (("p50_us", "median"), ("p99_us", "99 %"), ("p99_9_us", "99.9 %"), ("max_us", "longest")):
                if chain:
                    row("PERF-7", f"chain: {text}, {quantile}", chain[part][key], chain["frame"][key], "whole frame", "us", chain[part][key] / chain["frame"][key], "", None)
        if chain:
            row("PERF-7", "chain: heap allocations of scans", chain["allocations"], 0, "limit", "1", chain["allocations"], "<= 0", chain["allocations"] == 0)
    if name == "slow":
        blind = all_flights["slow_blind"]
        row("PERF-7", "slow device: late maps", r["late"], blind["late"], "no look-ahead", "1", r["late"] / max(1, blind["late"]), "<= 0.5", 2 * r["late"] <= blind["late"])
        row("PERF-7", "slow device: late, worst", r["worst_late"] * 1e3, blind["worst_late"] * 1e3, "no look-ahead", "ms", r["worst_late"] / max(1e-9, blind["worst_late"]), "", None)
        row("PERF-7", "slow device: longest update", r["max_us"], all_flights["gta"]["max_us"], "fast device", "us", r["max_us"] / all_flights["gta"]["max_us"], "", None)
    if name == "double":
        half = all_flights["half"]
        row("PERF-9", f"mean update, {r['maps']} maps", r["mean_us"], half["mean_us"], f"{half['maps']} maps", "us", r["mean_us"] / half["mean_us"], "<= 1.1", r["mean_us"] <= 1.1 * half["mean_us"])
        row("PERF-9", f"median update, {r['maps']} maps", r["median_us"], half["median_us"], f"{half['maps']} maps", "us", r["median_us"] / half["median_us"], "<= 1.1", r["median_us"] <= 1.1 * half["median_us"])
    if name == "huge":
        row("PERF-9", f"resident bytes, {r['maps']} maps", r["peak_bytes"] / 1e6, r["budget_bytes"] / 1e6, "budget", "MB", r["peak_bytes"] / r["budget_bytes"], "<= 1", r["peak_bytes"] <= r["budget_bytes"])
        row("PERF-9", f"owner's thread, 99.9 %, {r['maps']} maps", r["p99_9_us"], 1000, "limit", "us", r["p99_9_us"] / 1000, "<= 1", r["p99_9_us"] <= 1000)
        row("PERF-9", "index, a map", r["bytes_a_map"], 200, "limit", "B", r["bytes_a_map"] / 200, "<= 1", r["bytes_a_map"] <= 200)
        row("PERF-9", "index, an archetype", r["bytes_an_archetype"], 100, "limit", "B", r["bytes_an_archetype"] / 100, "<= 1", r["bytes_an_archetype"] <= 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only")
    parser.add_argument("--json")
    args = parser.parse_args()
    reports = {n: medians(f"{args.folder}/{n}.json") for n in ("compile", "load", "map", "pack", "core", "search", "box_tree", "occlusion", "scan")}
    c, l, m, k, o, q, t, v, w = (reports[n][0] for n in reports)
    spread = {name: s for _, spreads in reports.values() for name, s in spreads.items()}
    p, f = load(f"{args.folder}/program.json"), load(f"{args.folder}/flight.json")
    rows = []

    def row(id, case, ours, peer, peer_name, unit, ratio, target, holds):
        rows.append(dict(id=id, case=case, ours=ours, peer=peer, peer_name=peer_name, unit=unit, ratio=ratio, target=target, holds=holds))

    if c and p:
        tiny, pugi = c["BM_tinyxml2_plain_parse"], c["BM_pugixml_plain_parse"]
        one, two = c["BM_imapc_one_thread"], c["BM_imapc_two_threads"]
        row("PERF-4", "imapc 50 MB, one thread", one * 1e3, tiny * 1e3, "tinyxml2 parse", "ms", one / tiny, "<= 1", one <= tiny)
        row("PERF-4", "imapc 50 MB, two threads", two * 1e3, tiny * 1e3, "tinyxml2 parse", "ms", tiny / two, ">= 1.7", tiny / two >= 1.7)
        row("PERF-4", "imapc 50 MB, one thread", one * 1e3, pugi * 1e3, "pugixml parse", "ms", one / pugi, "", None)
        memory = p["private_bytes"] / p["source_bytes"]
        row("PERF-4", "private memory of imapc, peak", p["private_bytes"] / 1e6, p["source_bytes"] / 1e6, "the file", "MB", memory, "<= 2", memory <= 2)
        for name in sorted((n for n in c if "window" in n), key=lambda n: int(n.split("/")[1]) if "/" in n else 1 << 40):
            row("PERF-4", name.replace("BM_imapc_", "").replace("/", " of bytes: "), c[name] * 1e3, tiny * 1e3, "tinyxml2 parse", "ms", c[name] / tiny, "", None)
        rate = p["files"] / p["small_seconds"]
        row("PERF-4", f"imapc, {p['files']} small files, two threads", rate, 1000, "limit", "1/s", rate / 1000, ">= 1", rate >= 1000)
        row("PERF-4", f"worldc build, {p['files']} small maps, two threads", p["world_seconds"], p["small_seconds"], "imapc alone", "s", p["world_seconds"] / p["small_seconds"], "", None)
        row("PERF-4", "worldc build with nothing to do", p["noop_seconds"], 0.5, "limit", "s", p["noop_seconds"] / 0.5, "<= 1", p["noop_seconds"] < 0.5)
        rules = p["check_seconds"] / p["unchecked_seconds"]
        row("LINT-2", "worldc check, 1000 files, two threads", p["check_seconds"] * 1e3, p["unchecked_seconds"] * 1e3, "without rules", "ms", rules, "<= 1.3", rules <= 1.3)
    if l and k:
        limit = l["BM_xxh3"] + l["BM_flatbuffers_verifier"] + l["BM_semantic_by_hand"]
        opened = l["BM_open_in_place"]
        row("PERF-5", "open 4 MB in place", opened * 1e6, limit * 1e6, "its parts alone", "us", opened / limit, "<= 1.3", opened <= 1.3 * limit)
        row("PERF-5", "open 4 MB in place", opened * 1e6, l["BM_memcpy"] * 1e6, "memcpy", "us", opened / l["BM_memcpy"], "", None)
        row("PERF-5", "checksum alone", l["BM_xxh3"] * 1e6, l["BM_memcpy"] * 1e6, "memcpy", "us", l["BM_xxh3"] / l["BM_memcpy"], "", None)
        row("PERF-5", "verifier alone", l["BM_flatbuffers_verifier"] * 1e6, opened * 1e6, "open", "us", l["BM_flatbuffers_verifier"] / opened, "", None)
        row("PERF-5", "semantic checks by hand", l["BM_semantic_by_hand"] * 1e6, opened * 1e6, "open", "us", l["BM_semantic_by_hand"] / opened, "", None)
        trusted = l["BM_open_trusted"]
        row("PERF-5", "open trusted bytes", trusted * 1e6, 5, "limit", "us", trusted * 1e6 / 5, "<= 1", trusted <= 5e-6)
        for size in ("4KB", "4MB", "64MB"):
            entry = k[f"BM_open_trusted_entry_{size}"]
            row("PERF-5", f"open a trusted pack entry of {size}", entry * 1e6, 5, "limit", "us", entry * 1e6 / 5, "<= 1", entry <= 5e-6)
        allocations = max(b["allocations"] for b in json.load(open(f"{args.folder}/pack.json", encoding="utf-8"))["benchmarks"] if b.get("run_type") != "aggregate")
        row("PERF-5", "heap allocations of a trusted pack entry", allocations, 0, "limit", "1", allocations, "<= 0", allocations == 0)
        xml, compiled = l["BM_parse_xml"], l["BM_compile_from_xml"]
        row("PERF-5", "open against parsing the XML", opened * 1e6, xml * 1e6, "tinyxml2 parse", "us", xml / opened, "", None)
        row("PERF-5", "open against compiling the XML", opened * 1e6, compiled * 1e6, "imapc", "us", compiled / opened, ">= 1000", compiled >= 1000 * opened)
    if m:
        loading, unload, built = (m[f"BM_map_{n}"] / 4000 for n in ("load", "unload", "load_building_blocks"))  # entities of a map
        many = m["BM_map_load_many"] / (16 * 4000)
        row("PERF-6", "load a map of 4000, an entity", loading * 1e9, 100, "limit", "ns", loading * 1e9 / 100, "<= 1", loading <= 100e-9)
        row("PERF-6", "take it away, an entity", unload * 1e9, loading * 1e9, "loading", "ns", unload / loading, "<= 1", unload <= loading)
        row("PERF-6", "load without cooked blocks, an entity", built * 1e9, loading * 1e9, "with them", "ns", built / loading, "", None)
        row("PERF-6", "load 16 maps, 20 MB in all, an entity", many * 1e9, loading * 1e9, "one map", "ns", many / loading, "", None)
        blocks, copied = m["BM_map_blocks"], m["BM_map_blocks_memcpy"]
        row("PERF-6", "cooked blocks into the scene, 2.8 MB", blocks * 1e6, copied * 1e6, "memcpy", "us", copied / blocks, ">= 0.5", copied >= 0.5 * blocks)
    if l and k:
        index, sphere, scan = l["BM_open_index"], l["BM_index_sphere"], l["BM_index_scan"]
        row("WIDX-1", "open an index of 8000 maps, 30000 archetypes", index * 1e3, 10, "limit", "ms", index * 1e3 / 10, "<= 1", index <= 0.01)
        row("BOX-1", "what streams within 30 m", sphere * 1e6, scan * 1e6, "a look at all", "us", sphere / scan, "", None)
    if o:
        elements = 100_000
        for work, per in (("fill_drain", elements), ("churn", 1)):
            ours = o[f"BM_pool_{work}"] / per
            for peer in ("boost_object_pool", "boost_fast_pool", "pmr", "malloc"):
                # boost::object_pool is quadratic when it drains, so it gets a tenth of the elements.
                theirs = o[f"BM_{peer}_{work}"] / (per / 10 if (peer, work) == ("boost_object_pool", "fill_drain") else per)
                target = None if peer == "malloc" else theirs >= ours
                row("POOL-2", f"pool, {work}, an element made and unmade", ours * 1e9, theirs * 1e9, peer, "ns", theirs / ours, "" if target is None else ">= 1", target)
        get = o["BM_pool_get"] / 256
        row("POOL-3", "look-up by a warm handle", get * 1e9, 1.5, "limit", "ns", get * 1e9 / 1.5, "<= 1", get <= 1.5e-9)
        tracked, listed = o["BM_tracked_ref"], o["BM_listed_ref"]
        row("TREF-1", "let go and assign, 1000 references to one", tracked * 1e9, listed * 1e9, "walked list", "ns", listed / tracked, ">= 5", listed >= 5 * tracked)
    if q:
        # Peers that were not there when the benchmark was built have no figures.
        # "warm": a few queries over and over, told for comparison.
        none = {"sphere": None, "box": None, "segment": None}
        sizes = (("100k", {"sphere": 1.4, "box": 1.7, "segment": 1.2}), ("1M", {"sphere": 6, "box": 6, "segment": 2}), ("100k_warm", none), ("1M_warm", none))
        for size, targets in sizes:
            for volume, target in targets.items():
                ours = q[f"BM_search_{volume}_{size}"]
                peers = {n: q[f"BM_{n}_{volume}_{size}"] for n in ("boost_rtree", "bullet_dbvt", "embree") if f"BM_{n}_{volume}_{size}" in q}
                fastest = min(peers, key=peers.get) if target else None
                for peer, theirs in sorted(peers.items()):
                    is_target = peer == fastest
                    row("PERF-3", f"search, {volume}, {size.replace('_', ' ')}", ours * 1e9, theirs * 1e9, peer, "ns", theirs / ours, f">= {target}" if is_target else "", theirs / ours >= target if is_target else None)
    if t:
        widths = [w for w in ("512", "256", "128") if f"BM_box_tree_{w}_sphere" in t]
        for width, target in ((widths[0], 3), ("128", 2)) if widths[0] != "128" else (("128", 3),):
            for volume in ("sphere", "box", "segment"):
                ours = t[f"BM_box_tree_{width}_{volume}"]
                peers = {n: t[f"BM_{n}_{volume}"] for n in ("boost_rtree", "bullet_dbvt", "embree") if f"BM_{n}_{volume}" in t}
                fastest = min(peers, key=peers.get)
                for peer, theirs in sorted(peers.items()):
                    is_target = peer == fastest
                    row("PERF-2", f"boxes, {volume}, 8000, {width}-bit vectors", ours * 1e9, theirs * 1e9, peer, "ns", theirs / ours, f">= {target}" if is_target else "", theirs / ours >= target if is_target else None)
            update, bare = t[f"BM_box_tree_{width}_update"], t[f"BM_box_tree_{width}_bare_queries"]
            row("PERF-2", f"update of 3 searches, {width}-bit vectors", update * 1e9, bare * 1e9, "its queries alone", "ns", update / bare, "<= 1.5", update <= 1.5 * bare)
        allocations = max(b["allocations"] for b in json.load(open(f"{args.folder}/box_tree.json", encoding="utf-8"))["benchmarks"] if "allocations" in b and b.get("run_type") != "aggregate")
        row("PERF-2", "heap allocations of updates", allocations, 0, "limit", "1", allocations, "<= 0", allocations == 0)
    if w:
        # Aims are for a camera that drives; one that jumps with each frame is told for comparison.
        frame = paired(f"{args.folder}/scan.json", spread)
        for size, kind, shapes, way in itertools.product(("10k", "100k", "1M"), ("clustered", "uniform"), (1, 4, 8, 24), ("", "_jump")):
            of = frame[f"BM_frame_{shapes}_{size}_{kind}{way}"]
            name = f"scan, {size} {kind}, {shapes} shapes" + (", jumping" if way else "")
            peers = [n for n in ("boost_rtree", "bullet_dbvt") if n in of.times]
            target = None if way else 1.2 if shapes == 24 else 1.3 if size == "10k" else 4
            fastest = min(peers, key=of.median) if target else None

            def against(name, ours, peer, peer_name, target):
                ratio = of.ratio(peer, ours)
                row("PERF-1", name, of.median(ours), of.median(peer), peer_name, "us", ratio, f">= {target}" if target else "", ratio >= target if target else None)

            for peer in peers:
                against(name, "scan", peer, f"{peer}, frusta alone", target if peer == fastest else None)
            against(name, "scan", "plain", "plain loop, all of it", 8 if not way and size != "10k" and shapes <= 8 else None)
            if "two_threads" in of.times:
                against(f"{name}, two threads", "two_threads", "scan", "one", 1.7 if size == "1M" and shapes <= 8 else None)
                of.times["half_of_two"] = [t / 2 for t in of.times["two_scans"]]
                against(f"{name}, one of two scans at once", "half_of_two", "scan", "alone", None)
            for width in ("scalar", "SSE4", "AVX2", "AVX-512", "NEON"):
                if width in of.times:
                    against(f"{name}, {width}", "scan", width, "that width", None)
        for size, kind in itertools.product(("10k", "100k", "1M"), ("clustered", "uniform")):
            first = w[f"BM_scan_first_block_8_{size}_{kind}"]
            row("PERF-1", f"first block, {size} {kind}, 8 shapes", first * 1e6, 50, "limit", "us", first / 50e-6, "<= 1", first <= 50e-6)
        for name, case, target in (("BM_moving", "2560 that move all over the city", 0.25), ("BM_moving_near", "2560 that move, all near", None)):
            of = frame[name]
            more = of.ratio("moving", "still") - 1
            row("PERF-1", f"{case}, 8 shapes", of.median("moving") - of.median("still"), of.median("still"), "100k that do not", "us", more, f"<= {target}" if target else "", more <= target if target else None)
    if v:
        # The aims are those of AVX2; without it, of the widest that there is.
        cull = v["BM_scalar_cull"]
        widths = [w for w in ("scalar", "128", "256", "512") if f"BM_occlusion_raster_{w}" in v]
        aim = "256" if "256" in widths else widths[-1]
        for work, case, target in (("raster", "draw 200 boxes, 512 x 256", 0.5), ("test", "test 10 000 boxes", 0.6)):
            for width in widths:
                ours = v[f"BM_occlusion_{work}_{width}"]
                vectors = "no vectors" if width == "scalar" else f"{width}-bit vectors"
                is_aim = width == aim
                row("PERF-8", f"{case}, {vectors}", ours * 1e6, cull * 1e6, "scalar cull", "us", ours / cull, f"<= {target}" if is_aim else "", ours <= target * cull if is_aim else None)
    for name, r in f.items():
        flights(row, name, r, f)
    if args.only:
        rows = [r for r in rows if r["id"] == args.only]
    print(f"{'id':7} {'case':44} {'ours':>10} {'peer':>10} {'unit':4} {'peer is':16} {'ratio':>8} {'target':8} holds")
    for r in rows:
        holds = {True: "yes", False: "NO", None: "-"}[r["holds"]]
        print(f"{r['id']:7} {r['case']:44} {r['ours']:10.3f} {r['peer']:10.3f} {r['unit']:4} {r['peer_name']:16} {r['ratio']:8.3f} {r['target']:8} {holds}")
    print("spread (max - min) / median of the repetitions: " + ", ".join(f"{n.replace('BM_', '')} {100 * s:.0f} %" for n, s in spread.items()))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as f:
            json.dump(rows, f, indent=2)


if __name__ == "__main__":
    main()
