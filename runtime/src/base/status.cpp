// SPDX-License-Identifier: MIT
#include "meridian/base/status.h"

namespace meridian {

const char* to_string(StatusCode code) {
  // No default: a new code without a word is a compiler warning.
  switch (code) {
    case StatusCode::ok:
      return "ok";
    case StatusCode::too_small:
      return "too_small";
    case StatusCode::too_large:
      return "too_large";
    case StatusCode::misaligned:
      return "misaligned";
    case StatusCode::bad_magic:
      return "bad_magic";
    case StatusCode::wrong_kind:
      return "wrong_kind";
    case StatusCode::bad_version:
      return "bad_version";
    case StatusCode::bad_checksum:
      return "bad_checksum";
    case StatusCode::bad_structure:
      return "bad_structure";
    case StatusCode::bad_value:
      return "bad_value";
    case StatusCode::layout_differs:
      return "layout_differs";
    case StatusCode::bad_schema:
      return "bad_schema";
    case StatusCode::no_conversion:
      return "no_conversion";
    case StatusCode::out_of_memory:
      return "out_of_memory";
    case StatusCode::not_found:
      return "not_found";
    case StatusCode::in_use:
      return "in_use";
    case StatusCode::out_of_slots:
      return "out_of_slots";
    case StatusCode::io_error:
      return "io_error";
  }
  return "unknown";
}

}  // namespace meridian
