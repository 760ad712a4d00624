// SPDX-License-Identifier: MIT
#pragma once
/// From the operands of a command line to the list of files to compile and the names of their outputs.

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace meridian::tools {

struct InputFile {
  std::string path;        ///< as given, or below the folder as given; "-": standard input
  std::string relative;    ///< below the folder that was given; the bare name of a file that was
  std::string output;      ///< "-": standard output; empty: not decided
  bool in_folder = false;  ///< found in a folder: not an error if it turns out to be something else

  bool is_stdin() const { return path == "-"; }
  /// What messages call it.
  const std::string& shown() const;
};

struct InputProblem {
  std::string path;
  std::string message;
};

struct InputList {
  std::vector<InputFile> files;        ///< in the order given, folders in name order, each file once
  std::vector<std::string> folders;    ///< searched
  std::vector<InputProblem> problems;  ///< of the environment: not there, not readable, nothing found
};

/// Says whether a file that was found in a folder is one for this tool. Reads as little as it can.
using InputFilter = std::function<bool(const std::string& path)>;

/// Resolves operands: files, folders (searched with all below them), patterns with `*`, `?`, `[...]` and `**` that the
/// shell left alone, `-`. A name that exists is never taken as a pattern. `tool` is for the message of a folder
/// without files for it.
InputList find_inputs(std::span<const std::string> operands, const InputFilter& filter, std::string_view tool);

/// Reads a batch file: a line IN<TAB>OUT each, empty lines skipped. False: `error` names the line.
bool parse_batch(std::string_view path, std::string_view text, std::vector<InputFile>& out, std::string& error);

/// The file's name without `.xml` and then `.ymap`, `.ytyp` or `.ymf` (any case), without folders: what a map without
/// a name is called.
std::string input_stem(std::string_view path);

/// What a compiled resource is called: the file's name without folders and extension.
std::string resource_stem(std::string_view path);

/// The output's name for an input: the same, with folders, and `.extension`.
std::string output_name(std::string_view input, std::string_view extension);

}  // namespace meridian::tools
