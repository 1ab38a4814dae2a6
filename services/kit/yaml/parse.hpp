// YAML (and JSON, its subset) to json Documents, as kubectl reads it: one Document per `---`, scalars resolved by the
// YAML 1.1 rules of Kubernetes' own reader (yes/no/on/off are booleans, 0o17 and 017 are octal, ~ is null), anchors and
// merge keys expanded within a size limit, duplicate keys refused.
#pragma once
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::yaml {

struct Stream {
  /// One per document that holds anything; all offsets count from the beginning of the whole text.
  std::deque<json::Document> documents;
  /// The first thing that is not YAML; documents before it are there, the rest is not read.
  bool failed = false;
  json::ParseError error;
};

/// `text` must outlive the result: strings may be views into it.
Stream parse(std::string_view text, const json::ParseLimits& limits = {});

/// 1-based line and column (in characters, not bytes) of an offset, and the line's text without its end.
struct Place {
  std::uint32_t line = 1, column = 1;
  std::string_view text;
};
Place locate(std::string_view text, std::uint32_t offset);

}  // namespace stackgate::yaml
