// Which store, and how to reach it. open_store() is the one way to get a Store.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "services/kit/objects/store.hpp"

namespace stackgate::objects {

struct S3Options {
  std::string endpoint{};         // host:port, or http(s)://host:port, which settles `ssl`; empty: no S3
  std::string public_endpoint{};  // the same for the clients of presigned URLs; empty: endpoint
  std::string bucket{};
  std::string region = "us-east-1";
  std::string access_key{};
  std::string secret_key{};
  std::string session_token{};
  std::string ca_file{};  // PEM; empty: the system's
  bool ssl = true;
  bool path_style = true;  // http://host/bucket/key; false: http://bucket.host/key
  std::chrono::milliseconds connect{5'000};
  std::chrono::milliseconds pause{30'000};  // the longest time without a byte
  unsigned retries = 3;
  std::uint64_t part_size = 8ULL << 20U;  // of our own multipart uploads: held in memory, one per upload; ≥ 5 MiB
};

struct Options {
  std::string directory{};             // used when s3.endpoint is empty; made if missing
  std::chrono::hours stale_after{24};  // unfinished uploads in the directory older than this are swept at start
  S3Options s3{};
};

/// Everything wrong with them, each sentence naming the member; empty when all is well. No secret is repeated. Pure.
std::vector<std::string> faults_of(const Options& options);

/// Opens the directory or prepares the client; S3 is not called: check() does that.
Expected<std::unique_ptr<Store>> open_store(const Options& options);

}  // namespace stackgate::objects
