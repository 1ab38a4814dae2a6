// The routes of a server with a model of its own: OpenAI's API, with vLLM's and NIM's calls, over an Engine.
#pragma once
#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/api/failures.hpp"
#include "services/inference/api/other_answers.hpp"
#include "services/inference/engine/engine.hpp"
#include "services/inference/front/base_model.hpp"
#include "services/inference/front/metrics.hpp"
#include "services/kit/web/route.hpp"

namespace stackgate::inference {

/// The adapters that requests may name. Thread-safe functions that do not block.
struct AdapterNames {
  std::function<AdapterState(std::string_view name)> state;
  std::function<std::vector<ServedModel>()> list;  // those that a request may name now
  using Acquired = std::function<void(std::expected<AdapterUse, web::Failure>)>;
  /// Calls back once, from any thread; what it gives holds the adapter until it is let go of.
  std::function<void(const std::string& name, Acquired then)> acquire;
};

/// Nobody has any.
AdapterNames no_adapters();

struct FrontOptions {
  std::chrono::milliseconds timeout{600'000};  // of one answer
  bool embeddings = true;
  bool last_token_embeddings = false;  // instead of the mean of all tokens
  std::size_t cache_tokens = 0;        // keys and values that there is room for: no answer can be longer
};

/// What the handlers share; they only read it.
struct Front {
  std::shared_ptr<const BaseModel> model;
  std::shared_ptr<Engine> engine;
  AdapterNames adapters;
  std::shared_ptr<ServingMetrics> metrics;
  FrontOptions options;
  std::shared_ptr<Encoders> encoders;
};

/// All but health, metrics and what manages adapters.
std::vector<web::Route> routes(const std::shared_ptr<const Front>& front);

}  // namespace stackgate::inference
