// SPDX-License-Identifier: MIT
#pragma once
// What `worldc --help` and `worldc COMMAND --help` say of themselves.

#include "meridian/tools/tool_options.h"

namespace meridian::tools {

ProgramDoc top_doc();
ProgramDoc build_doc();
ProgramDoc watch_doc();
ProgramDoc check_doc();
ProgramDoc forecast_doc();
ProgramDoc report_doc();
ProgramDoc manifest_doc();

}  // namespace meridian::tools
