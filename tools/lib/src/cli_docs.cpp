// SPDX-License-Identifier: MIT
/// Help, manual pages, completions and option tables, all from the option definitions of a CommandLine.

#include <algorithm>
#include <string>
#include <string_view>

#include "meridian/base/version.h"
#include "meridian/tools/cli.h"
#include "meridian/tools/rules.h"

namespace meridian::tools {
namespace {

constexpr size_t kHelpColumn = 28;
constexpr size_t kHelpWidth = 79;

using ExitCodes = std::vector<std::pair<int, std::string>>;

const ExitCodes& exit_codes(const ProgramDoc& doc) {
  static const ExitCodes kCompilers = {{0, "done; warnings are allowed"}, {1, "an input has errors"},
                                       {2, "the command line is wrong"},  {3, "something could not be read or written"},
                                       {4, "an internal fault"},          {130, "interrupted"}};
  return doc.exit_codes.empty() ? kCompilers : doc.exit_codes;
}

/// "-o, --output FILE", "--stats[=text|json]".
std::string spelling(const OptionDoc& option) {
  std::string out = option.short_name;
  if (!option.long_name.empty()) out += (out.empty() ? "" : ", ") + option.long_name;
  if (option.value.empty()) return out;
  if (option.optional_value) return out + "[=" + option.value + "]";
  return out + (option.long_name.empty() ? "" : " ") + option.value;
}

/// Breaks a paragraph into lines of `width` with `indent` blanks before each but the first.
std::string wrapped(std::string_view text, size_t indent, size_t first_used, size_t width = kHelpWidth) {
  std::string out;
  size_t used = first_used;
  bool at_start = true;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!at_start && used + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      used = indent;
      at_start = true;
    }
    if (!at_start) {
      out += ' ';
      ++used;
    }
    out += word;
    used += word.size();
    at_start = false;
  }
  return out;
}

template <class Each>
void for_each_line(std::string_view text, Each&& each) {
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    each(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string usage_line(const ProgramDoc& doc) { return doc.name + " [OPTION...] " + doc.operands; }

std::string upper(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

/// Text for roff: backslashes and hyphens are characters, a leading dot or quote is no command.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n'))
      out += std::string("\\&") + c;
    else
      out += c;
  }
  return out;
}

void man_options(std::string& out, const CommandLine& line) {
  std::string group;
  for (const OptionDoc& option : line.options()) {
    if (option.group != group) out += ".SS " + roff(group = option.group) + "\n";
    out += ".TP\n\\fB" + roff(spelling(option)) + "\\fR\n" + roff(option.help) + "\n";
  }
}

std::string man_page(std::span<const CommandLine* const> lines) {
  const ProgramDoc& doc = lines[0]->doc();
  std::string out = ".TH " + upper(doc.name) + " 1 \"\" \"Meridian " + kVersionString + "\" \"Meridian\"\n";
  out += ".SH NAME\n" + doc.name + " \\- " + roff(doc.summary) + "\n.SH SYNOPSIS\n";
  if (lines.size() == 1) out += ".B " + roff(usage_line(doc)) + "\n";
  for (const CommandLine* line : lines.subspan(1)) out += ".B " + roff(usage_line(line->doc())) + "\n.br\n";
  out += ".SH DESCRIPTION\n";
  for_each_line(doc.description, [&](std::string_view text) { out += roff(text) + "\n.PP\n"; });
  if (!doc.limits.empty()) out += roff(doc.limits) + "\n";
  if (lines.size() == 1) out += ".SH OPTIONS\n";
  if (lines.size() == 1) man_options(out, *lines[0]);
  for (const CommandLine* line : lines.subspan(1)) {
    out += ".SH " + upper(roff(line->doc().name)) + "\n" + roff(line->doc().summary) + ".\n";
    for_each_line(line->doc().description, [&](std::string_view text) { out += ".PP\n" + roff(text) + "\n"; });
    man_options(out, *line);
  }
  out += ".SH EXIT STATUS\n";
  for (const auto& [code, text] : exit_codes(doc)) out += ".TP\n.B " + std::to_string(code) + "\n" + roff(text) + "\n";
  out += ".SH EXAMPLES\n";
  for (const auto& [command, text] : doc.examples) out += ".TP\n.B " + roff(command) + "\n" + roff(text) + "\n";
  return out;
}

/// All spellings of a line's options: "--output -o ...".
std::string all_names(const CommandLine& line) {
  std::string out;
  for (const OptionDoc& option : line.options()) {
    for (const std::string& name : {option.long_name, option.short_name})
      if (!name.empty()) out += (out.empty() ? "" : " ") + name;
  }
  return out;
}

std::string rule_words() {
  std::string out;
  for (const Rule* rule : all_rules()) out += (out.empty() ? "" : " ") + std::string(rule->name);
  return out;
}

std::string words(const OptionDoc& option) {
  if (option.hint == ValueHint::rule) return rule_words();
  std::string out;
  for (const std::string& choice : option.choices) out += (out.empty() ? "" : " ") + choice;
  return out;
}

std::string subcommand(const CommandLine& line) { return line.doc().name.substr(line.doc().name.rfind(' ') + 1); }

/// What follows an option, as the arms of a `case` over the word before the cursor. readline splits `--a=b` at the
/// sign, so both spellings of a value end here.
void bash_values(std::string& out, const CommandLine& line, const char* indent) {
  for (const OptionDoc& option : line.options()) {
    if (option.value.empty() || (option.hint == ValueHint::none && option.choices.empty())) continue;
    std::string names = option.long_name;
    if (!option.short_name.empty()) names += (names.empty() ? "" : "|") + option.short_name;
    const std::string what = option.hint == ValueHint::file     ? "-f"
                             : option.hint == ValueHint::folder ? "-d"
                                                                : "-W '" + words(option) + "'";
    out += std::string(indent) + names + ") COMPREPLY=($(compgen " + what + " -- \"$cur\")); return;;\n";
  }
}

void bash_line(std::string& out, const CommandLine& line, const char* indent) {
  const std::string in = indent;
  out += in + "case \"$prev\" in\n";
  bash_values(out, line, (in + "  ").c_str());
  out += in + "esac\n";
  out += in + "if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '" + all_names(line) + "' -- \"$cur\"))\n";
  out += in + "else COMPREPLY=($(compgen -f -- \"$cur\")); fi\n";
}

std::string bash_completion(std::span<const CommandLine* const> lines) {
  const std::string& name = lines[0]->doc().name;
  std::string out = "# bash completion for " + name + "\n_" + name + "() {\n";
  out += "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n";
  out += "  if [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; elif [[ $cur == = ]]; then cur=; fi\n";
  if (lines.size() == 1) {
    bash_line(out, *lines[0], "  ");
  } else {
    std::string commands;
    for (const CommandLine* line : lines.subspan(1)) commands += (commands.empty() ? "" : " ") + subcommand(*line);
    out += "  if ((COMP_CWORD == 1)); then COMPREPLY=($(compgen -W '" + commands + " " + all_names(*lines[0]) +
           "' -- \"$cur\")); return; fi\n  case ${COMP_WORDS[1]} in\n";
    for (const CommandLine* line : lines.subspan(1)) {
      out += "    " + subcommand(*line) + ")\n";
      bash_line(out, *line, "      ");
      out += "      ;;\n";
    }
    out += "  esac\n";
  }
  return out + "}\ncomplete -o filenames -F _" + name + " " + name + "\n";
}

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

void zsh_line(std::string& out, const CommandLine& line, const char* indent) {
  out += std::string(indent) + "_arguments -s -S \\\n";
  for (const OptionDoc& option : line.options()) {
    std::string value;
    if (!option.value.empty()) {
      value = (option.optional_value ? "::" : ":") + escaped(option.value, ":[]\\") + ":";
      if (option.hint == ValueHint::file)
        value += "_files";
      else if (option.hint == ValueHint::folder)
        value += "_files -/";
      else if (const std::string list = words(option); !list.empty())
        value += "(" + list + ")";
    }
    for (const std::string& name : {option.short_name, option.long_name}) {
      if (name.empty()) continue;
      // `-`: the value is joined (`=-`) only; `+` and `=`: joined or apart.
      const char* const join = option.value.empty() ? "" : option.optional_value ? "=-" : name.size() == 2 ? "+" : "=";
      out += std::string(indent) + "  '" + (option.repeats ? "*" : "") + name + join + "[" +
             escaped(option.help, "[]:\\") + "]" + value + "' \\\n";
    }
  }
  out += std::string(indent) + "  '*:input:_files'\n";
}

std::string zsh_completion(std::span<const CommandLine* const> lines) {
  const std::string& name = lines[0]->doc().name;
  std::string out = "#compdef " + name + "\n_" + name + "() {\n";
  if (lines.size() == 1) {
    zsh_line(out, *lines[0], "  ");
  } else {
    out += "  if ((CURRENT == 2)); then\n    local -a commands=(\n";
    for (const CommandLine* line : lines.subspan(1))
      out += "      '" + subcommand(*line) + ":" + escaped(line->doc().summary, ":\\") + "'\n";
    out += "    )\n    _describe command commands\n    return\n  fi\n  local command=$words[2]\n";
    out += "  shift words; ((CURRENT--))\n  case $command in\n";
    for (const CommandLine* line : lines.subspan(1)) {
      out += "    " + subcommand(*line) + ")\n";
      zsh_line(out, *line, "      ");
      out += "      ;;\n";
    }
    out += "  esac\n";
  }
  return out + "}\n_" + name + " \"$@\"\n";
}

void fish_line(std::string& out, const CommandLine& line, const std::string& begin) {
  for (const OptionDoc& option : line.options()) {
    out += begin;
    if (!option.short_name.empty()) out += " -s " + option.short_name.substr(1);
    if (!option.long_name.empty()) out += " -l " + option.long_name.substr(2);
    if (!option.value.empty() && !option.optional_value) {
      if (option.hint == ValueHint::file)
        out += " -rF";
      else if (option.hint == ValueHint::folder)
        out += " -x -a '(__fish_complete_directories)'";
      else
        out += " -x";
    }
    if (const std::string list = words(option); !list.empty()) out += " -a '" + list + "'";
    // fish knows \' and \\ inside quotes.
    std::string help;
    for (const char c : option.help) help += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    out += " -d '" + help + "'\n";
  }
}

std::string fish_completion(std::span<const CommandLine* const> lines) {
  const std::string& name = lines[0]->doc().name;
  std::string out = "# fish completion for " + name + "\n";
  fish_line(out, *lines[0],
            lines.size() == 1 ? "complete -c " + name : "complete -c " + name + " -n __fish_use_subcommand");
  for (const CommandLine* line : lines.subspan(1)) {
    out += "complete -c " + name + " -n __fish_use_subcommand -f -a " + subcommand(*line) + " -d '" +
           line->doc().summary + "'\n";
    fish_line(out, *line, "complete -c " + name + " -n '__fish_seen_subcommand_from " + subcommand(*line) + "'");
  }
  return out;
}

std::string markdown_cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

std::string markdown_table(std::span<const CommandLine* const> lines) {
  std::string out = "# " + lines[0]->doc().name + "\n\n" + lines[0]->doc().summary + "\n";
  for (const CommandLine* line : lines) {
    const ProgramDoc& doc = line->doc();
    if (line != lines[0]) out += "\n## " + doc.name + "\n\n" + doc.summary + "\n";
    out += "\n```\n" + usage_line(doc) + "\n```\n\n| option | meaning |\n|---|---|\n";
    for (const OptionDoc& option : line->options())
      out += "| `" + markdown_cell(spelling(option)) + "` | " + markdown_cell(option.help) + " |\n";
  }
  out += "\n| exit code | meaning |\n|---|---|\n";
  for (const auto& [code, text] : exit_codes(lines[0]->doc()))
    out += "| " + std::to_string(code) + " | " + text + " |\n";
  return out;
}

}  // namespace

std::string help_text(const CommandLine& line) {
  const ProgramDoc& doc = line.doc();
  std::string out = "usage: " + usage_line(doc) + "\n\n";
  for_each_line(doc.description, [&](std::string_view text) { out += wrapped(text, 0, 0) + "\n"; });
  if (!doc.limits.empty()) out += wrapped(doc.limits, 0, 0) + "\n";
  std::string group;
  for (const OptionDoc& option : line.options()) {
    if (option.group != group) out += "\n" + (group = option.group) + ":\n";
    std::string left = "  " + spelling(option);
    if (left.size() + 2 > kHelpColumn) {
      out += left + "\n";
      left.clear();
    }
    left.resize(kHelpColumn, ' ');
    out += left + wrapped(option.help, kHelpColumn, kHelpColumn) + "\n";
  }
  out += "\nExit codes:\n";
  for (const auto& [code, text] : exit_codes(doc)) {
    const std::string number = std::to_string(code);
    out += std::string(5 - number.size(), ' ') + number + "  " + text + "\n";
  }
  out += "\nExamples:\n";
  for (const auto& [command, text] : doc.examples) out += "  " + command + "\n      " + text + "\n";
  return out;
}

std::string generated_doc(std::string_view kind, std::span<const CommandLine* const> lines) {
  if (kind == "man") return man_page(lines);
  if (kind == "bash") return bash_completion(lines);
  if (kind == "zsh") return zsh_completion(lines);
  if (kind == "fish") return fish_completion(lines);
  return kind == "markdown" ? markdown_table(lines) : std::string();
}

}  // namespace meridian::tools
