// SPDX-License-Identifier: MIT
#include "meridian/resource/game_config_resource.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "flatbuffers/reflection_generated.h"
#include "meridian/resource/fingerprint.h"
#include "meridian/resource/resource.h"
#include "meridian/schemas/gameconfig_generated.h"
#include "support/schema_text.h"
#include "support/temp_dir.h"

namespace meridian {
namespace {

using test::Bytes;

constexpr uint32_t kKind = kind_of("GCFG");

std::span<const std::byte> built_in() { return find_builtin_schema(kKind)->bfbs; }
/// A file from JSON; the FlatBuffers parser makes it.
Bytes file_of(const std::string& json) { return test::resource_of(built_in(), json, kKind); }

std::string pool(const char* name, int size) {
  return "{name:" + std::to_string(hash_name(name).value) + ",size:" + std::to_string(size) + "}";
}

ConfigTarget target_of(const char* preset, const char* platform) {
  ConfigTarget target;
  EXPECT_TRUE(set_build(target, preset));
  target.platform = find_config_platform(platform);
  return target;
}

/// What is said is what is wanted here, not on the screen.
class Messages {
 public:
  Messages() {
    set_log_sink(
        {[](void* user, const LogMessage& message) { static_cast<Messages*>(user)->texts.emplace_back(message.text); },
         this});
  }
  ~Messages() { set_log_sink({}); }
  std::vector<std::string> texts;
};

// CONF-1, CONF-3
TEST(GameConfigResource, AFileHasAllConfigurationsAndATargetSelects) {
  std::string lanes;
  for (int i = 0; i < 16; ++i) lanes += (i == 0 ? "lane" : ",lane") + std::to_string(i) + ":" + std::to_string(100 + i);
  const Bytes file = file_of(
      "{config_array:["
      "{build:'Any', platforms:'Any', config:{pool_sizes:{entries:[" +
      pool("Building", 100) + "," + pool("Peds", 20) +
      "]}, population:{max_total_peds:128, vehicle_upper_limit:60, vehicle_spacing:{" + lanes +
      "}},"
      " model_info:{default_player_name:'michael'}, streaming_engine:{virtual_streaming_buffer:700},"
      " threads:[{key:'Update', priority:'PRIO_NORMAL', cpu_affinity:[0,1]},{key:'Render', priority:'PRIO_NORMAL'}],"
      " script_stack_sizes:{stack_size_data:[{stack_name:1,size_of_stack:2,number_of_stacks:3},"
      "{stack_name:4,size_of_stack:5,number_of_stacks:6}]}}},"
      "{build:'nonfinal', config:{pool_sizes:{entries:[" +
      pool("building", 200) +
      "]}}},"
      "{platforms:'ps4 | xboxone', config:{population:{max_total_peds:0},"
      " threads:[{key:'Render', priority:'PRIO_HIGHEST'}], streaming_engine:{virtual_streaming_buffer:0}}},"
      "{build:'any'}]}");
  GameConfig config;
  ASSERT_TRUE(load_game_config(config, file, target_of("release", "ps4")).ok());
  EXPECT_EQ(config.size_of_pool(hash_name("Building"), 1).value(), 200u);
  EXPECT_EQ(config.size_of_pool(hash_name("Peds"), 1).value(), 20u);
  EXPECT_EQ(config.find_int("population.max_total_peds"), 0);
  EXPECT_EQ(config.find_int("population.vehicle_upper_limit"), 60);
  EXPECT_EQ(config.find_int("streaming_engine.virtual_streaming_buffer"), 0) << "0 is no absence";
  EXPECT_FALSE(config.find_int("streaming_engine.archive_count"));
  EXPECT_EQ(config.find_text("model_info.default_player_name"), "michael");
  EXPECT_EQ(config.find_text("threads.Render.priority"), "PRIO_HIGHEST");
  EXPECT_EQ(config.find_text("threads.Update.priority"), "PRIO_NORMAL") << "by key: others stay";
  ASSERT_TRUE(config.find_list<int32_t>("threads.Update.cpu_affinity"));
  EXPECT_EQ((*config.find_list<int32_t>("threads.Update.cpu_affinity"))[1], 1);
  const auto spacing = config.find_list<schema::Lanes16>("population.vehicle_spacing");
  ASSERT_TRUE(spacing && spacing->size() == 1);
  EXPECT_EQ(spacing->front().lane15(), 115);
  const auto stacks = config.find_list<schema::ScriptStackSize>("script_stack_sizes.stack_size_data");
  ASSERT_TRUE(stacks && stacks->size() == 2);
  EXPECT_EQ((*stacks)[1].number_of_stacks(), 6);

  ASSERT_TRUE(load_game_config(config, file, target_of("final", "x64")).ok());
  EXPECT_EQ(config.size_of_pool(hash_name("Building"), 1).value(), 100u);
  EXPECT_EQ(config.find_int("population.max_total_peds"), 128);
  EXPECT_EQ(config.find_text("threads.Render.priority"), "PRIO_NORMAL");
}

/// JSON with a value for every member of a table, and the paths that they should get.
class FullTable {
 public:
  explicit FullTable(const reflection::Schema& schema) : schema_(schema) {}
  std::string table(const reflection::Object& object, const std::string& path) {
    std::string json;
    for (const reflection::Field* field : *object.fields()) {
      const std::string name = field->name()->str();
      if (path.empty() && name == "pool_sizes") continue;
      json += (json.empty() ? "" : ",") + name + ":" + value(*field->type(), path.empty() ? name : path + "." + name);
    }
    return "{" + json + "}";
  }
  std::set<std::string> paths;

 private:
  std::string value(const reflection::Type& type, const std::string& path) {
    const bool is_list = type.base_type() == reflection::Vector;
    const reflection::BaseType base = is_list ? type.element() : type.base_type();
    if (base == reflection::Obj) {
      const reflection::Object& object = *schema_.objects()->Get(static_cast<uint32_t>(type.index()));
      if (!object.is_struct()) {
        if (!is_list) return table(object, path);
        // The value of its key is "s", as of any text here.
        return "[" + table(object, path + ".s") + "]";
      }
      paths.insert(path);
      std::string json;
      for (const reflection::Field* field : *object.fields())
        json += (json.empty() ? "" : ",") + field->name()->str() + ":3";
      return is_list ? "[{" + json + "}]" : "{" + json + "}";
    }
    paths.insert(path);
    const std::string json = base == reflection::String ? "'s'" : "1";
    return is_list ? "[" + json + "]" : json;
  }
  const reflection::Schema& schema_;
};

TEST(GameConfigResource, EveryMemberOfTheSchemaHasAValueUnderItsPath) {
  const reflection::Schema& schema = *reflection::GetSchema(built_in().data());
  const reflection::Object* object = nullptr;
  for (const reflection::Object* candidate : *schema.objects())
    if (candidate->name()->str() == "meridian.schema.GameConfig") object = candidate;
  ASSERT_NE(object, nullptr);
  FullTable full(schema);
  const std::string json = full.table(*object, "");
  ASSERT_GT(full.paths.size(), 100u);
  GameConfig config;
  ASSERT_TRUE(load_game_config(config, file_of("{config_array:[{config:" + json + "}]}"), {}).ok());
  std::set<uint32_t> expected;
  for (const std::string& path : full.paths) expected.insert(hash_type(path).value);
  EXPECT_EQ(expected.size(), full.paths.size()) << "two paths with one hash";
  ASSERT_EQ(config.values().size(), expected.size());
  for (const ConfigValue& value : config.values()) EXPECT_TRUE(expected.contains(value.path.value));
  EXPECT_EQ(config.find_int("media_transcoding.transcoding_buffer"), 1);
  EXPECT_EQ(config.find_text("threads.s.priority"), "s");
}

TEST(GameConfigResource, EmptyFilesAndThreadsWithoutAUsefulKeyDoNoHarm) {
  GameConfig config;
  ASSERT_TRUE(load_game_config(config, file_of("{}"), {}).ok());
  ASSERT_TRUE(load_game_config(config, file_of("{config_array:[]}"), {}).ok());
  ASSERT_TRUE(load_game_config(config, file_of("{config_array:[{},{config:{}}]}"), {}).ok());
  EXPECT_TRUE(config.values().empty() && config.pools().empty());
  Messages messages;
  const std::string longest(300, 'k');
  ASSERT_TRUE(load_game_config(config,
                               file_of("{config_array:[{config:{threads:[{priority:'A'},{key:'" + longest +
                                       "',priority:'B'},{key:'ok',priority:'C'}]}}]}"),
                               {})
                  .ok());
  EXPECT_EQ(config.values().size(), 2u) << "key and priority of 'ok'";
  EXPECT_EQ(config.find_text("threads.ok.priority"), "C");
  EXPECT_EQ(messages.texts.size(), 2u) << "key and priority of the long one";
}

TEST(GameConfigResource, DamagedAndOtherFilesAreRefusedAndChangeNothing) {
  GameConfig config;
  Bytes file = file_of("{config_array:[{config:{population:{max_total_peds:5}}}]}");
  ASSERT_TRUE(load_game_config(config, file, {}).ok());
  file[8] ^= std::byte{1};
  EXPECT_EQ(load_game_config(config, file, {}).code, StatusCode::bad_checksum);
  const Bytes map = test::resource_of(find_builtin_schema(kind_of("IMAP"))->bfbs, "{}", kind_of("IMAP"));
  EXPECT_EQ(load_game_config(config, map, {}).code, StatusCode::wrong_kind);
  EXPECT_EQ(load_game_config(config, std::span<const std::byte>(), {}).code, StatusCode::too_small);
  EXPECT_EQ(config.find_int("population.max_total_peds"), 5);
}

std::string write(const test::TempDir& folder, const char* name, int peds) {
  const Bytes file = file_of("{config_array:[{config:{population:{max_total_peds:" + std::to_string(peds) + "}}}]}");
  return folder.write(name, {reinterpret_cast<const char*>(file.data()), file.size()});
}

// CONF-7
TEST(GameConfigResource, AnAlternativeThatDoesNotExistFallsBackWithAMessage) {
  const test::TempDir folder;
  const std::string main = write(folder, "main.gcfg", 1), other = write(folder, "other.gcfg", 2);
  const std::string damaged = folder.write("damaged.gcfg", "no such thing");
  const std::string missing = folder.path("missing.gcfg"), below_a_file = main + "/x.gcfg";
  Messages messages;
  GameConfig config;
  const auto peds = [&] { return config.find_int("population.max_total_peds"); };

  ASSERT_TRUE(load_game_config(config, {.path = main.c_str()}, {}).ok());
  EXPECT_EQ(peds(), 1);
  ASSERT_TRUE(load_game_config(config, {main.c_str(), other.c_str()}, {}).ok());
  EXPECT_EQ(peds(), 2);
  ASSERT_TRUE(load_game_config(config, {main.c_str(), ""}, {}).ok());
  EXPECT_EQ(peds(), 1);
  EXPECT_TRUE(messages.texts.empty());

  ASSERT_TRUE(load_game_config(config, {other.c_str(), missing.c_str()}, {}).ok());
  EXPECT_EQ(peds(), 2);
  ASSERT_EQ(messages.texts.size(), 1u);
  EXPECT_EQ(messages.texts[0], "there is no game configuration '" + missing + "'; '" + other + "' is used instead");
  ASSERT_TRUE(load_game_config(config, {main.c_str(), below_a_file.c_str()}, {}).ok());
  EXPECT_EQ(messages.texts.size(), 2u);

  EXPECT_EQ(load_game_config(config, {other.c_str(), damaged.c_str()}, {}).code, StatusCode::too_small);
  EXPECT_EQ(load_game_config(config, {other.c_str(), folder.path().c_str()}, {}).code, StatusCode::wrong_kind);
  EXPECT_EQ(peds(), 1) << "a damaged alternative is an error, and changes nothing";
  const Status nothing = load_game_config(config, {missing.c_str(), missing.c_str()}, {});
  EXPECT_EQ(nothing.code, StatusCode::not_found);
}

}  // namespace
}  // namespace meridian
