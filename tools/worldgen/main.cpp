// SPDX-License-Identifier: MIT
#include "worldgen.h"

int main(int argc, char** argv) {
  meridian::tools::ToolIo io = meridian::tools::standard_io();
  const std::span<const char* const> args(argv, static_cast<size_t>(argc));
  return meridian::tools::run_worldgen(args.subspan(argc > 0 ? 1 : 0), io);
}
