// What is learned from: texts in parts, and the tokens that they become.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stackgate::trainer {

/// A part of a text; what is trained is what the model is to write itself.
struct Segment {
  std::string text;
  bool trained = false;
  bool operator==(const Segment&) const = default;
};

/// Indices of tokens: begin inclusive, end exclusive.
struct TokenRange {
  std::uint32_t begin = 0, end = 0;
  bool operator==(const TokenRange&) const = default;
};

struct Example {
  std::vector<std::uint32_t> ids;
  std::vector<TokenRange> trained;  // ascending, apart, never with token 0: nothing comes before it

  std::uint64_t trained_tokens() const {
    std::uint64_t out = 0;
    for (const TokenRange& each : trained) out += each.end - each.begin;
    return out;
  }
};

}  // namespace stackgate::trainer
