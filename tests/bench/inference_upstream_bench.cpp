// stackgate-inference in front of an engine that computes nothing: how much later answers come than from the same
// engine asked directly, in alternating rounds; 1,000 streams at once; its memory and its start. The program has a core
// of its own; the client and the engine have the others.
#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>

#include "services/kit/log/log.hpp"
#include "services/kit/web/app.hpp"
#include "services/kit/web/deferred.hpp"
#include "services/kit/web/sse.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/http_load.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

using namespace std::chrono_literals;
constexpr int rounds = 7;
constexpr int rate = 1'000;  // a second
constexpr int streams = 1'000;
constexpr auto between_chunks = 200ms;
constexpr auto streaming = 10s;
constexpr int starts = 7;
const std::string program = "build/release/bin/stackgate-inference";

// ---- in a process of its own

/// The engine: the base model's name, an answer of 1 KB, or a stream of chunks spread over time whose data is the time.
int serve(const std::string& port) {
  log::configure({.level = log::Level::warning});
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> all;
  web::AppConfig config;
  config.server.listen = "127.0.0.1:" + port;
  config.deferred_per_share = config.deferred;
  const std::string text = R"({"text":")" + std::string(1013, 'y') + "\"}";
  const auto complete = [&](web::Call& call) -> web::Answer {
    if (!call.request().body.contains("\"stream\":true")) return http::Response{200, "application/json", {}, text};
    auto deferred = call.defer();
    if (!deferred) return deferred.error();
    (*deferred)->start(web::event_stream_head(), std::nullopt);
    (*deferred)->write({});
    const std::lock_guard lock(mutex);
    all.push_back(*deferred);
    return web::Later{};
  };
  const auto list = [](web::Call&) -> web::Answer {
    return http::Response{
        200, "application/json", {}, R"({"object":"list","data":[{"id":"base","object":"model","owned_by":"vllm"}]})"};
  };
  const auto app =
      web::App::start(std::move(config), {{"POST", "/v1/chat/completions", complete, {.on_io_thread = true}},
                                          {"GET", "/v1/models", list, {.on_io_thread = true}}});
  if (!app) return 1;
  constexpr auto step = 5ms;
  constexpr std::size_t steps = between_chunks / step;
  auto at = Clock::now();
  for (std::size_t turn = 0;; turn = (turn + 1) % steps) {
    std::this_thread::sleep_until(at += step);
    const std::lock_guard lock(mutex);
    for (std::size_t i = turn; i < all.size(); i += steps)
      all[i]->write(web::format_event({.data = std::to_string(now_ns())}));
  }
}

// ---- the client

Load one_kilobyte() {
  const std::string before = R"({"model":"base","messages":[{"role":"user","content":")", after = "\"}]}";
  return {json_request("/v1/chat/completions", before + std::string(1024 - before.size() - after.size(), 'x') + after),
          1024, rate};
}

Program front(const test::TempDir& dir, const std::string& name, std::uint16_t engine, int core) {
  return {{program, "--upstream-url", fmt::format("http://127.0.0.1:{}/v1", engine)}, dir, name, core};
}

void run() {
  open_more_files();
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores < 2) throw std::runtime_error("this takes two cores");
  if (::access(program.c_str(), X_OK) != 0) throw std::runtime_error(program + " is missing: build it first");
  test::TempDir dir;

  Peer engine{"engine"}, engine_of_streams{"streams"};
  engine.start({"/proc/self/exe", "serve", std::to_string(engine.port)}, dir, std::min(2, cores - 1));
  engine_of_streams.start({"/proc/self/exe", "serve", std::to_string(engine_of_streams.port)}, dir,
                          std::min(2, cores - 1));

  std::vector<double> took;
  for (int i = 0; i < starts; ++i) took.push_back(front(dir, fmt::format("start-{}", i), engine.port, -1).start_ms);
  std::ranges::sort(took);
  print({.name = "inference_upstream_start",
         .value = took[starts / 2],
         .unit = "ms",
         .limit = 80,
         .text = fmt::format("until it is ready: median of {}, {:.0f} to {:.0f}", starts, took.front(), took.back())});

  keep_on_core(0, 1);
  const Program plain = front(dir, "front", engine.port, 0);
  std::this_thread::sleep_for(2s);  // and two looks at the engine
  print({.name = "inference_upstream_idle_memory",
         .value = plain.process->memory_mib("VmRSS"),
         .unit = "MiB",
         .limit = 30,
         .text = "resident"});

  Latency direct{1e9, 1e9}, through{1e9, 1e9};
  const Load load = one_kilobyte();
  for (int round = 0; round < rounds; ++round) {
    better(direct, at_a_rate(engine.port, load, 2s));
    better(through, at_a_rate(plain.port, load, 2s));
  }
  print({.name = "inference_upstream_added_p50",
         .value = through.p50 - direct.p50,
         .unit = "ms",
         .limit = 0.3,
         .beside = direct.p50,
         .text = fmt::format("{} requests a second, 1 KB each way; direct {:.3f} ms", rate, direct.p50)});
  print({.name = "inference_upstream_added_p99",
         .value = through.p99 - direct.p99,
         .unit = "ms",
         .limit = 1.5,
         .beside = direct.p99,
         .text = fmt::format("direct {:.3f} ms; best of {} rounds", direct.p99, rounds)});

  const Program streaming_front = front(dir, "streaming", engine_of_streams.port, 0);
  const Streams all{json_request("/v1/chat/completions",
                                 R"({"model":"base","messages":[{"role":"user","content":"x"}],"stream":true})"),
                    streams, between_chunks};
  const Latency streamed = events_through(streaming_front.port, all, streaming);
  print({.name = "inference_upstream_chunk_latest",
         .value = streamed.most,
         .unit = "ms",
         .limit = 20,
         .text = fmt::format("{} chunks on {} streams, p50 {:.2f} ms, p99 {:.2f}", streamed.count, streams,
                             streamed.p50, streamed.p99)});
  print({.name = "inference_upstream_streams_memory",
         .value = streaming_front.process->memory_mib("VmHWM"),
         .unit = "MiB",
         .limit = 96,
         .text = fmt::format("highest resident, {} streams", streams)});
}

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  using namespace stackgate::bench;
  if (argc == 3 && std::string_view(argv[1]) == "serve") return serve(argv[2]);
  try {
    run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "inference_upstream_bench: {}\n", error.what());
    return 1;
  }
  return exit_status;
}
