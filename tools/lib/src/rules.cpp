// SPDX-License-Identifier: MIT
#include "meridian/tools/rules.h"

#include <algorithm>
#include <iterator>

namespace meridian::tools {

// Each is a constant, so that a rule can be named in static initialisers and compared by address.
namespace rules {
using enum Severity;

constinit const Rule malformed_xml{
    "XML001", "malformed-xml", error, true,
    "the text is no well-formed XML: truncated, bad UTF-8, NUL, a second root, a DOCTYPE"};
constinit const Rule unknown_name{"XML002", "unknown-name", warning, true,
                                  "an element or stray text that the schema does not know; kept as it is"};
constinit const Rule unknown_type{"XML003", "unknown-type", warning, true,
                                  "an Item of a type that the schema does not know; kept as it is"};
constinit const Rule duplicate_element{"XML004", "duplicate-element", warning, true,
                                       "an element that can stand once is there again; the first wins"};
constinit const Rule not_a_number{"XML005", "not-a-number", error, true,
                                  "a number field holds something else, such as a decimal comma"};
constinit const Rule integer_range{"XML006", "integer-range", error, true,
                                   "an integer is outside the range of its field"};
constinit const Rule float_range{"XML007", "float-range", error, true,
                                 "a number is not finite or too large for 32-bit floating point"};
constinit const Rule not_an_integer{"XML008", "not-an-integer", warning, true,
                                    "an integer field holds a fraction or an exponent (error where it is not exact)"};
constinit const Rule limit_exceeded{"XML009", "limit-exceeded", error, true,
                                    "the file is deeper, longer or larger than a limit allows"};
constinit const Rule wrong_root{"XML010", "wrong-root", error, true,
                                "the file has no root, another root than is read here, or is no XML at all"};
constinit const Rule unfilled_placeholder{"XML011", "unfilled-placeholder", error, true,
                                          "a template placeholder ${...} was never filled in"};
constinit const Rule unknown_value{"XML012", "unknown-value", error, true,
                                   "an enum, flag or boolean has a value that does not exist"};
constinit const Rule missing_element{"XML013", "missing-element", note, false,
                                     "an element is missing; says which value was assumed"};
constinit const Rule name_collision{"NAM001", "name-collision", error, true, "two different names have the same hash"};
constinit const Rule suspicious_name{"NAM002", "suspicious-name", warning, true,
                                     "a name with a tool's suffix, blanks, capitals or characters outside ASCII"};
constinit const Rule missing_name{"NAM003", "missing-name", error, true,
                                  "an archetype has no name, or an entity names no archetype"};
constinit const Rule illegal_file_name{"NAM006", "illegal-file-name", warning, true,
                                       "an entry of a pack has a name that is no file name on some system"};
constinit const Rule empty_hours{"ARC004", "empty-hours", warning, true,
                                 "a time archetype is visible at no hour, or has unknown hour bits"};
constinit const Rule unknown_pool{"CFG002", "unknown-pool", warning, true, "a pool name that nothing is known to use"};
constinit const Rule duplicate_pool{"CFG003", "duplicate-pool", error, true,
                                    "one configuration gives a pool two different sizes"};
constinit const Rule bad_pool_size{"CFG004", "bad-pool-size", error, true,
                                   "a pool size is no integer from 0 to 2147483647"};
constinit const Rule resource_too_large{"FMT001", "resource-too-large", error, true,
                                        "the resource would be larger than its format or a limit allows"};
constinit const Rule refused_resource{"FMT002", "refused-resource", error, true,
                                      "a compiled resource is damaged, or nothing at hand says how to read it"};
constinit const Rule converted_resource{"FMT003", "converted-resource", warning, true,
                                        "a resource was written by another layout and had to be converted"};
constinit const Rule bad_waiver{
    "WVR001", "bad-waiver", warning, true,
    "a lint-ok comment names an unknown rule or an error, gives no reason, or hits nothing"};
constinit const Rule usage_error{"USE001", "usage-error", error, true, "the command line is wrong"};
constinit const Rule environment_error{"ENV001", "environment-error", error, true,
                                       "a file could not be read or written"};
constinit const Rule internal_error{"INT001", "internal-error", error, true, "a fault in the tool itself"};
}  // namespace rules

namespace {

constexpr const Rule* kAll[] = {
    &rules::empty_hours,       &rules::unknown_pool,         &rules::duplicate_pool,    &rules::bad_pool_size,
    &rules::environment_error, &rules::resource_too_large,   &rules::refused_resource,  &rules::converted_resource,
    &rules::internal_error,    &rules::name_collision,       &rules::suspicious_name,   &rules::missing_name,
    &rules::illegal_file_name, &rules::usage_error,          &rules::bad_waiver,        &rules::malformed_xml,
    &rules::unknown_name,      &rules::unknown_type,         &rules::duplicate_element, &rules::not_a_number,
    &rules::integer_range,     &rules::float_range,          &rules::not_an_integer,    &rules::limit_exceeded,
    &rules::wrong_root,        &rules::unfilled_placeholder, &rules::unknown_value,     &rules::missing_element,
};

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::span<const Rule* const> all_rules() { return kAll; }

const Rule* find_rule(std::string_view code_or_name) {
  const auto* found = std::find_if(std::begin(kAll), std::end(kAll), [&](const Rule* rule) {
    return same_word(rule->code, code_or_name) || same_word(rule->name, code_or_name);
  });
  return found == std::end(kAll) ? nullptr : *found;
}

}  // namespace meridian::tools
