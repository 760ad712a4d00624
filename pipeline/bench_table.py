#!/usr/bin/env python3
"""Turns the results of the benchmark programs into the table of performance targets.

Usage: bench_table.py FOLDER [--only ID] [--json FILE]

FOLDER holds Google Benchmark reports with repetitions (compile.json, load.json, map.json, pack.json, core.json, search.json), and
program.json: what
bench.sh measured of the programs themselves.
Each row: id, case, ours, peer, peer's name, unit, ratio, target, whether it holds. Ratios come from one run of one machine;
absolute figures are medians.
"""
import argparse
import json


def medians(path):
    runs, spread = {}, {}
    for b in json.load(open(path, encoding="utf-8"))["benchmarks"]:
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder")
    parser.add_argument("--only")
    parser.add_argument("--json")
    args = parser.parse_args()
    c, c_spread = medians(f"{args.folder}/compile.json")
    l, l_spread = medians(f"{args.folder}/load.json")
    m, m_spread = medians(f"{args.folder}/map.json")
    k, k_spread = medians(f"{args.folder}/pack.json")
    o, o_spread = medians(f"{args.folder}/core.json")
    q, q_spread = medians(f"{args.folder}/search.json")
    p = json.load(open(f"{args.folder}/program.json", encoding="utf-8"))
    spread = {**c_spread, **l_spread, **m_spread, **k_spread, **o_spread, **q_spread}
    rows = []

    def row(id, case, ours, peer, peer_name, unit, ratio, target, holds):
        rows.append(dict(id=id, case=case, ours=ours, peer=peer, peer_name=peer_name, unit=unit, ratio=ratio, target=target, holds=holds))

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
    load, unload, built = (m[f"BM_map_{n}"] / 4000 for n in ("load", "unload", "load_building_blocks"))  # entities of a map
    many = m["BM_map_load_many"] / (16 * 4000)
    row("PERF-6", "load a map of 4000, an entity", load * 1e9, 100, "limit", "ns", load * 1e9 / 100, "<= 1", load <= 100e-9)
    row("PERF-6", "take it away, an entity", unload * 1e9, load * 1e9, "loading", "ns", unload / load, "<= 1", unload <= load)
    row("PERF-6", "load without cooked blocks, an entity", built * 1e9, load * 1e9, "with them", "ns", built / load, "", None)
    row("PERF-6", "load 16 maps, 20 MB in all, an entity", many * 1e9, load * 1e9, "one map", "ns", many / load, "", None)
    blocks, copied = m["BM_map_blocks"], m["BM_map_blocks_memcpy"]
    row("PERF-6", "cooked blocks into the scene, 2.8 MB", blocks * 1e6, copied * 1e6, "memcpy", "us", copied / blocks, ">= 0.5", copied >= 0.5 * blocks)
    index, sphere, scan = l["BM_open_index"], l["BM_index_sphere"], l["BM_index_scan"]
    row("WIDX-1", "open an index of 8000 maps, 30000 archetypes", index * 1e3, 10, "limit", "ms", index * 1e3 / 10, "<= 1", index <= 0.01)
    row("BOX-1", "what streams within 30 m", sphere * 1e6, scan * 1e6, "a look at all", "us", sphere / scan, "", None)
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
    # Peers that were not there when the benchmark was built have no figures.
    for size, targets in (("100k", {"sphere": 1.4, "box": 1.7, "segment": 1.2}), ("1M", {"sphere": 6, "box": 6, "segment": 2})):
        for volume, target in targets.items():
            ours = q[f"BM_search_{volume}_{size}"]
            peers = {n: q[f"BM_{n}_{volume}_{size}"] for n in ("boost_rtree", "bullet_dbvt", "embree") if f"BM_{n}_{volume}_{size}" in q}
            fastest = min(peers, key=peers.get)
            for peer, theirs in sorted(peers.items()):
                is_target = peer == fastest
                row("PERF-3", f"search, {volume}, {size} entities", ours * 1e9, theirs * 1e9, peer, "ns", theirs / ours, f">= {target}" if is_target else "", theirs / ours >= target if is_target else None)
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
