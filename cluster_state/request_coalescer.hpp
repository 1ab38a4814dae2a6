// Many ask the same at once: few questions are sent. Unlike the usual single flight, nobody is given an answer to a
// question that was sent before he asked: whoever comes while one is under way shares the next.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace stackgate::cluster {

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

}  // namespace stackgate::cluster
