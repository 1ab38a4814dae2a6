// A minimal proxy of the kit (web, relay, http_client) beside nginx's proxy_pass: the same client, the same upstream,
// alternating rounds, each proxy on a core of its own. Keep-alive on both sides, no access log.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "services/kit/log/log.hpp"
#include "services/kit/relay/relay.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/http_load.hpp"
#include "tests/bench/nginx_server.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

using namespace std::chrono_literals;
constexpr int rounds = 5;
constexpr long requests = 20'000;
constexpr int rate = 2'000;  // a second
constexpr int streams = 2'000;
constexpr auto streaming = 10s;

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

Load one_kilobyte() { return {json_request("/json", R"({"prompt":")" + std::string(1011, 'x') + "\"}"), 1024, rate}; }

// ---- both, in turn

void run() {
  open_more_files();
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
      keep_busy(peer->port, one_kilobyte(), 200);
      const double before = peer->process->cpu_us();
      keep_busy(peer->port, one_kilobyte(), requests);
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
  for (int round = 0; round < rounds; ++round) {
    better(direct, at_a_rate(upstream.port, one_kilobyte(), 2s));
    better(through, at_a_rate(ours.port, one_kilobyte(), 2s));
    better(through_nginx, at_a_rate(nginx.port, one_kilobyte(), 2s));
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

  const Streams all_streams{"GET /events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n", streams};
  const Latency streamed = events_through(streams_of_ours.port, all_streams, streaming);
  const double memory = streams_of_ours.process->memory_mib("VmHWM");
  const double threads = streams_of_ours.process->memory_mib("Threads") * 1024;
  const Latency by_nginx = events_through(nginx.port, all_streams, streaming);
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
