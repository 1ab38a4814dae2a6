// One exchange on its libcurl handle: settings before, callbacks meanwhile, what its end means. Only engine.cpp and
// transfer.cpp include this.
#pragma once
#include <array>
#include <chrono>
#include <memory>
#include <string>

#include <curl/curl.h>

#include "services/kit/http_client/exchange.hpp"

namespace stackgate::http_client {

class CurlList {
 public:
  CurlList() = default;
  CurlList(const CurlList&) = delete;
  CurlList& operator=(const CurlList&) = delete;
  ~CurlList() { curl_slist_free_all(list_); }
  void add(const std::string& line) { list_ = curl_slist_append(list_, line.c_str()); }
  curl_slist* get() const { return list_; }

 private:
  curl_slist* list_ = nullptr;
};

/// Lives on the engine's thread; its address must not change.
struct Transfer {
  using Clock = std::chrono::steady_clock;

  ExchangeRequest request;
  std::shared_ptr<Receiver> receiver;
  CURL* handle = nullptr;
  Head head{};
  bool has_head = false;
  std::size_t head_bytes = 0;
  bool stopped = false;    // by the receiver
  std::string unusable{};  // why the answer or the address was refused by us
  bool reading_paused = false, writing_paused = false;
  Clock::time_point begun = Clock::now(), last_byte = begun;
  curl_off_t bytes_sent = 0;  // when last looked at
  CurlList headers{}, connect_to{};
  std::string url{};
  std::array<char, CURL_ERROR_SIZE> error{};

  /// Settings of `handle`, which is as new.
  void prepare();
  /// What `code` means; nothing for a whole answer.
  std::optional<ExchangeError> result(CURLcode code) const;
  bool was_sent() const;
  /// The deadline that has passed at `now`, in words; empty: none.
  std::string overdue(Clock::time_point now);
  /// When to look at the deadlines again; max(): there are none.
  Clock::time_point next_look(Clock::time_point now) const;
};

}  // namespace stackgate::http_client
