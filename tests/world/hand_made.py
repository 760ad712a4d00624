# SPDX-License-Identifier: MIT
"""Small maps and type files as text, without a finding as they are; places in them by searching the text."""

import os

from world_kit import check, write


def entity(archetype, **members):
    values = {"lodDist": 50, **members}
    at = values.pop("at", (0, 0, 0))
    level = values.pop("lodLevel", None)
    lines = [f"   <archetypeName>{archetype}</archetypeName>",
             '   <position x="{}" y="{}" z="{}" />'.format(*at)]
    lines += [f'   <{name} value="{value}" />' for name, value in values.items()]
    if level:
        lines.append(f"   <lodLevel>LODTYPES_DEPTH_{level}</lodLevel>")
    return '  <Item type="CEntityDef">\n' + "\n".join(lines) + "\n  </Item>\n"


def map_text(name, *entities, parent="", flags=0, content=1, more="", before=""):
    return f"""<?xml version="1.0" encoding="UTF-8"?>
{before}<CMapData>
 <name>{name}</name>
 <parent>{parent}</parent>
 <flags value="{flags}" />
 <contentFlags value="{content}" />
 <streamingExtentsMin x="-1000" y="-1000" z="-1000" />
 <streamingExtentsMax x="1000" y="1000" z="1000" />
 <entitiesExtentsMin x="-500" y="-500" z="-500" />
 <entitiesExtentsMax x="500" y="500" z="500" />
 <entities>
{"".join(entities)} </entities>
{more}</CMapData>
"""


def archetype(name, lod=60, size=1.0):
    return f"""  <Item type="CBaseArchetypeDef">
   <lodDist value="{lod}" />
   <bbMin x="-{size}" y="-{size}" z="-{size}" />
   <bbMax x="{size}" y="{size}" z="{size}" />
   <bsRadius value="{2 * size}" />
   <name>{name}</name>
   <assetType>ASSET_TYPE_DRAWABLE</assetType>
   <assetName>{name}</assetName>
  </Item>
"""


def types_text(name, *archetypes):
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<CMapTypes>
 <archetypes>
{"".join(archetypes)} </archetypes>
 <name>{name}</name>
</CMapTypes>
"""


def interior_text(name, file):
    """A room of 8 x 8 x 3 m with a door to the outside at its southern wall, 2 m wide."""
    return types_text(file, f"""  <Item type="CMloArchetypeDef">
   <lodDist value="60" />
   <bbMin x="-4" y="0" z="0" />
   <bbMax x="4" y="8" z="3" />
   <bsCentre x="0" y="4" z="1.5" />
   <bsRadius value="6" />
   <name>{name}</name>
   <rooms>
    <Item><name>limbo</name><portalCount value="1" /></Item>
    <Item>
     <name>hall</name>
     <bbMin x="-4" y="0" z="0" />
     <bbMax x="4" y="8" z="3" />
     <portalCount value="1" />
    </Item>
   </rooms>
   <portals>
    <Item>
     <roomFrom value="1" />
     <roomTo value="0" />
     <corners>
      -1, 0, 0
      -1, 0, 2
      1, 0, 2
      1, 0, 0
     </corners>
    </Item>
   </portals>
  </Item>
""")


def manifest_text(maps=(), types=()):
    def listed(element, name, rows):
        items = "".join(f"  <Item>\n   <{name}>{who}</{name}>\n   <itypDepArray>\n" +
                        "".join(f"    <Item>{n}</Item>\n" for n in needs) + "   </itypDepArray>\n  </Item>\n"
                        for who, needs in rows)
        return f" <{element}>\n{items} </{element}>\n"

    return ('<?xml version="1.0" encoding="UTF-8"?>\n<CPackFileMetaData>\n' + listed("imapDependencies_2", "imapName", maps) +
            listed("itypDependencies_2", "itypName", types) + "</CPackFileMetaData>\n")


def config_text(size):
    return ('<?xml version="1.0" encoding="UTF-8"?>\n<fwAllConfigs><ConfigArray><Item><Build>Any</Build>'
            '<Platforms>Any</Platforms><Config type="CGameConfig"><PoolSizes><Entries><Item>'
            f'<PoolName>MapDataStore</PoolName><PoolSize value="{size}" /></Item></Entries></PoolSizes></Config></Item>'
            "</ConfigArray></fwAllConfigs>\n")


class Sources:
    """Files below the scratch folder of a kit, by relative path."""

    def __init__(self, kit, **unused):
        self.kit, self.texts = kit, {}

    def put(self, path, text):
        self.texts[path] = text
        write(self.kit.path(path), text)
        return self

    def remove(self, path):
        del self.texts[path]
        os.remove(self.kit.path(path))

    def place(self, path, needle, skip=0):
        """(file, line, column) of the nth occurrence, counted as the diagnostics count; `|` marks the spot in it."""
        text, spot = self.texts[path], needle.index("|") if "|" in needle else 0
        at = -1
        for _ in range(skip + 1):
            at = text.find(needle.replace("|", ""), at + 1)
            check(at >= 0, f"the test looks for {needle!r}, which is not in {path}")
        at += spot
        before = text[:at].encode()
        return path, before.count(b"\n") + 1, len(before) - (before.rfind(b"\n") + 1) + 1
