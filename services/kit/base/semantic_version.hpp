// Semantic versions (https://semver.org, 2.0.0): grammar and order. Pure.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate {

inline constexpr std::size_t longest_semantic_version = 64;  // bytes

struct SemanticVersion {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::vector<std::string> pre;  // identifiers before '+', "rc", "1"
  std::string build;             // counts for nothing in the order
};

/// Nothing when `text` is no semantic version, is longer than longest_semantic_version, or has a number beyond 64 bits.
std::optional<SemanticVersion> parse_semantic_version(std::string_view text);

/// Section 11: 1.0.0-alpha < 1.0.0-alpha.1 < 1.0.0-beta < 1.0.0.
std::strong_ordering compare(const SemanticVersion& a, const SemanticVersion& b);

}  // namespace stackgate
