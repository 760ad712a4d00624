// SPDX-License-Identifier: MIT
#include "meridian/tools/pool_sizes.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "meridian/base/log.h"
#include "meridian/resource/game_config_resource.h"
#include "meridian/tools/json_writer.h"
#include "status_text.h"
#include "text_values.h"

namespace meridian::tools {
namespace {

/// Collects what the runtime says, as long as it lives. Threads: main.
class LogCapture {
 public:
  LogCapture() : before_(set_log_sink({write, this})) {}
  ~LogCapture() { set_log_sink(before_); }
  LogCapture(const LogCapture&) = delete;
  LogCapture& operator=(const LogCapture&) = delete;
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  static void write(void* user, const LogMessage& message) {
    static_cast<LogCapture*>(user)->messages_.emplace_back(message.text);
  }
  LogSink before_;
  std::vector<std::string> messages_;
};

struct Row {
  std::string name;
  uint32_t size = 0, configuration = 0;
};

std::vector<Row> rows_of(const GameConfig& config, const LoadedResource& resource) {
  std::vector<Row> rows;
  for (const ConfiguredPool& pool : config.pools()) {
    const auto known = resource.names.find(pool.name.value);
    std::string name;
    if (known != resource.names.end())
      name = known->second;
    else
      append_hash_literal(name, pool.name.value);
    rows.push_back({std::move(name), pool.size, pool.source});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::tuple(fold(a.name), a.name) < std::tuple(fold(b.name), b.name);
  });
  return rows;
}

std::string json_of(const LoadedResource& resource, const std::vector<Row>& rows,
                    const std::vector<std::string>& messages) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("path", std::string_view(resource.path));
  json.key("pools");
  json.begin_array();
  for (const Row& row : rows) {
    json.begin_object();
    json.member("name", std::string_view(row.name));
    json.member("size", row.size);
    json.member("configuration", row.configuration);
    json.end_object();
  }
  json.end_array();
  json.key("messages");
  json.begin_array();
  for (const std::string& message : messages) json.value(std::string_view(message));
  json.end_array();
  json.end_object();
  return out += '\n';
}

std::string text_of(const std::vector<Row>& rows, const std::vector<std::string>& messages) {
  std::string out;
  for (const Row& row : rows) {
    const std::string size = std::to_string(row.size);
    std::string line = row.name;
    line.resize(std::max<size_t>(line.size() + 1, 48), ' ');
    line.append(size.size() < 10 ? 10 - size.size() : 0, ' ');
    out += line + size + "  of configuration " + std::to_string(row.configuration) + "\n";
  }
  for (const std::string& message : messages) out += "note: " + message + "\n";
  return out;
}

}  // namespace

bool pool_sizes(const LoadedResource& resource, const ConfigTarget& target, bool json, std::string& out,
                std::string& error) {
  GameConfig config;
  const LogCapture log;
  const Status status = load_game_config(config, resource.bytes, target);
  if (!status.ok()) {
    error = describe(status);
    return false;
  }
  const std::vector<Row> rows = rows_of(config, resource);
  out = json ? json_of(resource, rows, log.messages()) : text_of(rows, log.messages());
  return true;
}

}  // namespace meridian::tools
