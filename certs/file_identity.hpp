// The TLS identity of mounted files (cert-manager's Secret, or your own): loaded, watched, reloaded.
#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "certs/identity.hpp"
#include "services/kit/http/server.hpp"
#include "services/kit/metrics/registry.hpp"

namespace stackgate::certs {

struct FileIdentityOptions {
  std::string certificate_file{};
  std::string key_file{};
  std::chrono::milliseconds poll{10'000};  // the net below inotify (network file systems have none)
  std::chrono::milliseconds settle{100};   // after a change: key and certificate are often written one after the other
};

/// What to show of an identity, in metrics and readiness.
struct IdentityStatus {
  std::optional<Description> serving;  // none before the first good pair
  Time not_after{};                    // the earliest end in the served chain
  std::string error;                   // what is wrong with the newest pair; empty when it is served
  std::uint64_t reloads = 0;           // pairs taken into use, the first one included
  std::uint64_t failures = 0;          // pairs refused, each fault once
};

/// Empty when ready; otherwise the reason, for readiness: no certificate yet, or the served one is out of date.
std::string why_not_ready(const IdentityStatus& status, Time now);

/// Thread-safe. Has a thread of its own from start() to destruction.
class FileIdentity final : public http::TlsSource {
 public:
  /// Loads once before it returns. Never fails: files that are missing or broken are logged, shown in status(), and
  /// looked at again at every change and every poll.
  static std::shared_ptr<FileIdentity> start(FileIdentityOptions options);
  ~FileIdentity() override;

  std::shared_ptr<ssl_ctx_st> current() const override;
  IdentityStatus status() const;

 private:
  struct Impl;
  explicit FileIdentity(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// stackgate_certificate_{not_after_timestamp_seconds,reloads_total,reload_failures_total}; `status` is asked at each
/// scrape.
void add_identity_metrics(metrics::Registry& registry, const std::function<IdentityStatus()>& status);

}  // namespace stackgate::certs
