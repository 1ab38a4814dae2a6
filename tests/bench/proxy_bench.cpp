// A minimal proxy of the kit (web, relay, http_client) beside nginx's proxy_pass: the same client, the same upstream,
// alternating rounds, each proxy on a core of its own. Keep-alive on both sides, no access log.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "services/kit/log/log.hpp"
#include "services/kit/relay/relay.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/processes.hpp"
#include "tests/support/nginx.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;
constexpr int rounds = 5;
constexpr long requests = 20'000;
constexpr int connections = 16;
constexpr int rate = 2'000;  // a second
constexpr int streams = 2'000;
constexpr auto streaming = 10s;

std::int64_t now_ns() { return Clock::now().time_since_epoch().count(); }

// ---- in processes of their own

/// The proxy: what a service needs to pass everything on.
int serve(const std::string& port, const std::string& upstream) {
  log::configure({.level = log::Level::warning});
  const http_client::Client client({.pause = 0ms, .proxy = ""});
  const auto pass = [&](web::Call& call) -> web::Answer {
    auto request = relay::forwarded(call, upstream);
    if (!request) return request.error();
    return relay::relay(call, client, std::move(*request));
  };
  web::AppConfig config;
  config.server.listen = "127.0.0.1:" + port;
  config.pool_threads = 1;
  config.transfer_threads = 1;
  config.deferred_per_share = config.deferred;
  std::vector<web::Route> routes;
  for (const char* method : {"GET", "POST"}) routes.push_back({method, "/{path...}", pass, {.on_io_thread = true}});
  const auto app = web::App::start(std::move(config), std::move(routes));
  if (!app) return 1;
  for (;;) ::pause();
}

/// The upstream of event streams: one event a second on each, spread over the second; the data is its time.
int send_events(const std::string& port) {
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> all;
  web::AppConfig config;
  config.server.listen = "127.0.0.1:" + port;
  config.deferred_per_share = config.deferred;
  const auto app = web::App::start(std::move(config), {{"GET",
                                                        "/events",
                                                        [&](web::Call& call) -> web::Answer {
                                                          auto deferred = call.defer();
                                                          if (!deferred) return deferred.error();
                                                          (*deferred)->start(web::event_stream_head(), std::nullopt);
                                                          (*deferred)->write({});
                                                          const std::lock_guard lock(mutex);
                                                          all.push_back(*deferred);
                                                          return web::Later{};
                                                        },
                                                        {.on_io_thread = true}}});
  if (!app) return 1;
  constexpr auto step = 5ms;
  constexpr std::size_t steps = 1s / step;
  auto at = Clock::now();
  for (std::size_t turn = 0;; turn = (turn + 1) % steps) {
    std::this_thread::sleep_until(at += step);
    const std::lock_guard lock(mutex);
    for (std::size_t i = turn; i < all.size(); i += steps)
      all[i]->write(web::format_event({.data = std::to_string(now_ns())}));
  }
}

// ---- the client

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int one = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
  ::close(fd);
  return -1;
}

/// Many connections looked after by one thread.
class Client {
 public:
  Client(std::uint16_t port, int count) {
    for (int i = 0; i < count; ++i) {
      const int fd = connect_to(port);
      if (fd < 0) throw std::runtime_error("cannot connect to port " + std::to_string(port));
      epoll_event event{.events = EPOLLIN, .data = {.u64 = all_.size()}};
      ::epoll_ctl(ready_, EPOLL_CTL_ADD, fd, &event);
      all_.push_back(fd);
    }
  }
  ~Client() {
    for (const int fd : all_) ::close(fd);
    ::close(ready_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void send(std::size_t which, std::string_view bytes) const {
    if (::send(all_[which], bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("a proxy takes no request");
  }
  /// Calls take(which, bytes) for what comes until then; once at least when nothing comes.
  template <class Take>
  void receive(Clock::time_point until, const Take& take) const {
    epoll_event events[64];
    const auto left = std::max<Clock::duration>(until - Clock::now(), 0ns);
    const timespec wait{.tv_sec = left / 1s, .tv_nsec = (left % 1s).count()};
    const int count = ::epoll_pwait2(ready_, events, 64, &wait, nullptr);
    char part[16 * 1024];
    for (int i = 0; i < count; ++i) {
      const auto which = static_cast<std::size_t>(events[i].data.u64);
      const ssize_t n = ::recv(all_[which], part, sizeof part, 0);
      if (n <= 0) throw std::runtime_error("a proxy closed a connection");
      take(which, std::string_view(part, static_cast<std::size_t>(n)));
    }
  }

 private:
  int ready_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<int> all_;
};

std::string json_request() {
  const std::string body = R"({"prompt":")" + std::string(1011, 'x') + "\"}";
  return fmt::format("POST /json HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                     body.size(), body);
}

/// How long a whole answer with 1 KB is, so that no parser is measured.
bool is_whole(std::string& received, std::string_view more) {
  received += more;
  const auto end = received.find("\r\n\r\n");
  if (end == std::string::npos || received.size() < end + 4 + 1024) return false;
  if (!received.starts_with("HTTP/1.1 200 ") || received.size() != end + 4 + 1024)
    throw std::runtime_error("an unexpected answer: " + received.substr(0, 300));
  received.clear();
  return true;
}

void keep_busy(std::uint16_t port, long total) {
  const Client client(port, connections);
  const std::string request = json_request();
  std::vector<std::string> received(connections);
  long sent = 0, done = 0;
  for (; sent < connections; ++sent) client.send(static_cast<std::size_t>(sent), request);
  while (done < total)
    client.receive(Clock::now() + 10s, [&](std::size_t which, std::string_view bytes) {
      if (!is_whole(received[which], bytes)) return;
      ++done;
      if (sent < total) client.send(which, request), ++sent;
    });
}

struct Latency {
  double p50 = 0, p99 = 0, most = 0;  // ms
  long count = 0;
};

Latency latency_of(std::vector<double>& all) {
  std::ranges::sort(all);
  const auto at = [&](double part) {
    return all[static_cast<std::size_t>(part * static_cast<double>(all.size() - 1))];
  };
  return {at(0.5), at(0.99), all.back(), static_cast<long>(all.size())};
}

/// Requests at their times whatever the answers do; each counts from when it was due.
Latency at_a_rate(std::uint16_t port, std::chrono::seconds length) {
  constexpr int spread = 64;
  const Client client(port, spread);
  const std::string request = json_request();
  std::vector<std::string> received(spread);
  std::vector<Clock::time_point> due(spread);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < spread; ++i) free.push_back(i);
  std::vector<double> took;
  auto next = Clock::now();
  const auto end = next + length;
  while (Clock::now() < end) {
    for (; next <= Clock::now() && !free.empty(); next += std::chrono::nanoseconds(1s) / rate) {
      const std::size_t which = free.back();
      free.pop_back();
      due[which] = next;
      client.send(which, request);
    }
    client.receive(free.empty() ? end : next, [&](std::size_t which, std::string_view bytes) {
      if (!is_whole(received[which], bytes)) return;
      took.push_back(std::chrono::duration<double, std::milli>(Clock::now() - due[which]).count());
      free.push_back(which);
    });
  }
  return latency_of(took);
}

/// Each event's way; throws when one is missing.
Latency events_through(std::uint16_t port, std::chrono::seconds length) {
  const Client client(port, streams);
  for (std::size_t i = 0; i < streams; ++i)
    client.send(i, "GET /events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n");
  std::vector<std::string> received(streams);
  std::vector<std::int64_t> last(streams, 0);
  std::vector<double> took;
  const auto begin = Clock::now() + 3s, end = begin + length;  // all are there by then
  while (Clock::now() < end) {
    client.receive(end, [&](std::size_t which, std::string_view bytes) {
      std::string& text = received[which];
      text += bytes;
      for (std::size_t at = 0; (at = text.find("data: ")) != std::string::npos;) {
        const auto line_end = text.find('\n', at);
        if (line_end == std::string::npos) return;
        const std::int64_t sent = std::stoll(text.substr(at + 6, line_end - at - 6));
        text.erase(0, line_end);
        if (last[which] != 0 && sent - last[which] > 1'500'000'000) throw std::runtime_error("an event was lost");
        last[which] = sent;
        if (Clock::now() >= begin) took.push_back(static_cast<double>(now_ns() - sent) / 1e6);
      }
    });
  }
  for (const std::int64_t sent : last)
    if (sent == 0) throw std::runtime_error("a stream got no event");
  return latency_of(took);
}

// ---- both, in turn

struct Peer {
  std::string name;
  std::uint16_t port = free_port();
  std::unique_ptr<Process> process{};
  void start(const std::vector<std::string>& command, const test::TempDir& dir, int core) {
    process = std::make_unique<Process>(command, dir / (name + ".log"));
    for (int i = 0; i < 5000; ++i) {
      if (const int fd = connect_to(port); fd >= 0) {
        ::close(fd);
        return process->keep_on_core(core);
      }
      std::this_thread::sleep_for(1ms);
    }
    throw std::runtime_error(name + " did not start");
  }
};

std::vector<std::string> nginx_with(test::TempDir& dir, const std::string& name, const std::string& servers) {
  dir.write(
      name + ".conf",
      fmt::format("daemon off; master_process off; worker_processes 1; worker_rlimit_nofile 20000; pid {0}/{1}.pid;\n"
                  "error_log {0}/{1}.err;\nevents {{ worker_connections 8192; }}\nhttp {{ access_log off;\n"
                  "keepalive_requests 100000000; client_body_temp_path {0}/t1; proxy_temp_path {0}/t2;\n"
                  "fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;\n{2} }}\n",
                  dir / "", name, servers));
  return {test::nginx(), "-e", dir / (name + ".err"), "-c", dir / (name + ".conf")};
}

void run() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  test::TempDir dir;
  std::filesystem::permissions(dir / "", std::filesystem::perms::all);
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores < 2) throw std::runtime_error("this takes two cores");

  // Apart from the proxies: the client, and the upstreams where there is a third core.
  const int others = std::min(2, cores - 1);
  keep_on_core(0, 1);
  Peer upstream{"upstream"}, events{"events"}, ours{"ours"}, nginx{"nginx"};
  upstream.start(nginx_with(dir, "upstream",
                            fmt::format("server {{ listen 127.0.0.1:{}; location /json {{ default_type "
                                        "application/json; return 200 '{{\"text\":\"{}\"}}'; }} }}",
                                        upstream.port, std::string(1013, 'y'))),
                 dir, others);
  events.start({"/proc/self/exe", "events", std::to_string(events.port)}, dir, others);
  const auto both_upstreams = fmt::format(
      "upstream json {{ server 127.0.0.1:{}; keepalive 128; keepalive_requests 100000000; }}\n"
      "server {{ listen 127.0.0.1:{}; proxy_http_version 1.1; proxy_set_header Connection \"\"; proxy_buffering off;\n"
      "location /json {{ proxy_pass http://json; }} location /events {{ proxy_pass http://127.0.0.1:{}; }} }}",
      upstream.port, nginx.port, events.port);
  nginx.start(nginx_with(dir, "nginx", both_upstreams), dir, 0);
  ours.start(
      {"/proc/self/exe", "serve", std::to_string(ours.port), "http://127.0.0.1:" + std::to_string(upstream.port)}, dir,
      0);
  // Beside it the same for events: its memory is theirs.
  Peer streams_of_ours{"streams"};
  streams_of_ours.start({"/proc/self/exe", "serve", std::to_string(streams_of_ours.port),
                         "http://127.0.0.1:" + std::to_string(events.port)},
                        dir, 0);

  fmt::print(stderr, "POST of 1 KB, answer of 1 KB, through the kit and through nginx (best of {} rounds)\n", rounds);
  std::map<const Peer*, double> cpu{{&ours, 1e9}, {&nginx, 1e9}};
  for (int round = 0; round < rounds; ++round) {
    for (const Peer* peer : {&ours, &nginx}) {
      keep_busy(peer->port, 200);
      const double before = peer->process->cpu_us();
      keep_busy(peer->port, requests);
      cpu[peer] = std::min(cpu[peer], (peer->process->cpu_us() - before) / requests);
    }
  }
  print({.name = "proxy_cpu",
         .value = cpu[&ours] / cpu[&nginx],
         .unit = "x nginx",
         .limit = 2.5,
         .beside = cpu[&nginx],
         .text = fmt::format("{:.1f} us a request, nginx {:.1f}", cpu[&ours], cpu[&nginx])});

  Latency direct{1e9, 1e9}, through{1e9, 1e9}, through_nginx{1e9, 1e9};
  const auto better = [](Latency& best, const Latency& other) {
    best.p50 = std::min(best.p50, other.p50);
    best.p99 = std::min(best.p99, other.p99);
  };
  for (int round = 0; round < rounds; ++round) {
    better(direct, at_a_rate(upstream.port, 2s));
    better(through, at_a_rate(ours.port, 2s));
    better(through_nginx, at_a_rate(nginx.port, 2s));
  }
  print({.name = "proxy_added_p50",
         .value = through.p50 - direct.p50,
         .unit = "ms",
         .limit = 0.2,
         .beside = through_nginx.p50 - direct.p50,
         .text = fmt::format("{} requests a second; direct {:.3f} ms, nginx adds {:.3f}", rate, direct.p50,
                             through_nginx.p50 - direct.p50)});
  print({.name = "proxy_added_p99",
         .value = through.p99 - direct.p99,
         .unit = "ms",
         .limit = 1,
         .beside = through_nginx.p99 - direct.p99,
         .text = fmt::format("direct {:.3f} ms, nginx adds {:.3f}", direct.p99, through_nginx.p99 - direct.p99)});

  const Latency streamed = events_through(streams_of_ours.port, streaming);
  const double memory = streams_of_ours.process->memory_mib("VmHWM");
  const double threads = streams_of_ours.process->memory_mib("Threads") * 1024;
  const Latency by_nginx = events_through(nginx.port, streaming);
  print({.name = "proxy_events_latest",
         .value = streamed.most,
         .unit = "ms",
         .limit = 50,
         .beside = by_nginx.most,
         .text = fmt::format("{} events on {} streams, p50 {:.2f} ms, p99 {:.2f}; nginx {:.2f}, {:.2f}, {:.1f}",
                             streamed.count, streams, streamed.p50, streamed.p99, by_nginx.p50, by_nginx.p99,
                             by_nginx.most)});
  print({.name = "proxy_events_memory",
         .value = memory,
         .unit = "MiB",
         .limit = 96,
         .beside = nginx.process->memory_mib("VmHWM"),
         .text = "highest, of our proxy"});
  print({.name = "proxy_threads", .value = threads, .unit = "", .limit = cores + 6.0, .text = "cores + 6"});
}

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  using namespace stackgate::bench;
  const std::string_view role = argc > 1 ? argv[1] : "";
  if (role == "serve" && argc == 4) return serve(argv[2], argv[3]);
  if (role == "events" && argc == 3) return send_events(argv[2]);
  try {
    stackgate::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return exit_status;
}
