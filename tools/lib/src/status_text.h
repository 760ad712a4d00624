// SPDX-License-Identifier: MIT
#pragma once
/// The runtime's Status in the words of a diagnostic.

#include <string>

#include "meridian/base/status.h"

namespace meridian::tools {

/// "payload cut short; detail = byte" and 336 become "payload cut short (byte 336)".
inline std::string describe(const Status& s) {
  std::string text = s.message;
  const size_t mark = text.find("; detail = ");
  if (mark != std::string::npos) {
    const std::string what = text.substr(mark + 11);
    text.resize(mark);
    text += " (" + what + " " + std::to_string(s.detail) + ")";
  }
  return text + " [" + to_string(s.code) + "]";
}

}  // namespace meridian::tools
