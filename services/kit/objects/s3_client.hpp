// Signed calls to one bucket, and URLs that sign themselves. Thread-safe.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/http_client/client.hpp"
#include "services/kit/objects/endpoint.hpp"
#include "services/kit/objects/options.hpp"
#include "services/kit/objects/s3_answers.hpp"
#include "services/kit/objects/sigv4.hpp"

namespace stackgate::objects {

struct S3Call {
  std::string method = "GET";
  std::string key{};  // empty: the bucket
  sigv4::Fields query{};
  sigv4::Fields headers{};  // sent and not signed: Range, If-Match, Content-Type
  std::string body{};       // signed
  std::uint64_t largest_reply = 4ULL << 20U;
  bool quick = false;  // one try within a few seconds
};

/// An answer, or a fault that came as one. Status below 300: fault is empty.
struct S3Reply {
  http_client::Response reply;
  std::optional<S3Fault> fault{};
};

class S3Client {
 public:
  explicit S3Client(S3Options options);

  /// An error only when there was no answer at all.
  Expected<S3Reply> send(S3Call& call);
  /// As send(), and every status from 300 on is an error, explained; `what` begins the sentence ("cannot read").
  Expected<http_client::Response> must(S3Call& call, std::string_view what);

  /// A whole URL for the clients' endpoint. `headers` are those the client has to send with it.
  std::string presign(std::string_view method, std::string_view key, sigv4::Fields query, sigv4::Fields headers,
                      std::chrono::seconds valid) const;

  const S3Options& options() const { return options_; }
  std::optional<std::chrono::seconds> clock_skew() const;

 private:
  std::string path_of(std::string_view key) const;
  std::string authority_of(const Endpoint& endpoint) const;
  sigv4::SigningKey key_of(sigv4::Time now) const;
  void note_clock(const http_client::Response& reply);

  S3Options options_;
  sigv4::Credentials credentials_;
  Endpoint inner_;
  Endpoint outer_;
  http_client::Client patient_;
  http_client::Client quick_;
  mutable std::mutex key_lock_;
  mutable sigv4::SigningKey key_;  // of the day it was last used
  std::atomic<std::int64_t> skew_;
};

}  // namespace stackgate::objects
