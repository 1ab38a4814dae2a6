// Bodies read, and what was wrong with them, as texts to compare.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "services/guardrail/api/fields.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::guardrail::test {

/// "status path: problem\n…", or "" for a body that was read.
template <class Request>
std::string faults(const std::expected<Request, validate::Findings>& read) {
  if (read) return {};
  std::string out = std::to_string(refuse(read.error()).status);
  for (const validate::Finding& each : read.error()) {
    EXPECT_FALSE(each.fix.empty()) << each.path;
    out += " " + each.path + ": " + each.problem + "\n";
  }
  return out;
}

template <class Reader>
auto read_body(Reader&& reader, std::string_view text) {
  json::Document document;
  const auto root = json::parse(text, document);
  EXPECT_TRUE(root.has_value()) << text;
  return reader(root.value_or(json::Value{}));
}

}  // namespace stackgate::guardrail::test
