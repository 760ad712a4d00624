// SPDX-License-Identifier: MIT
#pragma once
// The parts of a forecast's row as people read them, in text and on pages.

#include <string>

#include "meridian/tools/forecast.h"

namespace meridian::tools {

/// Of the row's kind: a count, or bytes.
std::string amount_text(const ForecastRow& row, uint64_t amount);
/// What is needed, with the upper bound where that is more.
std::string most_text(const ForecastRow& row);
/// "-": there is none.
std::string limit_text(const ForecastRow& row);
/// "(1204, -332, 30)", or "everywhere".
std::string place_text(const ForecastRow& row);

}  // namespace meridian::tools
