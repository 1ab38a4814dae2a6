// Calls of one thread that another can break off.
#pragma once
#include <memory>
#include <mutex>

#include "services/kit/kube/client.hpp"

namespace stackgate::kube {

/// send() belongs to one thread, break_off() to any.
class Caller {
 public:
  /// `client` must outlive it.
  explicit Caller(Client& client) : client_(client) {}

  Result<Response> send(Request request, const CallOptions& options) {
    auto pending = std::make_shared<Pending>(client_.start(std::move(request), options));
    {
      const std::scoped_lock lock(mutex_);
      current_ = pending;
      if (broken_off_) pending->cancel();
    }
    auto result = pending->wait();
    const std::scoped_lock lock(mutex_);
    current_.reset();
    return result;
  }

  /// The call under way and all later ones end with `cancelled` soon; they may have been carried out.
  void break_off() {
    const std::scoped_lock lock(mutex_);
    broken_off_ = true;
    if (current_ != nullptr) current_->cancel();
  }

 private:
  Client& client_;
  std::mutex mutex_;
  std::shared_ptr<Pending> current_;
  bool broken_off_ = false;
};

}  // namespace stackgate::kube
