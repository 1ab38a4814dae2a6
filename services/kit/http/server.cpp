#include "services/kit/http/server.hpp"

#include <system_error>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "services/kit/base/try.hpp"
#include "services/kit/http/listen.hpp"
#include "services/kit/http/worker.hpp"

namespace stackgate::http {
namespace server_detail {

// Threads started here take no signals: they belong to main, and SIGPIPE from a TLS write has no handler.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace server_detail

struct Server::Impl {
  std::shared_ptr<Shared> shared = std::make_shared<Shared>();
  std::vector<std::shared_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  std::uint16_t port = 0;

  ~Impl() {
    for (const auto& worker : workers) worker->loop().stop();
    for (auto& thread : threads) thread.join();
  }
};

std::expected<std::unique_ptr<Server>, Error> Server::start(ServerConfig config, Handler handler) {
  if (config.threads == 0) return std::unexpected(Error{"a server needs at least one thread"});
  auto impl = std::make_unique<Impl>();
  impl->shared->config = std::move(config);
  impl->shared->handler = std::move(handler);
  const ServerConfig& kept = impl->shared->config;

  auto listening = TRY(listen_on(kept.listen, kept.threads));
  impl->port = listening.port;
  for (int& socket : listening.sockets) {
    auto loop = Loop::make();
    if (!loop) {
      for (const int fd : listening.sockets) {
        if (fd >= 0) ::close(fd);
      }
      return std::unexpected(loop.error());
    }
    impl->workers.push_back(std::make_shared<Worker>(impl->shared, std::move(*loop), std::exchange(socket, -1)));
  }
  const server_detail::NoSignals inherited_by_the_threads;
  try {
    for (const auto& worker : impl->workers) {
      impl->threads.emplace_back([worker] { worker->run(); });
    }
  } catch (const std::system_error& error) {
    return std::unexpected(Error{fmt::format("cannot start a server thread: {}", error.what())});
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() = default;

std::uint16_t Server::port() const { return impl_->port; }

ServerStats Server::stats() const {
  ServerStats sum{};
  for (const auto& worker : impl_->workers) {
    const Tallies& tallies = worker->tallies();
    sum.connections_total += tallies.connections.get();
    sum.handshakes_total += tallies.handshakes.get();
    sum.handshake_failures_total += tallies.handshake_failures.get();
    sum.requests_total += tallies.requests.get();
    sum.bytes_read_total += tallies.bytes_read.get();
    sum.bytes_written_total += tallies.bytes_written.get();
    sum.rejected_total += tallies.rejected.get();
  }
  sum.bytes_read_total += impl_->shared->streamed_in.load();
  sum.bytes_written_total += impl_->shared->streamed_out.load();
  sum.connections_open = impl_->shared->open.load();
  return sum;
}

void Server::drain(std::chrono::milliseconds limit) {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (const auto& worker : impl_->workers) {
    worker->loop().post([worker] { worker->drain(); });
  }
  std::unique_lock lock(impl_->shared->mutex);
  impl_->shared->all_closed.wait_until(lock, until, [this] {
    return impl_->shared->drained == impl_->workers.size() && impl_->shared->open.load() == 0;
  });
}

}  // namespace stackgate::http
