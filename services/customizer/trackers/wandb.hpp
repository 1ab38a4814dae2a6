// Customizations as runs of Weights & Biases: its GraphQL call that makes a run, and its file stream. Neither has a
// promise of stability: what is known of them is in this file alone.
// Source: /reference/services.md 3.4; the client wandb 0.16 (sdk/internal/internal_api.py, file_stream.py).
#pragma once
#include <memory>
#include <span>
#include <string>

#include "services/customizer/trackers/tracker.hpp"

namespace stackgate::customizer {

struct WandbOptions {
  std::string url = "https://api.wandb.ai", ca_file{};
  std::string api_key{};  // of customizations that came without a key of their own
  std::string entity{}, project = "customizations";
  std::string encryption_key{};  // of the keys that requests brought
};

std::unique_ptr<Tracker> wandb_tracker(WandbOptions options, std::function<bool()> give_up);

/// The key that a request brought, as it is stored, and back; nothing: it cannot be opened.
std::string seal_api_key(const WandbOptions& options, std::string_view api_key, std::string_view customization_name);

// Pure.

std::string upsert_body(const Customization& job, std::string_view entity, std::string_view project);
/// "<entity>/<project>/<run>" of the answer. The error is a sentence: what the server says is wrong.
std::expected<std::string, std::string> read_upserted(std::string_view body);
/// Lines of the history behind the first `lines` ones.
std::string history_body(std::span<const MetricPoint> points, std::int64_t lines);
/// The summary and the end.
std::string end_body(const Customization& job);

}  // namespace stackgate::customizer
