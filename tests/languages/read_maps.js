// SPDX-License-Identifier: MIT
// Prints what stands in compiled maps and type files, through the code that flatc generated.
//   node read_maps.js FOLDER_OF_GENERATED_CODE FILE...
'use strict';
const fs = require('fs');
const path = require('path');
const [generated, ...files] = process.argv.slice(2);
const flatbuffers = require(require.resolve('flatbuffers', { paths: [generated] }));
const load = (name) => require(path.join(generated, 'meridian', 'schema', name));
const { MapData } = load('map-data');
const { MapTypes } = load('map-types');

const xyz = (v) => [v.x(), v.y(), v.z()];
const readers = {
  '.imap': (bb) => {
    const map = MapData.getRootAsMapData(bb);
    const entities = [];
    for (let i = 0; i < map.entitiesLength(); ++i) {
      const e = map.entities(i);
      entities.push([e.archetypeName(), ...xyz(e.position())]);
    }
    return { name: map.name(), entities, interiors: map.mloInstancesLength(), extensions: map.entityExtensionsLength() };
  },
  '.ityp': (bb) => {
    const types = MapTypes.getRootAsMapTypes(bb);
    const archetypes = [];
    for (let i = 0; i < types.archetypesLength(); ++i) {
      const a = types.archetypes(i);
      archetypes.push([a.name(), ...xyz(a.bbMin()), ...xyz(a.bbMax())]);
    }
    return { name: types.name(), archetypes, interiors: types.mloArchetypesLength() };
  },
};

const out = {};
for (const file of files) {
  const bb = new flatbuffers.ByteBuffer(new Uint8Array(fs.readFileSync(file)));
  out[path.basename(file)] = readers[path.extname(file)](bb);
}
process.stdout.write(JSON.stringify(out));
