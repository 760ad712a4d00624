// SPDX-License-Identifier: MIT
#pragma once
/// Includes the whole public runtime, nothing else. Decompression is a target of its own: resource/pack_decompressor.h.

#include "meridian/base/assert.h"
#include "meridian/base/log.h"
#include "meridian/base/math.h"
#include "meridian/base/memory.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/base/version.h"
#include "meridian/entity/archetype_traits.h"
#include "meridian/entity/transform.h"
#include "meridian/resource/convert.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/pack.h"
#include "meridian/resource/resource.h"
#include "meridian/scene/desc_block.h"
#include "meridian/scene/entity_desc.h"
#include "meridian/stream/box_tree.h"
#include "meridian/stream/world_index.h"
