#include "services/kit/kube/credentials.hpp"

#include <fstream>

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/inbox.hpp"
#include "services/kit/kube/exec_plugin.hpp"

namespace stackgate::kube {
namespace {

// The kubelet renews a projected token at 80 % of its life, which is ten minutes at least.
constexpr std::chrono::seconds reread_token_after{30};
constexpr std::chrono::seconds renew_before_expiry{30};
constexpr std::chrono::milliseconds plugin_limit{10'000};

}  // namespace

std::expected<std::shared_ptr<const Credential>, Error> Credentials::current() {
  const std::scoped_lock lock(mutex_);
  if (current_ != nullptr && std::chrono::system_clock::now() < good_until_) return current_;
  auto fresh = renew();
  // A token file is missing for a moment while it is swapped: what was good a moment ago may still be.
  if (!fresh && current_ != nullptr && config_.exec.command.empty()) return current_;
  if (fresh) current_ = *fresh;
  return fresh;
}

void Credentials::reject(const std::shared_ptr<const Credential>& used) {
  const std::scoped_lock lock(mutex_);
  if (current_ == used) good_until_ = {};
}

std::expected<std::shared_ptr<const Credential>, Error> Credentials::renew() {
  const auto now = std::chrono::system_clock::now();
  auto out = std::make_shared<Credential>();
  good_until_ = std::chrono::system_clock::time_point::max();
  if (!config_.exec.command.empty()) {
    const WakeBatch::Blocking blocking;  // the calls' thread waits for it
    auto answer = run_exec_plugin(config_, plugin_limit);
    if (!answer) {
      good_until_ = {};  // what is held has run out: the next call asks again, it does not use it
      return std::unexpected(answer.error());
    }
    if (!answer->token.empty()) out->authorization = "Bearer " + answer->token;
    out->client_certificate_pem = std::move(answer->client_certificate_pem);
    out->client_key_pem = std::move(answer->client_key_pem);
    if (const auto& expires = answer->expires) good_until_ = *expires - renew_before_expiry;
  } else if (!config_.token_file.empty()) {
    std::ifstream in(config_.token_file);
    std::string token;
    if (!(in >> token)) {
      good_until_ = now + std::chrono::seconds(1);
      return std::unexpected(Error{fmt::format("token file {} cannot be read or is empty", config_.token_file)});
    }
    out->authorization = "Bearer " + token;
    good_until_ = now + reread_token_after;
  } else if (!config_.token.empty()) {
    out->authorization = "Bearer " + config_.token;
  } else if (!config_.username.empty()) {
    out->authorization = "Basic " + base64::encode(config_.username + ":" + config_.password);
  }
  return std::shared_ptr<const Credential>(std::move(out));
}

}  // namespace stackgate::kube
