// How far something is that a service runs for its users: a customization, an evaluation. NeMo's words. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stackgate::jobs {

/// The last three are final.
///
///   created ──▶ pending ◀──▶ running ──▶ completed, failed
///                  │            └──▶ cancelling ──▶ cancelled
///                  └──────────────────────▲
enum class RunState : std::uint8_t { created, pending, running, cancelling, completed, failed, cancelled };

inline constexpr std::array<std::string_view, 7> run_state_names = {"created",   "pending", "running",  "cancelling",
                                                                    "completed", "failed",  "cancelled"};
constexpr std::string_view to_string(RunState state) { return run_state_names.at(static_cast<std::size_t>(state)); }
constexpr std::optional<RunState> run_state_named(std::string_view name) {
  for (std::size_t i = 0; i < run_state_names.size(); ++i)
    if (run_state_names.at(i) == name) return static_cast<RunState>(i);
  return std::nullopt;
}
constexpr bool is_final(RunState state) { return state >= RunState::completed; }

}  // namespace stackgate::jobs
