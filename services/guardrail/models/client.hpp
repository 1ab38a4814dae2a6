// Models behind OpenAI endpoints, asked without holding a thread. Thread-safe.
//
//   ask ─ breaker, place or queue ─→ attempts until a head that counts ─→ the answer, or its stream ─→ then
//
// Functions of the caller are called on the HTTP client's thread, where they must not block, with the trace of the
// caller set; calls made there belong to it.
#pragma once
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/models/protocol/answer.hpp"
#include "services/guardrail/models/protocol/breaker.hpp"
#include "services/guardrail/models/protocol/chunks.hpp"
#include "services/guardrail/models/protocol/request.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::guardrail {

struct ModelClientOptions {
  std::chrono::milliseconds deadline{60'000};  // of a call that says nothing else
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds pause{60'000};  // of a stream: the longest time without a byte
  std::uint32_t calls = 1'024;              // under way at the same time
  std::uint32_t waiting = 2'048;            // beyond: 503 at once
  std::uint32_t retries = 2;                // before the first byte
  BreakerRules breaker{};                   // of each base_url
  std::string ca_file{};
  /// Where keys come from; asked at each call. Variables of our own settings (STACKGATE_…) are never asked for: a
  /// configuration's author names these variables, and the address that gets them.
  std::function<std::optional<std::string>(const std::string& name)> variable{};
  std::function<std::optional<std::string>(const std::string& path)> file{};
};

/// A call under way. Letting go of it changes nothing.
class ModelCallHandle {
 public:
  struct State;
  explicit ModelCallHandle(std::shared_ptr<State> state = {}) : state_(std::move(state)) {}
  /// No function of the caller is called from now on, but for one that runs on another thread right now; what they hold
  /// is let go of. The upstream sees the connection's end.
  void cancel();
  /// Of a stream whose `delta` returned false: more may come.
  void resume();

 private:
  std::shared_ptr<State> state_;
};

template <class T>
using ModelResult = std::expected<T, ModelFailure>;
using OnModelAnswer = std::move_only_function<void(ModelResult<ModelAnswer>)>;

struct ModelStreamFunctions {
  /// False: no more until resume().
  std::move_only_function<bool(const ModelDelta&)> delta;
  /// Once, last: the whole answer, or why there is none. Text that came before a failure is no answer.
  OnModelAnswer end;
};

class ModelClient {
 public:
  /// `registry` must outlive it.
  ModelClient(ModelClientOptions options, metrics::Registry& registry);
  /// Cancels what is under way.
  ~ModelClient();
  ModelClient(const ModelClient&) = delete;
  ModelClient& operator=(const ModelClient&) = delete;

  ModelCallHandle ask(const ModelEndpoint& endpoint, ModelRequest request, OnModelAnswer then) const;
  ModelCallHandle stream(const ModelEndpoint& endpoint, ModelRequest request, ModelStreamFunctions functions) const;
  ModelCallHandle embed(const ModelEndpoint& endpoint, std::vector<std::string> texts,
                        std::move_only_function<void(ModelResult<std::vector<std::vector<float>>>)> then) const;
  /// The endpoint's own answer to GET /models.
  ModelCallHandle list_models(const ModelEndpoint& endpoint,
                              std::move_only_function<void(ModelResult<std::string>)> then) const;
  /// JSON to any address, with the same limits: servers of detectors and actions. `key_variable` holds its key, if it
  /// is not empty. Gives the body of an answer below 300.
  ModelCallHandle post(const std::string& url, const std::string& key_variable, std::string json, std::string task,
                       std::move_only_function<void(ModelResult<std::string>)> then) const;

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace stackgate::guardrail
