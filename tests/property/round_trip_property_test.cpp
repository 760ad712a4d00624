// SPDX-License-Identifier: MIT
// For random sources of every format: what compiles opens, what is refused has an error (P050), and the dump of what
// compiled compiles to the same bytes (READ-4, P009).
#include <gtest/gtest.h>

#include <string>

#include "property/random_document.h"
#include "support/compile_kit.h"

namespace meridian::test {
namespace {

class RoundTripProperty : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RoundTripProperty, DumpCompilesToTheSameBytes) {
  const tools::Binding& binding = *tools::Binding::builtin(GetParam());
  tools::CompileOptions options;
  options.stem = "qa_stem";
  int failures = 0;
  for (int i = 0; i < property_cases() && failures < 5; ++i) {
    const uint64_t seed = property_seed() + static_cast<uint64_t>(i);
    const Compiled c = compile_with(binding, RandomDocument(binding, seed, {.unknown = i % 4 != 0}).make(), options);
    if (c.result.bytes.empty()) {
      if (!c.result.has_errors())
        ++failures, ADD_FAILURE() << "seed " << seed << ": no bytes and no error\n" << c.source->text();
      continue;
    }
    if (const auto opened = open_resource(c.bytes()); !opened.ok()) {
      ++failures;
      ADD_FAILURE() << "seed " << seed << ": does not open: " << opened.status().message << "\n" << c.source->text();
      continue;
    }
    const std::string first = dump_of(c.result.bytes);
    const Compiled again = compile_with(binding, first, options);
    const std::string second = again.result.bytes.empty() ? again.all() : dump_of(again.result.bytes);
    if (again.result.bytes == c.result.bytes && second == first) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": another " << (second == first ? "info section" : "dump") << "\nsource\n"
                  << c.source->text() << "\nfirst\n"
                  << first << "\nsecond\n"
                  << second;
  }
}

TEST_P(RoundTripProperty, WhatIsRefusedHasAnErrorAndWhatCompilesOpens) {
  const tools::Binding& binding = *tools::Binding::builtin(GetParam());
  int failures = 0, refused = 0, compiled = 0;
  for (int i = 0; i < property_cases() && failures < 5; ++i) {
    const uint64_t seed = property_seed() + 1000000 + static_cast<uint64_t>(i);
    const Compiled c = compile_with(binding, RandomDocument(binding, seed, {.errors = true}).make());
    if (c.result.other_root) continue;
    ++(c.result.bytes.empty() ? refused : compiled);
    const bool opens = open_resource(c.bytes()).ok();
    if (c.result.bytes.empty() == c.result.has_errors() && opens == !c.result.bytes.empty()) continue;
    ++failures;
    ADD_FAILURE() << "seed " << seed << ": errors " << c.result.has_errors() << ", bytes " << c.result.bytes.size()
                  << ", opens " << opens << "\n"
                  << c.source->text();
  }
  EXPECT_GT(refused, 0);
  EXPECT_GT(compiled, 0);
}

std::string name_of(const ::testing::TestParamInfo<uint32_t>& info) {
  return {static_cast<char>(info.param), static_cast<char>(info.param >> 8), static_cast<char>(info.param >> 16),
          static_cast<char>(info.param >> 24)};
}
INSTANTIATE_TEST_SUITE_P(Kinds, RoundTripProperty, ::testing::Values(kImap, kItyp, kGcfg, kYmfm), name_of);

}  // namespace
}  // namespace meridian::test
