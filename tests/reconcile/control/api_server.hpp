// An API server of a test's own, over a real socket: it keeps objects, answers the verbs that the operator uses as a
// real one does (409 for a taken name, preconditions, server-side apply by merging, lists and watches), and errs where
// a test has asked it to. No admission, no defaults, no garbage collection.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "services/kit/http/server.hpp"

namespace stackgate::reconcile::tests {

/// Thread-safe.
class ApiServer {
 public:
  ApiServer();
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  std::string url() const;

  /// The next `times` requests whose "METHOD path" contains `what` are refused.
  void refuse(std::string what, int status, std::string reason, std::string message, int times = 1);
  /// Called with "METHOD path" and the stored object after a write and before its answer.
  void before_answer(std::function<void(const std::string& line, const std::string& object)> call);

  /// What another client does: creates or replaces the object at `path` (".../services/llm"), merges a JSON patch into
  /// it, or removes it. Gives the stored object.
  std::string put(const std::string& path, std::string_view text);
  std::string change(const std::string& path, std::string_view merge_patch);
  void remove(const std::string& path);
  /// The stored object; empty when there is none.
  std::string get(const std::string& path) const;

  /// What was asked since the last call, lists and watches left out: "POST /apis/apps/v1/namespaces/ml/deployments".
  std::vector<std::string> take_requests();
  /// How often a collection was listed.
  int lists_of(const std::string& collection) const;

  /// etcd was compacted: watches end with 410 Gone, and none may begin at an older version.
  void compact();
  /// Every watch is cut.
  void cut_watches();
  /// A collection that is not served: 404.
  void hide(const std::string& collection, bool hidden = true);

 private:
  struct Fault {
    std::string what;
    int status, times;
    std::string reason, message;
  };
  struct Event {
    std::uint64_t version;
    std::string type, path, object;
  };
  struct Watch {
    std::string collection;
    bool ours_only;
    std::uint64_t seen;
    std::unique_ptr<http::BodyWriter> writer;
  };

  void serve(const http::Request& request, http::Responder respond);
  http::Response answer(const http::Request& request, const std::string& path);
  http::Response create(const std::string& collection, std::string_view body);
  http::Response patch(const std::string& path, std::string_view type, std::string_view body);
  http::Response remove_as_asked(const std::string& path, std::string_view body);
  http::Response list(const std::string& collection, bool ours_only);
  std::string store(const std::string& path, nlohmann::json object);  // mutex_ is held
  void pump(const std::stop_token& stop);
  bool send(Watch& watch, const std::vector<Event>& events) const;

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, std::string> objects_;  // by path
  std::vector<Event> events_;
  std::vector<Fault> faults_;
  std::vector<std::string> requests_, hidden_;
  std::map<std::string, int> lists_;
  std::function<void(const std::string&, const std::string&)> before_answer_;
  std::uint64_t version_ = 1, compacted_ = 0;
  bool cut_ = false;
  std::deque<Watch> begun_;
  std::unique_ptr<http::Server> server_;
  std::jthread pump_;  // the only one that writes to watches
};

}  // namespace stackgate::reconcile::tests
