// SPDX-License-Identifier: MIT
#pragma once
/// Which configurations of a game configuration hold: each has filters of words for builds, platforms and parameters,
/// and a program says by a target what it is. The compilers' `--for` and the runtime share this one table.
///
///   constexpr NameHash kParameters[] = {hash_name("bigworld")};
///   ConfigTarget target;
///   const bool is_build = set_build(target, "release");
///   target.platform = find_config_platform("x64");
///   target.parameters = kParameters;
///   const bool holds = config_matches({.build = "nonfinal", .platforms = "ps4 | x64", .parameter = ""}, target);
///
/// Words for builds:    any bank bankrelease beta debug dev final nonfinal profile release
/// Words for platforms: any ps3=psn psp2 x64 xbox360=xenon xboxone ps4 xbsx=scarlett ps5=prospero linux
///
/// Threads: immutable; functions of their arguments. config_matches writes to its OnceSet.

#include <cstdint>
#include <span>
#include <string_view>

#include "meridian/base/log.h"
#include "meridian/base/name_hash.h"

namespace meridian {

/// Where a program runs. Words of a filter name one or several.
enum class ConfigPlatform : uint8_t {
  none,  ///< no platform; only `any` and an empty filter match
  ps3,
  psp2,
  x64,
  xbox360,
  xboxone,
  ps4,
  xbsx,
  ps5,
  linux_pc,  ///< matched by `linux` and by `x64`: files of the field know no Linux, and mean desktop PCs by `x64`
};

/// What a selection is made for. The switches are what the words test; set_build() sets them together.
struct ConfigTarget {
  bool dev = false;        ///< programmers' build
  bool optimized = false;  ///< compiled with optimisation
  bool bank = false;       ///< has tuning widgets
  bool profile = false;    ///< for measuring
  bool final = false;      ///< for players; knows no parameters
  ConfigPlatform platform = ConfigPlatform::none;
  std::span<const NameHash> parameters{};  ///< those that were given on the command line; must outlive the target
};

/// Sets the switches to a preset, named in any case:
///
///   debug        dev, bank
///   beta         dev, bank, optimized
///   bankrelease  bank, optimized
///   release      optimized
///   profile      optimized, profile
///   final        optimized, final
///
/// False, and nothing is changed, if no preset is called so.
bool set_build(ConfigTarget& target, std::string_view preset);

/// The platform that a word names, in any case; none if it names none (as `any` does).
ConfigPlatform find_config_platform(std::string_view word);

/// The filter texts of one configuration, as they stand in the file. An empty one filters nothing.
struct ConfigFilter {
  std::string_view build, platforms, parameter;
};

/// True if build, platform and parameter all match. Several words of one filter stand apart by blanks, commas or `|`,
/// and one of them must match; case does not matter; an unknown word matches nothing.
///
///   bank         bank                        dev       dev
///   bankrelease  bank, not dev               release   neither dev, bank nor final (so profile builds, too)
///   beta         dev and optimized           final     final
///   debug        dev, not optimized          nonfinal  not final
///   any          always                      profile   profile
///
/// A parameter matches if the target has it. Final builds don't look at parameters.
/// `reported` not null: unknown words are said through the log, each once.
bool config_matches(const ConfigFilter& filter, const ConfigTarget& target, OnceSet* reported = nullptr);

}  // namespace meridian
