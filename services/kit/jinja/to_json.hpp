// Values of templates as JSON. Pure.
#pragma once
#include <cstdint>
#include <string>

#include "services/kit/jinja/value.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::jinja {

/// A value that costs more to walk than this is written as null: parts may be shared any number of times.
inline constexpr std::uint64_t most_json_weight = 1U << 22U;
/// The same for what is nested deeper.
inline constexpr std::uint32_t most_json_depth = 100;

/// Sequences of every form are arrays. Undefined, functions and other objects, and numbers that JSON does not have are
/// null. Keys that are no texts are written as JSON in quotes; of two that read alike the last one counts.
void write_json(json::Writer& w, const Value& value);
std::string to_json(const Value& value);

}  // namespace stackgate::jinja
