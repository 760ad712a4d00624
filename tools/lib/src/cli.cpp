// SPDX-License-Identifier: MIT
#include "meridian/tools/cli.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include <CLI/CLI.hpp>

#include "meridian/tools/file_io.h"
#include "text_values.h"

namespace meridian::tools {

int worse_exit(int a, int b) {
  const auto rank = [](int code) {
    switch (code) {
      case kExitInterrupted:
        return 6;
      case kExitInternal:
        return 5;
      case kExitUsage:
        return 4;
      case kExitEnvironment:
        return 3;
      case kExitRejected:
        return 2;
      case kExitDifferent:
        return 1;
      default:
        return 0;
    }
  };
  return rank(a) >= rank(b) ? a : b;
}

struct CommandLine::Target {
  bool* flag = nullptr;
  std::string* text = nullptr;
  std::vector<std::string>* texts = nullptr;
  uint64_t* number = nullptr;
  uint64_t min = 0, max = 0;
};

ProgramDoc program_doc(std::string name, std::string summary, std::string operands, std::string description,
                       std::vector<std::pair<std::string, std::string>> examples) {
  ProgramDoc doc;
  doc.name = std::move(name);
  doc.summary = std::move(summary);
  doc.operands = std::move(operands);
  doc.description = std::move(description);
  doc.examples = std::move(examples);
  return doc;
}

CommandLine::CommandLine(ProgramDoc doc) : doc_(std::move(doc)) {}
CommandLine::~CommandLine() = default;

void CommandLine::add(const char* names, OptionDoc option, Target target) {
  for (std::string_view rest = names; !rest.empty();) {
    const size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = rest.substr(0, comma);
    (name.starts_with("--") ? option.long_name : option.short_name) = name;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  option.group = group_;
  options_.push_back(std::move(option));
  targets_.push_back(target);
}

void CommandLine::flag(const char* names, bool& target, const char* help) {
  OptionDoc option;
  option.help = help;
  add(names, std::move(option), {.flag = &target});
}

void CommandLine::text(const char* names, const char* value, std::string& target, const char* help, ValueHint hint) {
  OptionDoc option;
  option.value = value;
  option.help = help;
  option.hint = hint;
  add(names, std::move(option), {.text = &target});
}

void CommandLine::optional_text(const char* names, const char* value, const char* implied, std::string& target,
                                const char* help, ValueHint hint) {
  text(names, value, target, help, hint);
  options_.back().optional_value = true;
  options_.back().implied = implied;
}

void CommandLine::texts(const char* names, const char* value, std::vector<std::string>& target, const char* help,
                        ValueHint hint) {
  OptionDoc option;
  option.value = value;
  option.help = help;
  option.hint = hint;
  option.repeats = true;
  add(names, std::move(option), {.texts = &target});
}

void CommandLine::choice(const char* names, std::vector<std::string> choices, std::string& target, const char* help,
                         bool optional_value) {
  OptionDoc option;
  for (const std::string& word : choices) option.value += (option.value.empty() ? "" : "|") + word;
  option.help = help;
  option.choices = std::move(choices);
  option.optional_value = optional_value;
  if (optional_value) option.implied = option.choices.front();
  add(names, std::move(option), {.text = &target});
}

void CommandLine::number(const char* names, const char* value, uint64_t& target, uint64_t min, uint64_t max,
                         const char* help) {
  OptionDoc option;
  option.value = value;
  option.help = help;
  add(names, std::move(option), {.number = &target, .min = min, .max = max});
}

namespace {

const std::string& name_of(const OptionDoc& option) {
  return option.long_name.empty() ? option.short_name : option.long_name;
}

std::optional<uint64_t> parse_count(std::string_view text) {
  uint64_t number = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (ec != std::errc()) return std::nullopt;
  const std::string_view suffix(end, static_cast<size_t>(text.data() + text.size() - end));
  if (suffix.empty()) return number;
  const size_t power = suffix.size() == 1 ? std::string_view("kMG").find(suffix[0]) : std::string_view::npos;
  if (power == std::string_view::npos) return std::nullopt;
  const unsigned shift = 10 * (static_cast<unsigned>(power) + 1);
  if (number > UINT64_MAX >> shift) return std::nullopt;
  return number << shift;
}

std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

}  // namespace

bool CommandLine::store(size_t index, const std::vector<std::string>& values, std::string& error) {
  const OptionDoc& option = options_[index];
  const Target& target = targets_[index];
  given_[index] = true;
  if (target.flag != nullptr) {
    *target.flag = true;
    return true;
  }
  if (target.texts != nullptr) {
    target.texts->insert(target.texts->end(), values.begin(), values.end());
    return true;
  }
  if (values.size() > 1) {
    error = name_of(option) + " is given " + std::to_string(values.size()) + " times";
    return false;
  }
  const std::string& value = values.front();
  if (target.number != nullptr) {
    const std::optional<uint64_t> number = parse_count(value);
    if (number && *number >= target.min && *number <= target.max) {
      *target.number = *number;
      return true;
    }
    error = name_of(option) + " takes a whole number from " + std::to_string(target.min) + " to " +
            std::to_string(target.max) + ", not '" + value + "'";
    return false;
  }
  if (!option.choices.empty() &&
      std::find(option.choices.begin(), option.choices.end(), value) == option.choices.end()) {
    error = name_of(option) + " takes " + joined(option.choices, ", ") + ", not '" + value + "'";
    const std::string_view near = nearest(value, {option.choices.begin(), option.choices.end()});
    if (!near.empty()) error += "; did you mean '" + std::string(near) + "'?";
    return false;
  }
  *target.text = value;
  return true;
}

std::string CommandLine::nearest_option(const std::string& unknown) const {
  const std::string_view word = std::string_view(unknown).substr(0, unknown.find('='));
  std::vector<std::string_view> known;
  for (const OptionDoc& option : options_)
    if (!option.long_name.empty()) known.push_back(std::string_view(option.long_name).substr(2));
  const std::string_view near = nearest(word.substr(std::min(word.find_first_not_of('-'), word.size())), known);
  return near.empty() ? std::string() : "--" + std::string(near);
}

/// CLI11 is told of strings and flags only; conversion and messages are ours. Left alone it would split an operand
/// "[a]" as a list, let `-W x` swallow the operands that follow, and exit with codes above 100.
bool CommandLine::parse(std::span<const std::string> arguments, std::string& error) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  given_.assign(options_.size(), false);
  std::vector<std::vector<std::string>> values(options_.size());
  std::vector<CLI::Option*> handles;
  for (size_t i = 0; i < options_.size(); ++i) {
    const OptionDoc& option = options_[i];
    std::string names = option.short_name;
    if (!option.long_name.empty()) names += (names.empty() ? "" : ",") + option.long_name;
    if (option.value.empty()) {
      handles.push_back(app.add_flag(names));
    } else if (option.optional_value) {
      handles.push_back(app.add_flag(names + "{" + option.implied + "}", values[i])->take_all());
    } else {
      handles.push_back(app.add_option(names, values[i])->take_all()->allow_extra_args(false));
    }
  }

  // Two things that CLI11 would take: an empty value, for which it uses up the next argument, and a count for a flag.
  for (const std::string& argument : arguments) {
    if (argument == "--") break;
    const size_t equals = argument.find('=');
    if (!argument.starts_with("--") || equals == std::string::npos) continue;
    const std::string_view name = std::string_view(argument).substr(0, equals);
    const auto option =
        std::find_if(options_.begin(), options_.end(), [&](const OptionDoc& o) { return o.long_name == name; });
    if (option == options_.end()) continue;
    if (option->value.empty()) {
      error = std::string(name) + " takes no value";
      return false;
    }
    if (equals + 1 == argument.size()) {
      error = "'" + argument + "' lacks its value";
      return false;
    }
  }
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // it wants the last one first
  } catch (const CLI::ArgumentMismatch&) {
    // Only one case is left: the last argument is an option without its value.
    error = "'" + arguments.back() + "' lacks its value";
    return false;
  } catch (const CLI::ParseError& e) {
    error = e.what();
    return false;
  }

  // Flags first: who asks for help gets it, whatever else is wrong.
  for (size_t i = 0; i < options_.size(); ++i)
    if (targets_[i].flag != nullptr && handles[i]->count() > 0) store(i, {}, error);
  bool only_operands = false;
  for (const std::string& argument : app.remaining()) {
    if (!only_operands && argument == "--") {
      only_operands = true;
    } else if (!only_operands && argument.size() > 1 && argument[0] == '-') {
      error = "unknown option '" + argument + "'";
      const std::string near = nearest_option(argument);
      if (!near.empty()) error += "; did you mean '" + near + "'?";
      return false;
    } else if (argument.empty()) {
      error = "an empty argument is no file name";
      return false;
    } else if (operands_ == nullptr) {
      error = "'" + argument + "' is one argument too many";
      return false;
    } else {
      operands_->push_back(argument);
    }
  }
  for (size_t i = 0; i < options_.size(); ++i)
    if (targets_[i].flag == nullptr && handles[i]->count() > 0 && !store(i, values[i], error)) return false;
  return true;
}

bool CommandLine::given(std::string_view name) const {
  for (size_t i = 0; i < given_.size(); ++i)
    if (given_[i] && (options_[i].long_name == name || options_[i].short_name == name)) return true;
  return false;
}

ExpandedArguments expand_response_files(std::span<const char* const> args) {
  ExpandedArguments out;
  bool only_operands = false;
  for (const char* const arg : args) {
    const std::string argument = arg;
    only_operands = only_operands || argument == "--";
    if (only_operands || argument.size() < 2 || argument[0] != '@') {
      out.arguments.push_back(argument);
      continue;
    }
    const std::string path = argument.substr(1);
    std::string text;
    if (const int error = read_file(path, text); error != 0) {
      out.error = "cannot read the response file: " + error_text(error);
      out.error_path = path;
      return out;
    }
    out.response_files.push_back(path);
    std::string_view rest = text;
    if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) out.arguments.emplace_back(line);
    }
  }
  return out;
}

}  // namespace meridian::tools
