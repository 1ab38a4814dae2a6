// POST /v1/comparisons: the body as values. Pure.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::evaluator {

inline constexpr std::size_t most_compared = 8;

struct ComparisonRequest {
  std::vector<std::string> evaluations{};  // two to eight names, each once
  std::string baseline{};                  // one of them; the first, where the body names none
  double confidence = 0.95;                // of intervals, and of what counts as a difference
  std::uint32_t bootstrap_rounds = 2'000;  // of a paired bootstrap; fewer where there are many samples
  bool force = false;                      // compares what differs in data, version, shots, limit or seed
};

/// Every fault at once. Whether the evaluations are there, and completed, is for the caller to look up.
std::expected<ComparisonRequest, validate::Findings> read_comparison(const json::Value& body);

/// The same rules for a page's query: ?evaluations=a,b&baseline=a&force=1.
std::expected<ComparisonRequest, validate::Findings> read_comparison_query(std::string_view evaluations,
                                                                           std::string_view baseline, bool force);

/// The JSON Schema of the body, also a part of the OpenAPI document.
inline constexpr std::string_view comparison_schema = R"({
  "type": "object", "additionalProperties": false, "required": ["evaluations"],
  "properties": {
    "evaluations": {"type": "array", "minItems": 2, "maxItems": 8, "items": {"type": "string", "minLength": 1, "maxLength": 63}},
    "baseline": {"type": "string", "minLength": 1, "maxLength": 63},
    "bootstrap_rounds": {"type": "integer", "minimum": 100, "maximum": 100000},
    "confidence": {"type": "number", "minimum": 0.5, "maximum": 0.999},
    "force": {"type": "boolean"}
  }
})";

}  // namespace stackgate::evaluator
