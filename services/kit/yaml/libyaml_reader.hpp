// The whole of YAML through libyaml's events. The one place that includes <yaml.h>.
#pragma once
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::yaml {

/// Reads `whole` from `begin` up to `end` and appends its non-empty documents to `out`. Offsets count from the
/// beginning of `whole`. Documents before a fault are kept.
std::optional<json::ParseError> read_with_libyaml(std::string_view whole, std::size_t begin, std::size_t end,
                                                  const json::ParseLimits& limits, std::deque<json::Document>& out);

}  // namespace stackgate::yaml
