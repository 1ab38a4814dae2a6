// The life of an adapter's status. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace stackgate::entitystore {

enum class Status : std::uint8_t { uploading, pending, ready, failed };

inline constexpr std::array<std::string_view, 4> status_words = {"uploading", "pending", "ready", "failed"};

constexpr std::string_view to_string(Status status) { return status_words[static_cast<std::size_t>(status)]; }
constexpr std::optional<Status> parse_status(std::string_view word) {
  for (std::size_t i = 0; i < status_words.size(); ++i)
    if (status_words[i] == word) return static_cast<Status>(i);
  return std::nullopt;
}

/// Who moves it: a person by PATCH, or the registration of the files.
enum class Mover : std::uint8_t { person, registration };

/// From → to. To itself: allowed for a person (nothing happens), so that a repeated PATCH is no error.
constexpr bool may_move(Mover who, Status from, Status to) {
  using enum Status;
  if (who == Mover::registration) return from == uploading && to != uploading;
  if (from == to) return true;
  if (to == failed) return true;  // withdrawn; the registration of an uploading one notices
  return (from == pending && to == ready) || (from == ready && to == pending);
}

}  // namespace stackgate::entitystore
