#include "services/kit/http_client/engine.hpp"

#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <sys/socket.h>
#include <unistd.h>

#include "services/kit/asio/context_inbox.hpp"
#include "services/kit/asio/lazy_timer.hpp"
#include "services/kit/http_client/look_again.hpp"
#include "services/kit/http_client/transfer.hpp"

namespace stackgate::http_client {
namespace engine_detail {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using ErrorCode = boost::system::error_code;

constexpr std::size_t most_spare_handles = 64;
constexpr std::size_t gathered_from = 8;
constexpr int no_look = 60'000;  // ms
// Events, and how long they take together, before other threads get what they are to do.
constexpr int most_before_wake = 32;
constexpr auto longest_before_wake = std::chrono::microseconds(200);
constexpr int most_rounds = 16;  // of the thread's own tasks between two looks at sockets

/// One of curl's, which owns and closes it. A connection's stays registered between its exchanges.
struct Socket {
  explicit Socket(asio::io_context& context) : descriptor(context) {}
  asio::posix::stream_descriptor descriptor;
  bool wants_read = false, wants_write = false;
  bool waits_read = false, waits_write = false;
  bool knows_write = false;  // Asio has registered it for that, and the kernel tells of every byte that has left
};

struct Exchange : Transfer {
  explicit Exchange(ExchangeId id_) : id(id_) {}
  ExchangeId id;
  Clock::time_point look = Clock::time_point::max();  // at its deadlines
};

}  // namespace engine_detail

using namespace engine_detail;

struct Engine::Impl final : ContextInbox {
  const EngineOptions options;
  std::atomic<bool> stopping{false};
  std::atomic<ExchangeId> next_id{1};
  std::atomic<std::uint64_t> connections{0}, http2_answers{0}, stalled_connections{0};
  std::atomic<std::thread::id> thread_id{};
  std::thread thread;

  // Used on the thread only.
  CURLM* multi = nullptr;
  LazyTimer curl_timer{context, [this] { act(CURL_SOCKET_TIMEOUT, 0); }};
  bool is_curl_due = false;    // at once
  bool has_own_tasks = false;  // that this thread has sent itself
  LazyTimer deadline_timer{context, [this] { look_at_deadlines(); }};
  std::set<std::pair<Clock::time_point, ExchangeId>> deadlines;  // Exchange::look
  asio::steady_timer look_timer{context};
  std::unordered_map<curl_socket_t, std::shared_ptr<Socket>> sockets;
  std::unordered_map<ExchangeId, std::unique_ptr<Exchange>> exchanges;
  std::vector<SpareHandle> spare;
  std::size_t requests = 0, http2_requests = 0;  // without endless ones
  LookAgain look_again;
  bool will_look = false;

  explicit Impl(const EngineOptions& given) : ContextInbox(1), options(given) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() override {
    for (const SpareHandle& each : spare) curl_easy_cleanup(each.handle);
    if (multi != nullptr) curl_multi_cleanup(multi);
    for (auto& [fd, socket] : sockets) socket->descriptor.release();
  }

  void wake() override {
    if (thread_id.load(std::memory_order_relaxed) == std::this_thread::get_id())
      has_own_tasks = true;
    else
      ContextInbox::wake();
  }
  /// A task of this thread waits for no batch.
  void hand_over(Task task) {
    thread_id.load(std::memory_order_relaxed) == std::this_thread::get_id() ? put(std::move(task))
                                                                            : put_batched(std::move(task));
  }
  /// What this thread has to do now: through Asio each would cost a look at all sockets.
  void settle() {
    for (int round = 0; is_curl_due || has_own_tasks; ++round) {
      if (round == most_rounds) return asio::post(context, [] {});  // others get their turn
      if (std::exchange(has_own_tasks, false)) run_tasks();
      if (std::exchange(is_curl_due, false)) act(CURL_SOCKET_TIMEOUT, 0);
    }
  }

  // --- libcurl's requests

  static int on_timer(CURLM*, long wait_ms, void* user) {
    Impl& self = *static_cast<Impl*>(user);
    self.is_curl_due = wait_ms == 0;
    self.curl_timer.set(wait_ms <= 0 ? Clock::time_point::max() : Clock::now() + std::chrono::milliseconds(wait_ms));
    return 0;
  }

  static int on_socket(CURL* handle, curl_socket_t fd, int what, void* user, void*) {
    Impl& self = *static_cast<Impl*>(user);
    if (what == CURL_POLL_REMOVE) {
      const auto found = self.sockets.find(fd);
      if (found == self.sockets.end()) return 0;
      found->second->wants_read = found->second->wants_write = false;
      void* transfer = nullptr;
      curl_easy_getinfo(handle, CURLINFO_PRIVATE, &transfer);
      // Others it closes without on_close(): those of the resolver, and of connections that did not come about.
      if (transfer == nullptr || !static_cast<Transfer*>(transfer)->has_head) self.forget(found);
      return 0;
    }
    auto& socket = self.sockets[fd];
    const bool writes = (what & CURL_POLL_OUT) != 0;
    if (socket && socket->knows_write && !writes) {
      socket->descriptor.release();
      socket.reset();
    }
    if (!socket) {
      socket = std::make_shared<Socket>(self.context);
      ErrorCode error;
      socket->descriptor.assign(fd, error);
    }
    socket->wants_read = (what & CURL_POLL_IN) != 0;
    socket->wants_write = writes;
    socket->knows_write |= writes;
    self.wait_for(fd, socket);
    return 0;
  }

  static int on_close(void* user, curl_socket_t fd) {
    Impl& self = *static_cast<Impl*>(user);
    if (const auto found = self.sockets.find(fd); found != self.sockets.end()) self.forget(found);
    return ::close(fd);
  }

  void forget(std::unordered_map<curl_socket_t, std::shared_ptr<Socket>>::iterator place) {
    place->second->descriptor.release();
    sockets.erase(place);
  }

  void wait_for(curl_socket_t fd, const std::shared_ptr<Socket>& socket) {
    wait_for(fd, socket, asio::posix::descriptor_base::wait_read, CURL_CSELECT_IN, &Socket::wants_read,
             &Socket::waits_read);
    wait_for(fd, socket, asio::posix::descriptor_base::wait_write, CURL_CSELECT_OUT, &Socket::wants_write,
             &Socket::waits_write);
  }

  void wait_for(curl_socket_t fd, const std::shared_ptr<Socket>& socket, asio::posix::descriptor_base::wait_type type,
                int event, bool Socket::* wants, bool Socket::* waits) {
    if (!((*socket).*wants) || std::exchange((*socket).*waits, true)) return;
    socket->descriptor.async_wait(type, [=, this](const ErrorCode& error) {
      (*socket).*waits = false;
      // Released, and perhaps the number has become another socket's.
      const auto is_current = [&] {
        const auto found = sockets.find(fd);
        return found != sockets.end() && found->second == socket;
      };
      if (!is_current() || error == asio::error::operation_aborted || !((*socket).*wants)) return;
      if (options.gather.count() > 0 && requests >= gathered_from) std::this_thread::sleep_for(options.gather);
      act(fd, error ? CURL_CSELECT_ERR : event);
      if (is_current()) wait_for(fd, socket);
    });
  }

  void act(curl_socket_t fd, int event) {
    int running = 0;
    curl_multi_socket_action(multi, fd, event, &running);
    collect();
    look_again.moved();
    look_later();
  }

  /// See look_again.hpp.
  void look_later() {
    if (will_look || http2_requests == 0) return;
    const int wait = look_again.at_most(no_look, true);
    if (wait >= no_look) return;
    will_look = true;
    look_timer.expires_after(std::chrono::milliseconds(wait));
    look_timer.async_wait([this](const ErrorCode& error) {
      will_look = false;
      if (error || stopping) return;
      std::vector<curl_socket_t> all;
      for (const auto& [fd, socket] : sockets)
        if (socket->wants_read) all.push_back(fd);
      int running = 0;
      for (const curl_socket_t fd : all)
        if (sockets.contains(fd)) curl_multi_socket_action(multi, fd, CURL_CSELECT_IN, &running);
      collect();
      look_later();
    });
  }

  // --- exchanges

  void count(const Exchange& exchange, std::size_t by) {
    if (exchange.request.endless) return;
    requests += by;
    if (exchange.request.connecting->http2) http2_requests += by;
  }

  void begin(std::unique_ptr<Exchange> owned) {
    Exchange& exchange = *owned;
    SpareHandle free;
    if (!stopping) {
      if (spare.empty()) {
        free.handle = curl_easy_init();
      } else {
        free = std::move(spare.back());
        spare.pop_back();
      }
    }
    if (free.handle == nullptr) {
      const ExchangeError error = stopping ? ExchangeError{Failure::cancelled, "the client is being closed"}
                                           : ExchangeError{Failure::unreachable, "out of memory"};
      return exchange.receiver->done(exchange.head, &error);
    }
    if (const auto error = exchange.receiver->begin(exchange.request)) {
      spare.push_back(std::move(free));
      return exchange.receiver->done(exchange.head, &*error);
    }
    exchange.prepare(std::move(free));
    curl_easy_setopt(exchange.handle, CURLOPT_CLOSESOCKETFUNCTION, &on_close);
    curl_easy_setopt(exchange.handle, CURLOPT_CLOSESOCKETDATA, static_cast<void*>(this));
    count(exchange, 1);
    exchanges.emplace(exchange.id, std::move(owned));
    watch_deadlines(exchange);
    curl_multi_add_handle(multi, exchange.handle);
  }

  void watch_deadlines(Exchange& exchange) {
    exchange.look = exchange.next_look(Clock::now());
    if (exchange.look == Clock::time_point::max()) return;
    deadlines.emplace(exchange.look, exchange.id);
    deadline_timer.set(deadlines.begin()->first);
  }

  void look_at_deadlines() {
    const auto now = Clock::now();
    while (!deadlines.empty() && deadlines.begin()->first <= now) {
      const ExchangeId id = deadlines.begin()->second;
      deadlines.erase(deadlines.begin());
      Exchange& exchange = *exchanges.at(id);
      if (const std::string why = exchange.overdue(now); !why.empty()) {
        const ExchangeError error{exchange.was_sent() ? Failure::timed_out : Failure::unreachable, why};
        end_stalled_connection(exchange);
        finish(id, &error);
      } else {
        watch_deadlines(exchange);
      }
    }
    if (!deadlines.empty()) deadline_timer.set(deadlines.begin()->first);
  }

  /// One slow answer is no reason to end a connection that others share; a connection over which nothing came since
  /// the request went out is. All its exchanges end as interrupted, and the next ones use another.
  void end_stalled_connection(const Exchange& exchange) {
    for (const auto& [fd, socket] : sockets) {
      if (!exchange.is_stalled_on(fd)) continue;
      ++stalled_connections;
      ::shutdown(fd, SHUT_RDWR);
    }
  }

  void finish(ExchangeId id, const ExchangeError* error) {
    const auto found = exchanges.find(id);
    if (found == exchanges.end()) return;
    const std::unique_ptr<Exchange> exchange = std::move(found->second);
    exchanges.erase(found);
    count(*exchange, std::size_t{0} - 1);
    deadlines.erase({exchange->look, id});
    connections += exchange->connections_made();
    if (exchange->head.http2) ++http2_answers;
    curl_multi_remove_handle(multi, exchange->handle);
    if (spare.size() < most_spare_handles) {
      spare.push_back(exchange->give_back());
    } else {
      curl_easy_cleanup(exchange->handle);
    }
    exchange->receiver->done(exchange->head, error);
  }

  void collect() {
    int left = 0;
    while (const CURLMsg* message = curl_multi_info_read(multi, &left)) {
      if (message->msg != CURLMSG_DONE) continue;
      void* user = nullptr;
      curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &user);
      auto& exchange = static_cast<Exchange&>(*static_cast<Transfer*>(user));
      const auto error = exchange.result(message->data.result);
      finish(exchange.id, error ? &*error : nullptr);
    }
  }

  void resume(ExchangeId id) {
    const auto found = exchanges.find(id);
    if (found == exchanges.end()) return;
    Exchange& exchange = *found->second;
    if (!exchange.reading_paused && !exchange.writing_paused) return;
    exchange.reading_paused = exchange.writing_paused = false;
    exchange.last_byte = Clock::now();
    curl_easy_pause(exchange.handle, CURLPAUSE_CONT);
    act(CURL_SOCKET_TIMEOUT, 0);
  }

  void loop() {
    thread_id = std::this_thread::get_id();
    {
      const auto work = asio::make_work_guard(context);
      while (!context.stopped()) {
        const WakeBatch wakes;
        context.run_one();
        settle();
        if (!WakeBatch::is_waited_for()) continue;
        const auto until = Clock::now() + longest_before_wake;
        for (int i = 1; i < most_before_wake && Clock::now() < until; ++i) {
          if (context.poll_one() == 0) break;
          settle();
        }
      }
    }
    const ExchangeError error{Failure::cancelled, "the client is being closed"};
    const auto end_all = [&] {
      while (!exchanges.empty()) finish(exchanges.begin()->first, &error);
    };
    end_all();
    context.restart();
    run_tasks();  // what was sent before the end
    for (int round = 0; round < most_rounds && std::exchange(has_own_tasks, false); ++round) run_tasks();
    context.poll();
    end_all();
  }
};

std::expected<std::shared_ptr<Engine>, Error> Engine::start(const EngineOptions& options) {
  static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (initialised != CURLE_OK) return std::unexpected(Error{"libcurl cannot be initialised"});
  auto impl = std::make_shared<Impl>(options);
  impl->multi = curl_multi_init();
  if (impl->multi == nullptr) return std::unexpected(Error{"libcurl cannot make a multi handle"});
  const auto set = [&](CURLMoption option, auto value) { curl_multi_setopt(impl->multi, option, value); };
  set(CURLMOPT_PIPELINING, long{CURLPIPE_MULTIPLEX});
  set(CURLMOPT_MAX_HOST_CONNECTIONS, options.connections_per_host);
  set(CURLMOPT_MAXCONNECTS, options.connections);
  set(CURLMOPT_SOCKETFUNCTION, &Impl::on_socket);
  set(CURLMOPT_SOCKETDATA, impl.get());
  set(CURLMOPT_TIMERFUNCTION, &Impl::on_timer);
  set(CURLMOPT_TIMERDATA, impl.get());
  impl->thread = std::thread([impl] { impl->loop(); });
  return std::shared_ptr<Engine>(new Engine(std::move(impl)));
}

std::shared_ptr<Engine> Engine::shared(bool public_addresses_only) {
  static std::mutex mutex;
  static std::weak_ptr<Engine> held[2];
  const std::scoped_lock lock(mutex);
  auto& kept = held[public_addresses_only ? 1 : 0];
  if (auto engine = kept.lock()) return engine;
  const auto started = start();
  if (!started) return nullptr;
  kept = *started;
  return *started;
}

Engine::Engine(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}

Engine::~Engine() {
  impl_->stopping = true;
  impl_->context.stop();
  if (on_own_thread()) {
    impl_->thread.detach();  // which holds what it needs
  } else {
    impl_->thread.join();
  }
}

ExchangeId Engine::send(ExchangeRequest request, std::shared_ptr<Receiver> receiver) {
  const ExchangeId id = impl_->next_id++;
  auto exchange = std::make_unique<Exchange>(id);
  exchange->request = std::move(request);
  exchange->receiver = std::move(receiver);
  impl_->hand_over(
      [impl = impl_.get(), exchange = std::move(exchange)]() mutable { impl->begin(std::move(exchange)); });
  return id;
}

void Engine::cancel(ExchangeId id) {
  impl_->hand_over([impl = impl_.get(), id] {
    const ExchangeError error{Failure::cancelled, "cancelled"};
    impl->finish(id, &error);
  });
}

void Engine::resume(ExchangeId id) {
  impl_->hand_over([impl = impl_.get(), id] { impl->resume(id); });
}

void Engine::run(std::move_only_function<void()> task) { impl_->hand_over(std::move(task)); }

void Engine::run_after(std::chrono::milliseconds delay, std::function<void()> task) {
  auto timer = std::make_shared<asio::steady_timer>(impl_->context, delay);
  timer->async_wait([timer, task = std::move(task)](const ErrorCode& error) {
    if (!error) task();
  });
}

bool Engine::on_own_thread() const { return impl_->thread_id.load() == std::this_thread::get_id(); }

Engine::Stats Engine::stats() const { return {impl_->connections, impl_->http2_answers, impl_->stalled_connections}; }

}  // namespace stackgate::http_client
