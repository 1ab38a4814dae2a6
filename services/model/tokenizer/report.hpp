// Findings about one tokenizer.json, and members of it that must have a certain type.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/findings/finding.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/findings/quoting.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::tokenizer {

/// Where a component stands in the file, and its JSON.
struct Component {
  std::string path;  // "pre_tokenizer.pretokenizers[1]"
  const json::Value& value;

  Component member(std::string_view key, const json::Value& of) const { return {fmt::format("{}.{}", path, key), of}; }
  Component item(std::string_view key, std::size_t index, const json::Value& of) const {
    return {fmt::format("{}.{}[{}]", path, key, index), of};
  }
};

class Report {
 public:
  explicit Report(validate::Findings& out) : out_(out) {}

  void wrong(std::string_view rule, const Component& at, std::string problem, std::string fix) {
    failed_ = true;
    if (out_.size() >= 100) return;  // more than these say nothing new
    out_.push_back({.rule = rule,
                    .severity = validate::Severity::error,
                    .path = "tokenizer.json: " + at.path,
                    .value = validate::quoted_value({}, &at.value),
                    .problem = std::move(problem),
                    .fix = std::move(fix),
                    .offset = at.value.offset()});
  }
  void wrong_type(const Component& at, std::string_view wanted) {
    wrong("tokenizer-type", at, fmt::format("must be {}", wanted), fmt::format("write {}", wanted));
  }
  /// A component or a value of a kind that is not served.
  void unknown_name(const Component& at, std::string_view what, std::string_view name,
                    std::span<const std::string_view> known) {
    wrong("tokenizer-not-served", at, fmt::format("the {} \"{}\" is not served", what, name),
          fmt::format("use one of {}", fmt::join(known, ", ")));
  }
  bool failed() const { return failed_; }

  /// Optional members: absent and null are the fallback.
  bool flag(const Component& of, std::string_view key, bool fallback) {
    const json::Value* found = present(of, key);
    if (found == nullptr) return fallback;
    if (!found->is_boolean()) wrong_type(of.member(key, *found), "true or false");
    return found->boolean();
  }
  std::string text(const Component& of, std::string_view key, std::string_view fallback = {}) {
    const json::Value* found = present(of, key);
    if (found == nullptr) return std::string(fallback);
    if (!found->is_string()) wrong_type(of.member(key, *found), "a text");
    return std::string(found->string());
  }
  /// Nothing, and a finding, unless it is a whole number from 0 to `most`.
  std::optional<std::uint32_t> number(const Component& of, std::string_view key, std::uint32_t most) {
    const json::Value* found = of.value.find(key);
    if (found == nullptr) {
      wrong("tokenizer-missing", of, fmt::format("lacks \"{}\"", key), fmt::format("write \"{}\"", key));
      return std::nullopt;
    }
    if (!found->is_integer() || found->integer() < 0 || found->integer() > most) {
      wrong_type(of.member(key, *found), fmt::format("a whole number from 0 to {}", most));
      return std::nullopt;
    }
    return static_cast<std::uint32_t>(found->integer());
  }
  static const json::Value* present(const Component& of, std::string_view key) {
    const json::Value* found = of.value.find(key);
    return found == nullptr || found->is_null() ? nullptr : found;
  }

 private:
  validate::Findings& out_;
  bool failed_ = false;
};

}  // namespace stackgate::tokenizer
