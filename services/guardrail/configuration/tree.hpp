// The YAML of a configuration as one tree: several files' documents joined, every value with its place. Pure.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "services/kit/jinja/value.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::guardrail {

/// Where something stands: a byte of files[file].
struct Origin {
  std::uint32_t file = 0;
  std::uint32_t offset = 0;
};

struct Tree {
  json::Type type = json::Type::null;
  bool flag = false;
  std::int64_t integer = 0;
  double number = 0;  // of both kinds of numbers
  std::string text{};
  std::vector<Tree> items{};
  std::vector<Tree> members{};
  Origin origin{};
  std::string key{};  // of a member
  Origin key_origin{};

  bool is(json::Type wanted) const { return type == wanted; }
  bool is_null() const { return type == json::Type::null; }
  bool is_number() const { return type == json::Type::integer || type == json::Type::number; }
  /// nullptr: there is no such member, or it is null, or this is no mapping.
  const Tree* find(std::string_view name) const;
  /// Of a path: "rails.input.flows".
  const Tree* at(std::string_view path) const;
  /// A text, or a number as it would be written; empty for all else.
  std::string scalar() const;
};

Tree tree_of(const json::Value& value, std::uint32_t file);

/// Two values of one path that cannot be joined: a list and a text.
struct Conflict {
  std::string path;
  Origin earlier, later;
};

/// `later` joined to `into`: mappings member by member, lists one behind the other, else the later one's value counts.
/// What is null counts as absent.
void join(Tree& into, Tree later, std::vector<Conflict>& conflicts, const std::string& path = {});

jinja::Value value_of(const Tree& tree);
void write_json(json::Writer& w, const Tree& tree);

}  // namespace stackgate::guardrail
