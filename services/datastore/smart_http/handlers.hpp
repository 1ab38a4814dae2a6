// What the routes do. Failures become text/plain here: git shows that to its user, and nothing else.
#pragma once
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

#include "services/datastore/backend.hpp"
#include "services/datastore/git/references.hpp"
#include "services/datastore/routes.hpp"
#include "services/kit/web/call.hpp"

namespace stackgate::datastore::smart_http {

/// So many at a time; others wait, for a while. Thread-safe.
class Semaphore {
 public:
  explicit Semaphore(unsigned places) : free_(places) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  struct Release {
    void operator()(Semaphore* of) const { of->release(); }
  };
  using Slot = std::unique_ptr<Semaphore, Release>;
  /// Null when no place became free in time.
  Slot acquire(std::chrono::milliseconds limit) {
    std::unique_lock lock(mutex_);
    if (!freed_.wait_for(lock, limit, [this] { return free_ > 0; })) return nullptr;
    --free_;
    return Slot(this);
  }

 private:
  void release() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    freed_.notify_one();
  }

  std::mutex mutex_;
  std::condition_variable freed_;
  unsigned free_;
};

/// What all requests share.
struct Shared {
  Shared(Backend& of, const Options& with) : backend(of), options(with), processes(with.children) {}
  Backend& backend;
  const Options options;
  git::References references{};
  Semaphore processes;  // of git
};

using SharedHandler = web::Answer(Shared& shared, web::Call& call);
SharedHandler info_refs, upload_pack, receive_pack;
/// Files of a repository, as clients from before smart HTTP read them.
SharedHandler dumb;
/// An address of one segment, as somebody writes it who leaves the owner out: 404 in words, where a page would ask to
/// sign in, which git cannot.
SharedHandler without_owner;

/// Nothing, or 415 when the request's Content-Type is another.
std::optional<web::Failure> check_type(const web::Call& call, git::Service service);
/// Reads more of the body behind `into`; how much came. 0 is the end.
std::expected<std::size_t, web::Failure> read_more(web::Call& call, std::string& into);

}  // namespace stackgate::datastore::smart_http
