// The ids of tokens in a model's JSON files: one, or a list.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "services/kit/findings/json_report.hpp"

namespace stackgate::model {

inline constexpr std::uint32_t most_token_ids = 1U << 21U;

/// Empty when absent or null. What is no id is a finding and left out.
std::vector<std::uint32_t> read_token_ids(validate::JsonReport& report, const validate::JsonPlace& of,
                                          std::string_view key);

}  // namespace stackgate::model
