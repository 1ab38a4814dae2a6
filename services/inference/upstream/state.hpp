// What the requests and the rounds share.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "services/inference/upstream/plan/routing.hpp"
#include "services/inference/upstream/replica.hpp"
#include "services/inference/upstream/upstream.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/web/deferred.hpp"

namespace stackgate::inference::upstream {

/// A replica as requests see it.
struct Known {
  bool healthy = false;
  std::string fault = "has not answered yet";
  std::vector<ListedModel> models{};              // of others
  Paths has{};                                    // of wanted adapters
  std::map<std::string, std::int64_t> numbers{};  // llama-server's
  std::shared_ptr<std::atomic<std::size_t>> in_flight = std::make_shared<std::atomic<std::size_t>>(0);
};

struct Passage;

struct Upstream::Impl : std::enable_shared_from_this<Upstream::Impl> {
  Impl(Options given, Adapters functions, metrics::Registry& registry);

  // Rounds, on their thread.
  std::chrono::milliseconds round();
  void look_at(std::size_t index, const std::vector<OfferedAdapter>& offered);
  void hold(const std::vector<WantedAdapter>& wanted);
  void let_go();
  Paths brought_about(std::size_t index, const std::vector<ListedModel>& models);
  void log_fault(std::size_t index, const std::string& fault);

  // Requests, on any thread.
  void dispatch(const std::shared_ptr<Passage>& passage);
  void park(const std::shared_ptr<Passage>& passage);

  const Options options;
  const Adapters adapters;
  const http_client::Client control, client;
  metrics::Family<metrics::Counter>& requests;
  metrics::Family<metrics::Counter>& calls;

  // The round's own.
  std::vector<Replica> replicas;
  std::string key;  // "Bearer …"
  std::map<std::pair<std::size_t, std::string>, std::pair<std::string, std::chrono::steady_clock::time_point>> resting;
  std::map<std::string, std::shared_ptr<const void>> held;  // by path there

  mutable std::mutex mutex;  // of what follows
  std::optional<Kind> kind;
  std::vector<WantedAdapter> wanted;
  std::map<std::string, std::size_t, std::less<>> by_name;  // into wanted
  std::vector<Known> known;
  std::vector<std::string> names_there;  // of models of others, on any replica
  std::string authorization;
  std::deque<std::shared_ptr<Passage>> parked;
  bool stopped = false;
  std::atomic<std::size_t> turn{0};

  std::unique_ptr<run::Periodic> periodic;
};

/// One request on its way.
struct Passage {
  std::shared_ptr<web::Deferred> client;
  http_client::Request request;  // without base and body
  std::string path, body, model;
  std::string adapter;  // as wanted; "": none of ours
  unsigned made = 0;
  bool waited = false;
  std::atomic<bool> gone{false};
};

}  // namespace stackgate::inference::upstream
