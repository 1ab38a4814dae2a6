// Questions to the API server itself, for what the cache does not know for certain.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/kit/kube/client.hpp"
#include "validators/lookup.hpp"

namespace stackgate::cluster {

/// Many ask the same at once: few questions are sent. Unlike the usual single flight, nobody is given an answer to a
/// question that was sent before he asked: whoever comes while one is under way shares the next.
/// Thread-safe. `Answer` is copied to each asker.
template <class Answer>
class RequestCoalescer {
 public:
  /// Calls ask() on this or another asker's thread, after this call began. ask() must not throw.
  template <class Ask>
  Answer run(const std::string& key, Ask&& ask) {
    std::unique_lock lock(mutex_);
    Pair& pair = pairs_[key];  // stays where it is while anybody waits: see the end
    std::shared_ptr<Question> mine;
    bool leads = false;
    if (pair.under_way == nullptr) {
      mine = pair.under_way = std::make_shared<Question>();
      leads = true;
    } else if (pair.next == nullptr) {
      mine = pair.next = std::make_shared<Question>();
      leads = true;
      changed_.wait(lock, [&] { return pair.under_way == mine; });
    } else {
      mine = pair.next;
    }
    if (!leads) {
      changed_.wait(lock, [&] { return mine->answered; });
      return mine->answer;
    }
    lock.unlock();
    Answer answer = ask();
    lock.lock();
    mine->answer = answer;
    mine->answered = true;
    pair.under_way = std::move(pair.next);
    pair.next = nullptr;
    if (pair.under_way == nullptr) pairs_.erase(key);
    changed_.notify_all();
    return answer;
  }

 private:
  struct Question {
    bool answered = false;
    Answer answer{};
  };
  struct Pair {
    std::shared_ptr<Question> under_way, next;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<std::string, Pair> pairs_;  // references to its elements stay valid as it grows
};

/// An answer of the API server; presence is unknown when it gave none.
struct AskedReference {
  validate::ReferencedObject referred;
  bool server_reached = false;  // false: another question would most likely end the same way
  std::string error;
};

/// Thread-safe; blocks.
class ReferenceAsker {
 public:
  explicit ReferenceAsker(kube::Client& client) : client_(client) {}

  AskedReference find(validate::ReferenceKind reference_kind, std::string_view ns, std::string_view name,
                      std::chrono::milliseconds limit);

  struct AskedContents {
    std::optional<std::vector<validate::ConfigMapEntry>> entries;
    bool server_reached = false;
    std::string error;
  };
  AskedContents contents(std::string_view ns, std::string_view config_map, std::chrono::milliseconds limit);

  struct AskedNeighbours {
    std::optional<std::vector<validate::Neighbour>> list;
    bool server_reached = false;
    std::string error;
  };
  AskedNeighbours neighbours(std::string_view ns, std::chrono::milliseconds limit);

 private:
  AskedReference ask(validate::ReferenceKind reference_kind, std::string_view ns, std::string_view name,
                     std::chrono::milliseconds limit);
  AskedContents ask_contents(std::string_view ns, std::string_view config_map, std::chrono::milliseconds limit);
  AskedNeighbours ask_neighbours(std::string_view ns, std::chrono::milliseconds limit);

  kube::Client& client_;
  RequestCoalescer<AskedReference> references_;
  RequestCoalescer<AskedContents> contents_;
  RequestCoalescer<AskedNeighbours> neighbours_;
};

}  // namespace stackgate::cluster
