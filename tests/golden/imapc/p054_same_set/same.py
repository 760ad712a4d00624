import json, re
text = [(r, s, int(l), int(c)) for l, c, s, r in
        re.findall(r"^in\.ymap\.xml:(\d+):(\d+): (\w+): .*\[(\w+) ", open("text").read(), re.M)]
doc = json.load(open("json"))
from_json = [(d["rule"], d["severity"], d["line"], d["column"]) for d in doc["diagnostics"]]
lines = open("in.ymap.xml", encoding="utf-8").read().split("\n")
from_sarif = []
for r in json.load(open("sarif"))["runs"][0]["results"]:
    region = r["locations"][0]["physicalLocation"]["region"]
    before = lines[region["startLine"] - 1].encode("utf-16-le")[: 2 * (region["startColumn"] - 1)].decode("utf-16-le")
    from_sarif.append((r["ruleId"], r["level"], region["startLine"], len(before.encode()) + 1))
print(len(text), text == from_json, text == from_sarif)
