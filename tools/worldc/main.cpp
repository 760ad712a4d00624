// SPDX-License-Identifier: MIT
#include "worldc.h"

int main(int argc, char** argv) {
  meridian::tools::ToolIo io = meridian::tools::standard_io();
  const std::span<const char* const> args(argv, static_cast<size_t>(argc));
  return meridian::tools::run_worldc(args.subspan(argc > 0 ? 1 : 0), io);
}
