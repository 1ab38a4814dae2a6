#include "services/kit/http/loop.hpp"

#include <array>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <fmt/format.h>

#include "services/kit/asio/context_inbox.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::http {
namespace loop_detail {

namespace asio = boost::asio;
using boost::system::error_code;
using Executor = asio::io_context::executor_type;
using Descriptor = asio::posix::basic_stream_descriptor<Executor>;
using Timer = asio::basic_waitable_timer<Loop::Clock, asio::wait_traits<Loop::Clock>, Executor>;

// After so many events their log lines leave, and other threads get what they are to do.
constexpr int most_in_batch = 256;
constexpr int most_before_wake = 32;

}  // namespace loop_detail

// Tasks come from any thread, descriptors and timers are used by the loop's alone.
struct Loop::Impl final : ContextInbox {
  Impl() : ContextInbox(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE_IO) {}
  loop_detail::asio::executor_work_guard<loop_detail::Executor> work{context.get_executor()};
  bool is_running = true;

  using ContextInbox::run_by_this_thread;
  void finish() {
    close();
    run_tasks();
    context.poll();
  }
};

Loop::Loop(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
Loop::~Loop() = default;

std::expected<std::unique_ptr<Loop>, Error> Loop::make() {
  try {
    return std::unique_ptr<Loop>(new Loop(std::make_shared<Impl>()));
  } catch (const boost::system::system_error& error) {
    return std::unexpected(Error{fmt::format("cannot make an event loop: {}", error.code().message())});
  } catch (const std::system_error& error) {
    return std::unexpected(Error{fmt::format("cannot make an event loop: {}", error.code().message())});
  }
}

void Loop::run() {
  impl_->run_by_this_thread();
  while (impl_->is_running) {
    const WakeBatch wakes;
    const log::Batch lines;
    impl_->context.run_one();
    // Whatever else is ready adds its lines to these, and its tasks for other threads. To ask is a system call, and
    // less than a write or a wake-up for each.
    for (int i = 1; i < loop_detail::most_in_batch; ++i) {
      const bool is_waited_for = WakeBatch::is_waited_for();
      if (is_waited_for ? i >= loop_detail::most_before_wake : !log::Batch::has_lines()) break;
      if (impl_->context.poll_one() == 0) break;
    }
  }
}

void Loop::finish() { impl_->finish(); }

bool Loop::post(Inbox::Task task) { return impl_->put(std::move(task)); }
bool Loop::post_batched(Inbox::Task task) { return impl_->put_batched(std::move(task)); }

void Loop::stop() {
  post([impl = impl_.get()] { impl->is_running = false; });
}

bool Loop::on_this_thread() const { return impl_->context.get_executor().running_in_this_thread(); }

struct Watched::Waits {
  explicit Waits(Loop& loop) : descriptor(loop.impl_->context), timer(loop.impl_->context) {}
  ~Waits() {
    if (descriptor.is_open()) descriptor.release();
  }
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;

  loop_detail::Descriptor descriptor;
  std::array<bool, 3> pending{};  // by Event
  // The deadline may move later without touching the timer: it is looked at when the timer's time has come.
  loop_detail::Timer timer;
  bool timer_runs = false;
  Clock::time_point deadline = Clock::time_point::max();
};

Watched::Watched(Loop& loop) : waits_(std::make_unique<Waits>(loop)) {}
Watched::~Watched() = default;

bool Watched::watch(int fd) {
  loop_detail::error_code refused;
  waits_->descriptor.assign(fd, refused);
  return !refused;
}

void Watched::unwatch() {
  if (is_watching()) waits_->descriptor.release();
  waits_->pending = {};
}

bool Watched::is_watching() const { return waits_ && waits_->descriptor.is_open(); }

void Watched::wait_for(Event event) {
  using Descriptor = loop_detail::Descriptor;
  static constexpr std::array kinds{Descriptor::wait_read, Descriptor::wait_write, Descriptor::wait_error};
  const auto index = static_cast<std::size_t>(event);
  if (!is_watching() || waits_->pending[index]) return;
  waits_->pending[index] = true;
  waits_->descriptor.async_wait(kinds[index], [self = shared_from_this(), event, index](const auto& failed) {
    if (failed == loop_detail::asio::error::operation_aborted || !self->waits_) return;
    self->waits_->pending[index] = false;
    self->on_event(event);
  });
}

void Watched::set_deadline(Clock::time_point at) {
  if (!waits_) return;
  waits_->deadline = at;
  if (!waits_->timer_runs || at < waits_->timer.expiry()) arm_timer();
}

void Watched::clear_deadline() {
  if (waits_) waits_->deadline = Clock::time_point::max();
}

void Watched::arm_timer() {
  waits_->timer.expires_at(waits_->deadline);
  waits_->timer_runs = true;
  waits_->timer.async_wait([self = shared_from_this()](const auto& failed) {
    if (failed || !self->waits_) return;
    Waits& waits = *self->waits_;
    waits.timer_runs = false;
    if (waits.deadline > Clock::now()) {
      if (waits.deadline != Clock::time_point::max()) self->arm_timer();
      return;
    }
    waits.deadline = Clock::time_point::max();
    self->on_deadline();
  });
}

void Watched::end() { waits_.reset(); }

}  // namespace stackgate::http
