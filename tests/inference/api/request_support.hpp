// Bodies read, and what was wrong with them, as texts to compare.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "services/inference/api/limits.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::inference::test {

inline constexpr ApiLimits limits{.context = 1000, .vocabulary = 500};

/// "path: problem\n…", or "" for a body that was read.
template <class Request>
std::string faults(const std::expected<Request, validate::Findings>& read) {
  std::string out;
  if (read) return out;
  for (const validate::Finding& each : read.error()) {
    EXPECT_FALSE(each.fix.empty()) << each.path;
    out += each.path + ": " + each.problem + "\n";
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

}  // namespace stackgate::inference::test
