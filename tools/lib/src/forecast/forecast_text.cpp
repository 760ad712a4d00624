// SPDX-License-Identifier: MIT
// Forecasts as text and as JSON.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "forecast/forecast_words.h"
#include "grouped_number.h"
#include "lint/lint_context.h"
#include "meridian/tools/json_writer.h"

namespace meridian::tools {
namespace {

std::string overflow_text(const ForecastRow& row) {
  const std::string where = row.is_everywhere ? "" : " near " + place_text(row);
  return std::string(row.name) + " will overflow" + where + ": " + amount_text(row, row.most) + " of " +
         amount_text(row, row.limit);
}

}  // namespace

std::string amount_text(const ForecastRow& row, uint64_t amount) {
  return row.is_bytes ? bytes_text(amount) : grouped(amount);
}

std::string most_text(const ForecastRow& row) {
  return amount_text(row, row.most) + (row.bound > row.most ? " to " + amount_text(row, row.bound) : std::string());
}

std::string limit_text(const ForecastRow& row) {
  if (row.limit_from == ForecastRow::Limit::none) return "-";
  return amount_text(row, row.limit) + (row.limit_from == ForecastRow::Limit::built_in ? " (built in)" : "");
}

std::string place_text(const ForecastRow& row) {
  if (row.is_everywhere) return "everywhere";
  return "(" + shown(std::round(row.place.x)) + ", " + shown(std::round(row.place.y)) + ", " +
         shown(std::round(row.place.z)) + ")";
}

std::string forecast_text(const Forecast& forecast) {
  std::string out;
  for (const ForecastRow& row : forecast.rows)
    if (row.overflows()) out += overflow_text(row) + "\n";
  if (!out.empty()) out += "\n";
  size_t name_width = 24, most_width = 10, limit_width = 16;  // room for what most worlds say
  for (const ForecastRow& row : forecast.rows) {
    name_width = std::max(name_width, row.name.size());
    most_width = std::max(most_width, most_text(row).size());
    limit_width = std::max(limit_width, limit_text(row).size());
  }
  const auto line = [&](std::string_view name, const std::string& most, const std::string& limit,
                        const std::string& place, const std::string& rest) {
    char text[512];
    std::snprintf(text, sizeof text, "%-*.*s  %*s  %*s  %-24s", static_cast<int>(name_width),
                  static_cast<int>(name.size()), name.data(), static_cast<int>(most_width), most.c_str(),
                  static_cast<int>(limit_width), limit.c_str(), place.c_str());
    std::string made = text + (rest.empty() ? rest : "  " + rest);
    while (made.back() == ' ') made.pop_back();
    out += made + "\n";
  };
  line("pool", "most", "of", "near", "most of it from");
  for (const ForecastRow& row : forecast.rows) {
    std::string users;
    for (size_t i = 0; i < std::min<size_t>(2, row.heaviest.size()); ++i)
      users += (i == 0 ? "" : ", ") + row.heaviest[i].unit->stem + " " + amount_text(row, row.heaviest[i].amount);
    line(row.name, most_text(row), limit_text(row), place_text(row), users);
  }
  out += "\n" + grouped(forecast.maps) + " maps stream in by place";
  if (forecast.maps_by_name != 0)
    out += ", " + grouped(forecast.maps_by_name) + " by name only (not counted but in stores)";
  if (forecast.maps_without_box != 0)
    out += ", " + grouped(forecast.maps_without_box) + " have no streaming box (not counted)";
  return out + "\n";
}

std::string forecast_json(const Forecast& forecast) {
  std::string out;
  JsonWriter json(out);
  json.begin_object();
  json.member("maps", forecast.maps);
  json.member("maps_by_name", forecast.maps_by_name);
  json.member("maps_without_box", forecast.maps_without_box);
  json.key("pools");
  json.begin_array();
  for (const ForecastRow& row : forecast.rows) {
    json.begin_object();
    json.member("name", row.name);
    json.member("unit", row.is_bytes ? "bytes" : "count");
    json.member("most", row.most);
    json.member("at_most", row.bound);
    json.key("limit");
    row.limit_from == ForecastRow::Limit::none ? json.null() : json.value(row.limit);
    json.member("limit_from", row.limit_from == ForecastRow::Limit::none     ? "none"
                              : row.limit_from == ForecastRow::Limit::config ? "config"
                                                                             : "built_in");
    json.member("overflows", row.overflows());
    json.key("place");
    if (row.is_everywhere) {
      json.null();
    } else {
      json.begin_array(true);
      for (const double v : {row.place.x, row.place.y, row.place.z}) json.value(v);
      json.end_array();
    }
    json.key("heaviest");
    json.begin_array();
    for (const ForecastUser& user : row.heaviest) {
      json.begin_object();
      json.member("file", user.unit->path);
      json.member("amount", user.amount);
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return out + "\n";
}

}  // namespace meridian::tools
