#include "services/kit/findings/json_report.hpp"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/findings/quoting.hpp"

namespace stackgate::validate {
namespace {

constexpr std::size_t most_findings = 100;

std::optional<std::uint32_t> whole(const json::Value& value, std::uint32_t least, std::uint32_t most) {
  if (!value.is_integer() || value.integer() < least || value.integer() > most) return std::nullopt;
  return static_cast<std::uint32_t>(value.integer());
}

std::string place_of(std::string_view file, const std::string& path) {
  if (file.empty()) return path;
  return path.empty() ? std::string(file) : fmt::format("{}: {}", file, path);
}

}  // namespace

JsonPlace JsonPlace::member(std::string_view key, const json::Value& of) const {
  return {path.empty() ? std::string(key) : fmt::format("{}.{}", path, key), of};
}

JsonPlace JsonPlace::item(std::string_view key, std::size_t index, const json::Value& of) const {
  JsonPlace out = member(key, of);
  out.path += fmt::format("[{}]", index);
  return out;
}

std::optional<json::Value> JsonReport::parse(std::string_view rule, std::string_view text, json::Document& document,
                                             const json::ParseLimits& limits) {
  const auto root = json::parse(text, document, limits);
  if (!root) {
    failed_ = true;
    out_.push_back({.rule = rule,
                    .path = std::string(file_),
                    .value = {},
                    .problem = root.error().message,
                    .fix = fmt::format("write one JSON object of at most {} MiB", limits.max_bytes >> 20U),
                    .offset = root.error().offset});
    return std::nullopt;
  }
  if (root->is_object()) return *root;
  wrong_type({{}, *root}, "an object");
  return std::nullopt;
}

void JsonReport::wrong(std::string_view rule, const JsonPlace& at, std::string problem, std::string fix,
                       Severity severity) {
  failed_ = failed_ || severity == Severity::error;
  if (out_.size() >= most_findings) return;
  out_.push_back({.rule = rule,
                  .severity = severity,
                  .path = place_of(file_, at.path),
                  .value = quoted_value({}, &at.value),
                  .problem = std::move(problem),
                  .fix = std::move(fix),
                  .offset = at.value.offset()});
}

void JsonReport::wrong_type(const JsonPlace& at, std::string_view wanted) {
  wrong(rules_.type, at, fmt::format("must be {}", wanted), fmt::format("write {}", wanted));
}

void JsonReport::missing(const JsonPlace& of, std::string_view key) {
  wrong(rules_.missing, of, fmt::format("lacks \"{}\"", key), fmt::format("write \"{}\"", key));
}

void JsonReport::not_served(const JsonPlace& at, std::string_view what, std::string_view name,
                            std::span<const std::string_view> served) {
  wrong(rules_.not_served, at, fmt::format("the {} \"{}\" is not served", what, name),
        fmt::format("use one of {}", fmt::join(served, ", ")));
}

bool JsonReport::flag(const JsonPlace& of, std::string_view key, bool fallback) {
  const json::Value* found = present(of, key);
  if (found == nullptr) return fallback;
  if (!found->is_boolean()) wrong_type(of.member(key, *found), "true or false");
  return found->boolean();
}

std::string JsonReport::text(const JsonPlace& of, std::string_view key, std::string_view fallback) {
  const json::Value* found = present(of, key);
  if (found == nullptr) return std::string(fallback);
  if (!found->is_string()) wrong_type(of.member(key, *found), "a text");
  return std::string(found->string());
}

std::uint32_t JsonReport::number(const JsonPlace& of, std::string_view key, std::uint32_t least, std::uint32_t most,
                                 std::uint32_t fallback) {
  return present(of, key) == nullptr ? fallback : needed_number(of, key, least, most).value_or(fallback);
}

double JsonReport::positive(const JsonPlace& of, std::string_view key, double fallback) {
  const json::Value* found = present(of, key);
  if (found == nullptr) return fallback;
  if (found->is_number() && found->number() > 0 && std::isfinite(found->number())) return found->number();
  wrong_type(of.member(key, *found), "a number above 0");
  return fallback;
}

std::optional<double> JsonReport::real(const JsonPlace& of, std::string_view key, double least, double most) {
  const json::Value* found = present(of, key);
  if (found == nullptr) return std::nullopt;
  if (found->is_number() && found->number() >= least && found->number() <= most) return found->number();
  wrong_type(of.member(key, *found), fmt::format("a number from {} to {}", least, most));
  return std::nullopt;
}

std::optional<std::uint32_t> JsonReport::needed_number(const JsonPlace& of, std::string_view key, std::uint32_t least,
                                                       std::uint32_t most) {
  const json::Value* found = of.value.find(key);
  if (found == nullptr) {
    missing(of, key);
    return std::nullopt;
  }
  const auto number = whole(*found, least, most);
  if (!number) wrong_type(of.member(key, *found), fmt::format("a whole number from {} to {}", least, most));
  return number;
}

const json::Value* JsonReport::present(const JsonPlace& of, std::string_view key) {
  const json::Value* found = of.value.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

}  // namespace stackgate::validate
