// An adapter as the database knows it: one row per (namespace, name, version).
#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/time.hpp"

namespace stackgate::entitystore {

/// The life of an adapter's status.
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

struct LoraConfig {
  std::int64_t rank = 0;
  double alpha = 0, dropout = 0;
  std::vector<std::string> target_modules{};
};

/// One file in the datastore.
struct StoredFile {
  std::string path;
  std::uint64_t size = 0;
  std::string sha256;
  bool large = false;  // by LFS
};

struct Record {
  std::string id{};
  std::string name_space = "default", name{}, version{}, base_model{};
  Status status = Status::uploading;
  std::string reason{};                    // failed: why
  std::string created_at{}, updated_at{};  // ISO 8601, UTC, with milliseconds: they sort as texts
  std::string deleted_at{};                // a tombstone; empty while it lives
  LoraConfig lora{};
  std::string description{}, project{};
  std::string dataset{}, job_id{};
  std::string hyperparameters{}, metrics{};  // JSON objects as text; empty when not given
  std::string training{};                    // the rest of what the uploader said of the training, as JSON
  std::vector<std::string> tags{};
  std::vector<std::string> notes{};  // findings that are no errors, one line each
  std::string repository{};          // "adapters/default--name"
  std::string commit{};              // 40 hex digits, once there is one
  std::string archive_sha256{};
  std::uint64_t archive_bytes = 0;
  std::int64_t changed = 0;  // the change counter when the row was last written
};

/// "2026-01-02T03:04:05.678Z" of now.
inline std::string timestamp() { return to_rfc3339(std::chrono::system_clock::now(), 3); }

}  // namespace stackgate::entitystore
