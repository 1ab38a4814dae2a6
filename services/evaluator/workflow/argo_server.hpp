// The calls of an Argo Workflows server that evaluations need. Blocking; thread-safe.
#pragma once
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "services/evaluator/workflow/protocol/options.hpp"
#include "services/evaluator/workflow/protocol/workflow_object.hpp"
#include "services/kit/http_client/client.hpp"

namespace stackgate::evaluator {

/// Why a call did not do what it was to do.
struct ServerFault {
  int status = 0;         // 0: no answer
  std::string message{};  // a sentence without its end
  /// May pass: no answer, 429, or a fault of the server's own.
  bool passes() const { return status == 0 || status == 408 || status == 429 || status >= 500; }
};

class ArgoServer {
 public:
  using Stop = std::function<bool()>;  // asked a few times a second; true ends a call
  using TakeResult = std::function<bool(const json::Value& result)>;

  explicit ArgoServer(const WorkflowOptions& options);

  /// Nothing: there is none of this name.
  std::expected<std::optional<WorkflowFacts>, ServerFault> get(std::string_view name, std::string_view fields,
                                                               const Stop& stop) const;
  /// False: one of this name is there.
  std::expected<bool, ServerFault> submit(std::string_view body, bool from_template, const Stop& stop) const;
  /// "retry", "stop", "terminate". One that is gone is no fault.
  std::expected<void, ServerFault> change(std::string_view name, std::string_view verb, const Stop& stop) const;
  std::expected<void, ServerFault> remove(std::string_view name, const Stop& stop) const;
  /// What a node left in the artifact repository: up to 64 MiB.
  std::expected<std::string, ServerFault> artifact(std::string_view name, std::string_view node,
                                                   std::string_view artifact, const Stop& stop) const;
  /// Whether workflows may be listed.
  std::expected<void, ServerFault> try_list() const;

  /// Both return when the stream ends, when `take` returns false, or `stop` true; the fault says why it was cut. A
  /// minute without a byte ends them, too.
  std::expected<void, ServerFault> events(std::string_view name, const TakeResult& take, const Stop& stop) const;
  std::expected<void, ServerFault> log(std::string_view name, bool follow, const TakeResult& take,
                                       const Stop& stop) const;

 private:
  std::expected<http_client::Response, ServerFault> call(http_client::Request request, std::string_view action,
                                                         const Stop& stop, std::uint64_t largest = 0) const;
  std::expected<void, ServerFault> stream(std::string path, std::string_view action, const TakeResult& take,
                                          const Stop& stop) const;
  std::string path(std::string_view area, std::string_view rest = {}) const;
  http_client::Headers headers() const;

  const WorkflowOptions& options_;  // must outlive it
  http_client::Client client_;
};

}  // namespace stackgate::evaluator
