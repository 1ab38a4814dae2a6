#include "services/kit/http/worker.hpp"

#include <cerrno>
#include <cstring>

#include <sys/socket.h>
#include <unistd.h>

#include "services/kit/base/time.hpp"
#include "services/kit/http/connection.hpp"
#include "services/kit/http/listen.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::http {
namespace worker_detail {

constexpr int accepts_per_event = 64;
constexpr std::chrono::milliseconds pause_without_descriptors{100};
constexpr std::chrono::seconds between_complaints{10};

}  // namespace worker_detail

Worker::Worker(std::shared_ptr<Shared> shared, std::unique_ptr<Loop> loop, int listener)
    : Watched(*loop), shared_(std::move(shared)), loop_(std::move(loop)), listener_(listener) {}

Worker::~Worker() {
  end();  // before the loop
  if (listener_ >= 0) ::close(listener_);
}

void Worker::run() {
  if (!watch(listener_)) log::error("cannot accept connections: the kernel does not watch the socket", {});
  wait_for(Event::readable);
  loop_->run();
  end();
  for (Connections* list : {&idle_, &greeting_, &busy_}) {
    while (!list->empty()) {
      const auto connection = list->front();  // kept until cut() has returned
      connection->cut();
    }
  }
  loop_->finish();
}

std::string_view Worker::date() {
  const std::time_t second = std::time(nullptr);
  if (second != date_second_) {
    date_ = to_http_date(std::chrono::sys_seconds(std::chrono::seconds(second)));
    date_second_ = second;
  }
  return date_;
}

void Worker::closed(Connections& list, Connections::iterator place) {
  list.erase(place);
  if (shared_->open.fetch_sub(1) == 1) {
    const std::lock_guard lock(shared_->mutex);
    shared_->all_closed.notify_all();
  }
}

bool Worker::may_complain() {
  const auto now = Clock::now();
  if (complained_ != Clock::time_point() && now - complained_ < worker_detail::between_complaints) return false;
  complained_ = now;
  return true;
}

void Worker::on_event(Event) {
  for (int i = 0; i < worker_detail::accepts_per_event && accept_one(); ++i) {
  }
  if (!pausing_) wait_for(Event::readable);
}

void Worker::on_deadline() {
  pausing_ = false;
  wait_for(Event::readable);
}

// False when there is no connection to take now. Asio's accept would let a child process inherit the socket.
bool Worker::accept_one() {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  const int fd = ::accept4(listener_, reinterpret_cast<sockaddr*>(&address), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) {
    tallies_.connections.add();
    if (shared_->open.load(std::memory_order_relaxed) >= limits().connections && !make_room()) {
      ::close(fd);
    } else {
      adopt(fd, format_address(reinterpret_cast<const sockaddr&>(address)));
    }
    return true;
  }
  switch (errno) {
    case EAGAIN:
      return false;
    case EMFILE:
    case ENFILE:
    case ENOBUFS:
    case ENOMEM:
      if (may_complain()) {
        log::error("cannot accept connections", {{"error", std::strerror(errno)},
                                                 {"open", shared_->open.load()},
                                                 {"cure", "raise the limit of open files"}});
      }
      make_room();
      pausing_ = true;  // the waiting connection would wake the loop without end
      set_deadline(Clock::now() + worker_detail::pause_without_descriptors);
      return false;
    default:
      return true;  // that connection is gone already; the next one may be well
  }
}

// Whoever has been silent longest goes, half-made connections last.
bool Worker::make_room() {
  for (Connections* list : {&idle_, &greeting_}) {
    if (list->empty()) continue;
    const auto oldest = list->front();
    oldest->begin_closing();
    return true;
  }
  return false;
}

void Worker::adopt(int fd, std::string peer) {
  std::shared_ptr<ssl_ctx_st> context;
  if (shared_->config.tls) {
    context = shared_->config.tls->current();
    if (!context) {
      tallies_.handshake_failures.add();
      if (may_complain()) log::warning("connection closed: there is no certificate yet", {{"peer", peer}});
      ::close(fd);
      return;
    }
  }
  const auto connection =
      std::make_shared<Connection>(std::static_pointer_cast<Worker>(shared_from_this()), fd, std::move(peer));
  shared_->open.fetch_add(1);
  connection->start(greeting_.insert(greeting_.end(), connection), context.get());
}

void Worker::drain() {
  if (draining_) return;
  draining_ = true;
  if (listener_ >= 0) {
    while (accept_one()) {  // closing the socket would reset what the kernel has already let in
    }
    end();
    ::close(listener_);
    listener_ = -1;
  }
  for (auto place = idle_.begin(); place != idle_.end();) {
    const auto connection = *place++;
    if (!connection->has_input()) connection->begin_closing();
  }
  const std::lock_guard lock(shared_->mutex);
  ++shared_->drained;
  shared_->all_closed.notify_all();
}

}  // namespace stackgate::http
