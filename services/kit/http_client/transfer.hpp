// One exchange on its libcurl handle: settings before, callbacks meanwhile, what its end means. Only engine.cpp and
// transfer.cpp include this.
#pragma once
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <curl/curl.h>

#include "services/kit/http_client/exchange.hpp"

namespace stackgate::http_client {

/// curl's list of lines in two pieces of memory; curl_slist_append() takes two for each line.
class CurlList {
 public:
  CurlList() = default;
  CurlList(const CurlList&) = delete;
  CurlList& operator=(const CurlList&) = delete;
  void reserve(std::size_t lines, std::size_t bytes) {
    nodes_.reserve(lines);
    text_.reserve(bytes);
  }
  void add(std::string_view first, std::string_view second = {}, std::string_view third = {}) {
    for (const std::string_view part : {first, second, third}) text_ += part.substr(0, part.find('\0'));
    text_ += '\0';
    nodes_.emplace_back();
  }
  /// Holds until the next add().
  curl_slist* get() {
    std::size_t at = 0;
    for (std::size_t i = 0; i < nodes_.size(); ++i, at = text_.find('\0', at) + 1) {
      nodes_[i].data = text_.data() + at;
      nodes_[i].next = i + 1 < nodes_.size() ? &nodes_[i + 1] : nullptr;
    }
    return nodes_.empty() ? nullptr : nodes_.data();
  }

 private:
  std::string text_;
  std::vector<curl_slist> nodes_;
};

/// A handle without an exchange.
struct SpareHandle {
  CURL* handle = nullptr;
  std::unique_ptr<std::array<char, CURL_ERROR_SIZE>> error{};  // curl's message
  /// What it is still set to. Without `connecting` it is as new.
  std::shared_ptr<const Connecting> connecting{};
  std::string method{};
};

/// Lives on the engine's thread; its address must not change.
struct Transfer {
  using Clock = std::chrono::steady_clock;

  ExchangeRequest request;
  std::shared_ptr<Receiver> receiver;
  CURL* handle = nullptr;
  Head head{};
  bool opened_socket = false, has_head = false;
  std::size_t head_bytes = 0;
  bool stopped = false;    // by the receiver
  std::string unusable{};  // why the answer or the address was refused by us
  bool reading_paused = false, writing_paused = false;
  Clock::time_point begun = Clock::now(), last_byte = begun;
  curl_off_t bytes_sent = 0;  // when last looked at
  CurlList headers{}, connect_to{};
  std::string url{};
  std::unique_ptr<std::array<char, CURL_ERROR_SIZE>> error{};

  /// Settings of the handle. Those that the last exchange left are kept where they are the same.
  void prepare(SpareHandle spare);
  /// The handle, once curl works with it no more.
  SpareHandle give_back();
  /// What `code` means; nothing for a whole answer.
  std::optional<ExchangeError> result(CURLcode code) const;
  bool was_sent() const;
  std::uint64_t connections_made() const;
  /// `socket` is its connection's, and nothing came over it since the request went out.
  bool is_stalled_on(int socket) const;
  /// The deadline that has passed at `now`, in words; empty: none.
  std::string overdue(Clock::time_point now);
  /// When to look at the deadlines again; max(): there are none.
  Clock::time_point next_look(Clock::time_point now) const;

 private:
  bool may_leave_settings() const;
  void set_connecting();
  void set_request();
};

}  // namespace stackgate::http_client
