// Posts events to a progress URL in their order, on a thread of its own: one as an object, what has gathered meanwhile
// as an array. Thread-safe; nothing waits for it but its end.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "services/kit/http_client/client.hpp"

namespace stackgate::trainer {

struct PosterSettings {
  std::string url{}, token{}, ca_file{};
  std::chrono::milliseconds pause{1'000};  // after a failure, where the server names none
  std::size_t waiting = 20'000;            // events; of a server that is away only the newest are kept
};

class Poster {
 public:
  explicit Poster(PosterSettings settings);
  /// Waits some seconds for what is still to be sent.
  ~Poster();
  Poster(const Poster&) = delete;
  Poster& operator=(const Poster&) = delete;

  void add(std::string event);

 private:
  struct Body {
    std::string text{};
    std::size_t events = 0;
  };
  struct Outcome {
    bool settled = false;  // taken, or refused for good
    std::chrono::milliseconds pause{0};
  };
  void send_all(const std::stop_token& stop);
  Body next_body() const;
  Outcome send(const Body& body);

  const PosterSettings settings_;
  const http_client::Client client_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> waiting_{};
  std::uint64_t dropped_ = 0;  // of those that waited, since the thread began
  bool one_at_a_time_ = false, warned_ = false;
  std::atomic<bool> given_up_ = false;
  std::jthread thread_;  // last: it uses the others
};

}  // namespace stackgate::trainer
