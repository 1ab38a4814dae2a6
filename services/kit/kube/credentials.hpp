// The credentials in force now: re-read as a token file rotates, renewed as a plugin's answer expires.
#pragma once
#include <chrono>
#include <expected>
#include <memory>
#include <mutex>
#include <string>

#include "services/kit/base/error.hpp"
#include "services/kit/kube/config.hpp"

namespace stackgate::kube {

/// One set of credentials, immutable.
struct Credential {
  std::string authorization;                           // the header's value; empty for none
  std::string client_certificate_pem, client_key_pem;  // from a plugin
};

/// Thread-safe. Blocks only while a plugin runs (at most ten seconds).
class Credentials {
 public:
  /// `config` must outlive this.
  explicit Credentials(const Config& config) : config_(config) {}
  std::expected<std::shared_ptr<const Credential>, Error> current();
  /// The server answered 401 to `used`: the next current() reads or asks again.
  void reject(const std::shared_ptr<const Credential>& used);

 private:
  std::expected<std::shared_ptr<const Credential>, Error> renew();

  const Config& config_;
  std::mutex mutex_;
  std::shared_ptr<const Credential> current_;
  std::chrono::system_clock::time_point good_until_{};
};

}  // namespace stackgate::kube
