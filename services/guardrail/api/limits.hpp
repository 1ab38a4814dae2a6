// Bounds of what a request may hold. The body's bytes and depth are bounded by the route and the JSON parser.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stackgate::guardrail {

inline constexpr std::size_t most_messages = 10'000, most_parts = 1'024, most_tool_calls = 128;
inline constexpr std::size_t most_configurations = 16, longest_configuration_id = 255;  // bytes
inline constexpr std::size_t shortest_thread_id = 16, longest_thread_id = 255;          // characters
inline constexpr std::size_t most_named_rails = 1'000, most_output_variables = 1'000;   // of options
inline constexpr std::size_t largest_state = 256U << 10U, most_waiting_flows = 1'000;   // bytes of JSON
inline constexpr std::size_t most_planned_steps = 16;
inline constexpr std::size_t largest_configuration = 4U << 20U;  // bytes of JSON or YAML
inline constexpr std::uint32_t deepest_value = 32;               // of context and state

}  // namespace stackgate::guardrail
