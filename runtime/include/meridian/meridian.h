// SPDX-License-Identifier: MIT
#pragma once
/// Includes the whole public runtime, nothing else. Decompression is a target of its own: resource/pack_decompressor.h.

#include "meridian/base/assert.h"
#include "meridian/base/name_hash.h"
#include "meridian/base/status.h"
#include "meridian/base/version.h"
#include "meridian/resource/convert.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/pack.h"
#include "meridian/resource/resource.h"
