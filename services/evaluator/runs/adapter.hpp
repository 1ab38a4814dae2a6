// Whether the model that is evaluated is an adapter of the entitystore, and which. Blocking.
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

namespace stackgate::evaluator {

/// What the entitystore has under a model's name.
struct TargetAdapter {
  std::string json{};  // {"id", "name", "version", "base_model", "status"} of the newest that is ready, or the newest
  std::string problem{};  // it has it, and none is ready: an inference server does not load it
};

/// GET <url>/v1/adapters?name=<model>. Nothing in both members: there is no such adapter. The error: it cannot be
/// asked.
std::expected<TargetAdapter, std::string> look_up_adapter(const std::string& url, std::string_view model,
                                                          std::chrono::milliseconds limit);

/// The same of an answer's body. Pure.
std::expected<TargetAdapter, std::string> read_adapters(std::string_view body, std::string_view model);

}  // namespace stackgate::evaluator
