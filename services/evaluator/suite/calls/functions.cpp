#include "services/evaluator/suite/calls/functions.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "services/kit/base/ascii.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

constexpr auto schema_types = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"dict", "object"},  {"HashMap", "object"},  {"Hashtable", "object"}, {"float", "number"},    {"double", "number"},
    {"tuple", "array"},  {"list", "array"},      {"Array", "array"},      {"ArrayList", "array"}, {"Queue", "array"},
    {"Stack", "array"},  {"any", "string"},      {"Any", "string"},       {"String", "string"},   {"char", "string"},
    {"bool", "boolean"}, {"Boolean", "boolean"}, {"int", "integer"},      {"byte", "integer"},    {"short", "integer"},
    {"long", "integer"}, {"Bigint", "integer"},
});

std::string_view schema_type(std::string_view type) {
  const auto* const found = std::ranges::find(schema_types, type, [](const auto& each) { return each.first; });
  return found == schema_types.end() ? type : found->second;
}

/// Rows are at most 64 deep, so this ends.
void write_schema(json::Writer& w, const json::Value& schema) {
  if (!schema.is_object()) return w.value(schema);
  w.object([&] {
    for (const json::Member& each : schema.members()) {
      w.key(each.key);
      if (each.key == "type" && each.value.is_string()) {
        w.value(schema_type(each.value.string()));
      } else if (each.key == "properties" && each.value.is_object()) {
        w.object([&] {
          for (const json::Member& property : each.value.members()) {
            w.key(property.key);
            write_schema(w, property.value);
          }
        });
      } else if (each.key == "items" || each.key == "additionalProperties") {
        write_schema(w, each.value);
      } else {
        w.value(each.value);
      }
    }
  });
}

const json::Value& function_of(const json::Value& described) {
  const json::Value* inner = described.find("function");
  return inner != nullptr && inner->is_object() ? *inner : described;
}

/// The function that was asked for by this name.
std::string_view own_name(std::string_view asked, const json::Value& functions) {
  for (const json::Value& each : functions.items())
    if (const std::string_view own = json::text(&function_of(each), {"name"}); own == asked || tool_name(own) == asked)
      return own;
  return asked;
}

}  // namespace

std::string tool_name(std::string_view function) {
  std::string out(function);
  for (char& c : out)
    if (!ascii::is_alphanumeric(c) && c != '_' && c != '-') c = '_';
  return out;
}

std::string tools_of(const json::Value& functions) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const json::Value& each : functions.items()) {
      if (each.find("function") != nullptr) {
        w.value(each);
        continue;
      }
      w.object([&] {
        w.member("type", "function");
        w.object("function", [&] {
          w.member("name", tool_name(json::text(&each, {"name"})));
          for (const json::Member& member : each.members()) {
            if (member.key == "name") continue;
            w.key(member.key);
            if (member.key == "parameters")
              write_schema(w, member.value);
            else
              w.value(member.value);
          }
        });
      });
    }
  });
  return out;
}

std::string calls_of(std::string_view calls, const json::Value& functions) {
  json::Document document;
  const json::Value root =
      calls.empty() ? json::Value() : json::parse(calls, document, {.max_depth = 64}).value_or(json::Value());
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const json::Value& each : root.items()) {
      const json::Value& function = function_of(each);
      w.object([&] {
        w.member("name", own_name(json::text(&function, {"name"}), functions));
        w.member("arguments", json::value_at(&function, {"arguments"}));
      });
    }
  });
  return out;
}

}  // namespace stackgate::evaluator
