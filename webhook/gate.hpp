// The gate as an HTTP handler: POST /validate and POST /early.
#pragma once
#include <memory>

#include "cluster_state/lookup_source.hpp"
#include "services/kit/http/message.hpp"
#include "services/kit/run/pool.hpp"
#include "validators/rulebook.hpp"
#include "webhook/gate_metrics.hpp"

namespace stackgate::webhook {

/// Thread-safe. Reviews that need no question to the API server are answered on the calling thread; the others on
/// `pool`. `lookups` and `pool` may both be nullptr (no cluster: reference rules are off). All references and pointers
/// must outlive the gate and every request it was given.
class Gate {
 public:
  Gate(const validate::Options& options, cluster::LookupSource* lookups, run::Pool* pool, GateMetrics& metrics)
      : options_(options), lookups_(lookups), pool_(pool), metrics_(metrics) {}

  void handle(const http::Request& request, http::Responder respond);

 private:
  void refuse(http::Responder& respond, int status, Refusal why, std::string_view uid, std::string_view detail);
  /// `asking`: by the API server's word, else from memory, and on the pool when that does not do.
  void answer(Stage stage, std::string_view body, bool asking, http::Responder respond);
  void answer_on_pool(Stage stage, std::string_view body, http::Responder respond);

  const validate::Options options_;
  cluster::LookupSource* const lookups_;
  run::Pool* const pool_;
  GateMetrics& metrics_;
};

}  // namespace stackgate::webhook
