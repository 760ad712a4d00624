// SPDX-License-Identifier: MIT
#pragma once
// One frame from above, as PNG: what the picture shows, what hides or is too far, what each phase looks at. The README
// says what the colours mean.

#include <string>

#include "meridian/meridian.h"
#include "sight.h"

/// Whether pictures can be written: libpng was there when this was built.
bool has_frame_pictures();

/// Draws the last look of `sight`, `reach` metres to each side of its camera.
/// False: the file could not be written, or there is no libpng.
bool write_frame_picture(const Sight& sight, const meridian::WorldStreaming& streaming, float reach,
                         const std::string& path);
