// SPDX-License-Identifier: MIT
#pragma once
/// Runs a tool in this process with its streams in memory.

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meridian/tools/cli.h"

namespace meridian::test {

using Tool = int (*)(std::span<const char* const>, tools::ToolIo&);

struct ToolRun {
  int exit = -1;
  std::string out, err;
};

struct ToolSetting {
  std::string_view in{};
  bool terminal = false;
  bool no_color = false;
  const std::atomic<bool>* cancel = nullptr;
};

inline ToolRun run_tool(Tool tool, const std::vector<std::string>& args, ToolSetting setting = {}) {
  std::vector<const char*> pointers;
  for (const std::string& arg : args) pointers.push_back(arg.c_str());
  char *out = nullptr, *err = nullptr;
  size_t out_size = 0, err_size = 0;
  tools::ToolIo io;
  io.in = std::tmpfile();
  io.out = ::open_memstream(&out, &out_size);
  io.err = ::open_memstream(&err, &err_size);
  io.stderr_is_terminal = setting.terminal;
  io.no_color = setting.no_color;
  io.cancel = setting.cancel;
  if (!setting.in.empty()) std::fwrite(setting.in.data(), 1, setting.in.size(), io.in);
  std::rewind(io.in);

  ToolRun run;
  run.exit = tool(pointers, io);
  for (std::FILE* stream : {io.in, io.out, io.err}) std::fclose(stream);
  run.out.assign(out, out_size);
  run.err.assign(err, err_size);
  std::free(out);
  std::free(err);
  return run;
}

}  // namespace meridian::test
