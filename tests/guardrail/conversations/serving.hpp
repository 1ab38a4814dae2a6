// The front over HTTP, in front of an endpoint that answers as a test says.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "services/guardrail/front/front.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "tests/guardrail/models/upstream_double.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::guardrail::test {

/// A text of JSON read, with what it stands in.
class Read {
 public:
  explicit Read(std::string text) : text_(std::move(text)) { (void)json::parse(text_, document_); }
  const json::Value* operator*() const { return &document_.root; }

 private:
  std::string text_;
  json::Document document_;
};

/// What a client gets of a stream.
struct Streamed {
  std::string text{};              // the deltas' contents, joined
  std::string finish_reason{};     // "": it did not end like an answer
  std::string error{};             // the error event's JSON
  std::string guardrails{};        // the last chunk's JSON
  std::vector<std::string> calls;  // names of called functions
  bool done = false;               // [DONE] is the last event
};
Streamed read_stream(const std::string& body);

class Serving {
 public:
  using Script = UpstreamDouble::Script;

  Serving();
  ~Serving();
  /// What is served until the next call, and what the endpoint answers.
  void serve(ConfigurationPtr configuration, Script script);
  /// Requests of the endpoint since serve().
  std::vector<Asked> asked() const;
  web::test::Reply post(const std::string& path, const std::string& body) const;
  std::uint16_t port() const { return app_->port(); }
  std::string upstream_url() const { return upstream_->base_url(); }

 private:
  mutable std::mutex mutex_;
  ConfigurationPtr configuration_;
  Script script_;
  std::size_t before_ = 0;
  std::atomic<int> requests_ = 0;
  std::unique_ptr<UpstreamDouble> upstream_;
  metrics::Registry registry_;
  const stackgate::test::TempDir folder_{};
  std::shared_ptr<Threads> threads_;
  std::unique_ptr<web::App> app_;
};

/// The endpoint's answer to `asked`, a stream where it wants one: an event for each of `pieces`.
web::Answer main_answer(const Asked& asked, const std::vector<std::string>& pieces, const std::string& calls = {});

/// YAML texts as one configuration, behind a main model called "main"; a finding that is an error fails the test.
ConfigurationPtr configuration_of(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace stackgate::guardrail::test
