// SPDX-License-Identifier: MIT
// REL-6, P043: the bytes are a function of the source and the options, not of locale, folder, thread count or order.
#include <gtest/gtest.h>

#include <clocale>
#include <filesystem>
#include <locale>
#include <string>
#include <thread>

#include "property/random_document.h"
#include "support/compile_kit.h"

namespace meridian::test {
namespace {

/// Numbers with a decimal comma and dots between thousands, where no such locale is installed.
class CommaNumbers : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// Another C and C++ locale for a scope.
class OtherLocale {
 public:
  OtherLocale() : c_(std::setlocale(LC_ALL, nullptr)), cpp_(std::locale()) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8"})
      if (std::setlocale(LC_ALL, name) != nullptr) {
        found_ = true;
        break;
      }
    std::locale::global(std::locale(std::locale(), new CommaNumbers));
  }
  ~OtherLocale() {
    std::locale::global(cpp_);
    std::setlocale(LC_ALL, c_.c_str());
  }
  bool has_c_locale() const { return found_; }

 private:
  std::string c_;
  std::locale cpp_;
  bool found_ = false;
};

class DeterminismProperty : public ::testing::TestWithParam<uint32_t> {};

TEST_P(DeterminismProperty, LocaleFolderAndThreadsChangeNothing) {
  const tools::Binding& binding = *tools::Binding::builtin(GetParam());
  const std::filesystem::path folder = std::filesystem::current_path();
  const TempDir elsewhere;
  for (int i = 0; i < property_cases(); ++i) {
    const uint64_t seed = property_seed() + 3000000 + static_cast<uint64_t>(i);
    const std::string xml = RandomDocument(binding, seed, {.errors = i % 5 == 0, .long_lists = i % 20 == 0}).make();
    tools::CompileOptions options;
    options.stem = "qa_stem";
    options.window_bytes = 500;
    options.jobs = 1;
    const Compiled plain = compile_with(binding, xml, options);
    const std::string dump = plain.result.bytes.empty() ? "" : dump_of(plain.result.bytes);
    std::string other_dump;
    Compiled other;
    {
      const OtherLocale locale;
      std::filesystem::current_path(elsewhere.path());
      options.jobs = 1 + static_cast<uint32_t>(i % 5);
      other = compile_with(binding, xml, options);
      other_dump = other.result.bytes.empty() ? "" : dump_of(other.result.bytes);
      std::filesystem::current_path(folder);
    }
    ASSERT_TRUE(other.result.bytes == plain.result.bytes) << "seed " << seed;
    ASSERT_EQ(other.all(), plain.all()) << "seed " << seed;
    ASSERT_EQ(other_dump, dump) << "seed " << seed;
  }
}

TEST_P(DeterminismProperty, ManyThreadsAtOnceGetTheSame) {
  const tools::Binding& binding = *tools::Binding::builtin(GetParam());
  for (int round = 0; round < property_cases() / 100; ++round) {
    const uint64_t seed = property_seed() + 4000000 + static_cast<uint64_t>(round);
    const std::string xml = RandomDocument(binding, seed, {.long_lists = true}).make();
    tools::CompileOptions options;
    options.window_bytes = 400;
    const Compiled plain = compile_with(binding, xml, options);
    std::vector<Compiled> results(6);
    std::vector<std::thread> threads;
    for (Compiled& r : results) threads.emplace_back([&] { r = compile_with(binding, xml, options); });
    for (std::thread& t : threads) t.join();
    for (const Compiled& r : results) {
      ASSERT_TRUE(r.result.bytes == plain.result.bytes) << "seed " << seed;
      ASSERT_EQ(r.all(), plain.all()) << "seed " << seed;
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<uint32_t>& info) {
  return {static_cast<char>(info.param), static_cast<char>(info.param >> 8), static_cast<char>(info.param >> 16),
          static_cast<char>(info.param >> 24)};
}
INSTANTIATE_TEST_SUITE_P(Kinds, DeterminismProperty, ::testing::Values(kImap, kItyp, kGcfg, kYmfm), name_of);

}  // namespace
}  // namespace meridian::test
