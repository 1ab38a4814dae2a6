// What the requests and the rounds share.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "services/inference/figures/families.hpp"
#include "services/inference/upstream/plan/routing.hpp"
#include "services/inference/upstream/replica.hpp"
#include "services/inference/upstream/upstream.hpp"
#include "services/kit/http_client/client.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/web/deferred.hpp"

namespace stackgate::inference::upstream {

using Held = std::map<std::string, std::shared_ptr<const void>>;  // by path there: files that stay

/// What engines should have at a time. Not changed once others see it.
struct Wanted {
  std::vector<WantedAdapter> adapters{};
  std::map<std::string, std::size_t, std::less<>> by_name{};  // every name; into `adapters`
  Held held{};
};
using WantedPtr = std::shared_ptr<const Wanted>;

/// A replica as requests see it.
struct Known {
  bool healthy = false;
  std::string fault = "has not answered yet";
  std::uint64_t looks_begun = 0, looks_ended = 0;
  std::vector<ListedModel> models{};              // of others
  Paths has{};                                    // of wanted adapters
  std::map<std::string, std::string> refused{};   // of them: why
  std::map<std::string, std::int64_t> numbers{};  // llama-server's
  std::shared_ptr<std::atomic<std::size_t>> in_flight = std::make_shared<std::atomic<std::size_t>>(0);
};

/// A replica and what its rounds remember, on their thread.
struct Visitor {
  Replica replica;
  struct Rest {
    std::string path, why;
    std::chrono::steady_clock::time_point until;
  };
  std::map<std::string, Rest> resting{};  // by name
  Held held{};                            // of what the replica was handed
  std::unique_ptr<run::Periodic> rounds{};
};

struct Passage;

/// Requests that have not ended. Thread-safe.
class OpenPassages {
 public:
  void add(const std::shared_ptr<Passage>& passage);
  void remove(const Passage* passage);
  std::vector<std::shared_ptr<Passage>> all() const;

 private:
  mutable std::mutex mutex_;
  std::unordered_map<const Passage*, std::weak_ptr<Passage>> all_;
};

/// One request on its way.
struct Passage {
  explicit Passage(std::shared_ptr<OpenPassages> open) : open_(std::move(open)) {}
  Passage(const Passage&) = delete;
  Passage& operator=(const Passage&) = delete;
  ~Passage() { open_->remove(this); }

  std::shared_ptr<web::Deferred> client;
  http_client::Request request;  // without base and body
  std::string path, body;
  std::string model;     // "": it names none, and the body stays
  std::string adapter;   // as wanted; "": none of ours
  std::string optional;  // its path, where engines may lack it
  std::string counted;   // the base, for figures of requests; "": not counted
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  unsigned made = 0;
  std::vector<std::uint64_t> looks_begun{};  // of the replicas, when it was parked; empty: it was not

  /// The exchange under way, which ends when the client leaves.
  void opened(unsigned attempt, http_client::Opening opening);
  void leave();
  bool is_gone() const { return gone_; }
  /// From now on its answer may be a stream of events.
  void streams() { streams_ = true; }
  /// Ends it before its time.
  void end(const web::Failure& why);

 private:
  const std::shared_ptr<OpenPassages> open_;
  std::atomic<bool> streams_{false};
  std::mutex mutex_;
  unsigned attempt_ = 0;
  std::optional<http_client::Opening> opening_;
  std::atomic<bool> gone_{false};
};
using PassagePtr = std::shared_ptr<Passage>;
class Stay;
struct Refusal;

/// 503 with Retry-After.
web::Failure not_now(std::string message);

struct Upstream::Impl : std::enable_shared_from_this<Upstream::Impl> {
  Impl(Options given, Adapters functions, metrics::Registry& registry);

  // Rounds, on the thread of their replica.
  std::chrono::milliseconds round(std::size_t index, const std::stop_token& stop);
  void look_at(std::size_t index, const Asking& asking);
  WantedPtr want();
  void bring(std::size_t index, const std::vector<Step>& needed, const Asking& asking);
  void log_fault(std::size_t index, const std::string& fault);
  void send_parked();

  // Requests, on any thread.
  void failed(const Passage& passage) const;
  void dispatch(const PassagePtr& passage);
  void park(const PassagePtr& passage);
  void answered(const PassagePtr& passage, std::size_t replica, std::shared_ptr<Stay> stay,
                std::expected<http_client::Answer, http_client::NoAnswer> answer);
  void refused(const std::shared_ptr<Refusal>& refusal);
  /// Under the lock.
  std::vector<ReplicaFacts> facts_of(const Passage& passage) const;

  const Options options;
  const std::string theirs;  // where engines see directories
  const Adapters adapters;
  const http_client::Client control, client;
  metrics::Family<metrics::Counter>& requests;
  metrics::Family<metrics::Counter>& calls;
  const RequestFamilies figures;
  const std::shared_ptr<OpenPassages> open = std::make_shared<OpenPassages>();
  std::vector<Visitor> visitors;
  std::mutex wanting;  // one at a time finds out what is wanted

  mutable std::mutex mutex;  // of what follows
  mutable std::condition_variable looked;
  std::optional<Kind> kind;
  WantedPtr wanted = std::make_shared<const Wanted>();
  std::vector<Known> known;
  std::vector<std::string> names_there;  // of models of others, on any replica
  std::string authorization;             // "Bearer …"
  std::deque<PassagePtr> parked;
  bool stopped = false;
  std::atomic<std::size_t> turn{0};
};

}  // namespace stackgate::inference::upstream
