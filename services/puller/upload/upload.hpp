// An adapter's archive sent to the entitystore, and followed until it is stored there. Blocks; for one thread.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "services/puller/plan/failure.hpp"
#include "services/puller/plan/upload.hpp"

namespace stackgate::puller {

struct UploadSettings {
  std::string url{};               // the entitystore's: "http://entitystore:8000"
  std::string archive{};           // a tar.gz on this machine
  std::string metadata{};          // a file: the POST's part of that name
  std::string authorization{};     // the header's value; empty: none
  std::string ca_text{};           // PEM; empty: the system's authorities
  std::chrono::seconds storing{};  // the longest wait after the upload, until it is stored
};

/// Read by any thread while the upload goes on.
struct Sent {
  std::atomic<std::uint64_t> bytes = 0, total = 0;
};

struct Uploaded {
  Registered registered{};
  std::string sha256{};
  bool waits_for_approval = false;
};

/// The same archive and metadata may be sent again whatever came of it before: the entitystore knows the content.
Result<Uploaded> upload(const UploadSettings& settings, Sent& sent);

}  // namespace stackgate::puller
