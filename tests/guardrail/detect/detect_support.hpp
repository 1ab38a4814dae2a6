// What the tests of detect/ share.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/detect/sensitive_data.hpp"

namespace stackgate::guardrail::test {

inline std::vector<std::string> all_entities() { return {served_entities().begin(), served_entities().end()}; }

inline SensitiveData sensitive(std::vector<std::string> entities = all_entities(), double threshold = 0.2,
                               const std::vector<Recognizer>& recognizers = {}) {
  auto made =
      SensitiveData::compile({.entities = std::move(entities), .score_threshold = threshold}, "input", recognizers);
  if (!made) return *SensitiveData::compile({}, "input");  // finds nothing: the test falls
  return *std::move(made);
}

/// Every span as "ENTITY:text", with blanks between them.
inline std::string shown(const SensitiveData& detector, std::string_view text) {
  std::string out;
  for (const Span& span : detector.find(text)) {
    if (!out.empty()) out += " | ";
    out.append(detector.entity(span.kind)).append(":").append(text.substr(span.begin, span.end - span.begin));
  }
  return out;
}

}  // namespace stackgate::guardrail::test
