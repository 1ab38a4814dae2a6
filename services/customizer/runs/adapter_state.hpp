// Whether the entitystore has the adapter that a customization makes, and how far it is. Blocking.
#pragma once
#include <chrono>
#include <expected>
#include <string>
#include <string_view>

#include "services/customizer/api/adapter.hpp"
#include "services/customizer/job/next.hpp"
#include "services/kit/base/error.hpp"

namespace stackgate::customizer {

/// Of an answer to GET /v1/adapters. Pure. The error: it is none.
std::expected<AdapterState, Error> read_adapter_state(std::string_view body, const OutputModel& adapter);

/// unknown: it has none of that name and version.
std::expected<AdapterState, Error> ask_adapter_state(const std::string& entitystore_url, const OutputModel& adapter,
                                                     std::chrono::milliseconds limit);

}  // namespace stackgate::customizer
