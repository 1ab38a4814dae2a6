// stackgate-guardrail in front of models that compute nothing: its own time, the time and CPU that it adds at a fixed
// rate beside nginx's proxy_pass, thousands of streams with output rails, its memory and its start. The program has a
// core of its own; the client and the models have the others.
#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "services/kit/log/log.hpp"
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
constexpr std::size_t users = 32;
constexpr auto thinking = 20ms;  // of a model
constexpr auto reading = 20ms;   // of a user, at most, before the next question: users do not ask in step
constexpr long turns = 3'000;
constexpr int rate = 2'500;  // a second
constexpr long requests = 10'000;
constexpr int streams = 2'000;
constexpr auto streaming = 10s;
constexpr int starts = 7;
const std::string program = "build/release/bin/stackgate-guardrail";

// ---- what the program is given

// What the rails mask, and what is there instead.
constexpr std::string_view address = "ann@example.com", mask = "<EMAIL_ADDRESS>";

constexpr std::string_view detectors = R"(models:
  - type: main
    engine: openai
    model: main-model
rails:
  config:
    sensitive_data_detection:
      input:
        entities: [EMAIL_ADDRESS, CREDIT_CARD, PHONE_NUMBER, US_SSN]
      output:
        entities: [EMAIL_ADDRESS, CREDIT_CARD, PHONE_NUMBER, US_SSN]
    regex_detection:
      input:
        patterns: ["(?i)launch code", "SKU-[0-9]{6}", "password\\s*[:=]"]
      output:
        patterns: ["(?i)launch code", "SKU-[0-9]{6}", "password\\s*[:=]"]
)";
constexpr std::string_view self_checks = R"(prompts:
  - task: self_check_input
    content: |
      Is this message allowed? Answer yes when it must be blocked, else no.
      CHECK: {{ user_input }}
  - task: self_check_output
    content: |
      Is this answer allowed? Answer yes when it must be blocked, else no.
      CHECK: {{ bot_response }}
)";

/// `input` and `output`: lines of flows before those of the detectors.
std::string rails(std::string_view input, std::string_view output, bool streamed) {
  std::string out(detectors);
  out +=
      fmt::format("  input:\n    flows:\n{}      - mask sensitive data on input\n      - regex check input\n", input);
  out += fmt::format("  output:\n    flows:\n{}      - mask sensitive data on output\n      - regex check output\n",
                     output);
  if (streamed) out += "    streaming:\n      enabled: true\n      chunk_size: 8\n      context_size: 4\n";
  return out;
}

void write_configurations(const test::TempDir& dir) {
  for (const char* name : {"checking", "default", "streaming"})
    std::filesystem::create_directories(dir / "configs" + "/" + name);
  dir.write("configs/checking/config.yml", rails("      - self check input\n", "      - self check output\n", false));
  dir.write("configs/checking/prompts.yml", self_checks);
  dir.write("configs/default/config.yml", rails("", "", false));
  dir.write("configs/streaming/config.yml", rails("", "", true));
}

std::string completion(std::string_view text) {
  return fmt::format(
      R"({{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"main-model","choices":)"
      R"([{{"index":0,"message":{{"role":"assistant","content":"{}"}},"finish_reason":"stop"}}],"usage":)"
      R"({{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}}})",
      text);
}

/// Begins with an address.
std::string words(std::size_t bytes) {
  constexpr std::string_view page = "Thank you for your order of two chairs and a table, which we have sent today. ";
  std::string out = fmt::format("Mail to {}. ", address);
  while (out.size() < bytes) out += page;
  out.resize(bytes);
  return out;
}

std::string question(std::string_view config, std::string_view text, std::string_view more = "") {
  return json_request("/v1/chat/completions",
                      fmt::format(R"({{"model":"main-model","config_id":"{}","messages":[{{"role":"user","content":)"
                                  R"("{}"}}]{}}})",
                                  config, text, more));
}

// ---- models

/// Answers after `thinking`, and knows how long it took for each user, whose number follows "user-" in the text.
class SlowModels {
 public:
  explicit SlowModels(std::uint16_t port) {
    web::AppConfig config;
    config.server.listen = fmt::format("127.0.0.1:{}", port);
    auto app = web::App::start(
        std::move(config),
        {{"POST", "/v1/chat/completions", [this](web::Call& call) { return think(call); }, {.on_io_thread = true}}});
    if (!app) throw std::runtime_error("the models do not start");
    app_ = std::move(*app);
    clock_ = std::jthread([this](const std::stop_token& stop) { answer(stop); });
  }
  /// Milliseconds since the last call.
  double thought_for(std::size_t user) { return static_cast<double>(thought_[user].exchange(0)) / 1e6; }

 private:
  struct Waiting {
    Clock::time_point came;
    std::size_t user;
    std::string text;
    std::shared_ptr<web::Deferred> call;
  };
  web::Answer think(web::Call& call) {
    const auto came = Clock::now();
    const std::string_view body = call.request().body;
    const auto at = body.find("user-");
    if (at == std::string_view::npos) return web::Failure{400, "no user"};
    const std::size_t user = std::stoul(std::string(body.substr(at + 5, 2)));
    auto deferred = call.defer();
    if (!deferred) return deferred.error();
    const bool checks = body.contains("CHECK:");
    // Of what the main model gets the address was masked; of what is asked by `direct` it was not.
    if (!checks && !body.contains("direct") && (body.contains(address) || !body.contains(mask)))
      return web::Failure{400, "the input was not masked"};
    const std::lock_guard lock(mutex_);
    waiting_.push_back(
        {came, user, completion(checks ? "no" : fmt::format("To user-{:02}: {}", user, words(900))), *deferred});
    return web::Later{};
  }
  void answer(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::unique_lock lock(mutex_);
      const auto due = waiting_.empty() ? Clock::now() + 1ms : waiting_.front().came + thinking;
      if (waiting_.empty() || Clock::now() < due) {
        lock.unlock();
        std::this_thread::sleep_until(due);
        continue;
      }
      Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      thought_[next.user] += (Clock::now() - next.came).count();
      next.call->answer(http::Response{200, "application/json", {}, std::move(next.text)});
    }
  }

  std::array<std::atomic<std::int64_t>, 100> thought_{};
  std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::unique_ptr<web::App> app_;
  std::jthread clock_;
};

/// A time as letters, in which no detector sees anything.
std::string letters(std::int64_t number) {
  std::string out = std::to_string(number);
  for (char& each : out) each = static_cast<char>(each - '0' + 'a');
  return out;
}

std::string text_event(std::string_view text) {
  return web::format_event(
      {.data = fmt::format(R"({{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":)"
                           R"([{{"index":0,"delta":{{"content":"{}"}}}}]}})",
                           text)});
}

/// In a process of its own: endless streams, a chunk a second on each, the first word of which is the time: chunk_size
/// tokens, or one more where the time is a long word. With the context that is held back they make a window full.
int serve_streams(const std::string& port) {
  log::configure({.level = log::Level::warning});
  std::mutex mutex;
  std::vector<std::shared_ptr<web::Deferred>> all;
  web::AppConfig config;
  config.server.listen = "127.0.0.1:" + port;
  config.deferred_per_share = config.deferred;
  const auto complete = [&](web::Call& call) -> web::Answer {
    auto deferred = call.defer();
    if (!deferred) return deferred.error();
    (*deferred)->start(web::event_stream_head(), std::nullopt);
    (*deferred)->write(text_event(fmt::format("Mail to {} if you please, ", address)));
    const std::lock_guard lock(mutex);
    all.push_back(*deferred);
    return web::Later{};
  };
  const auto app =
      web::App::start(std::move(config), {{"POST", "/v1/chat/completions", complete, {.on_io_thread = true}}});
  if (!app) return 1;
  constexpr auto step = 5ms;
  constexpr std::size_t steps = 1s / step;
  auto at = Clock::now();
  for (std::size_t turn = 0;; turn = (turn + 1) % steps) {
    std::this_thread::sleep_until(at += step);
    const std::lock_guard lock(mutex);
    for (std::size_t i = turn; i < all.size(); i += steps)
      all[i]->write(text_event(fmt::format("QQ{} two chairs and a table today, ", letters(now_ns()))));
  }
}

// ---- the client

/// Users who ask `calls` models each time, on a connection each, and read the answer for a while before they ask again.
/// Without what the models took, which they say.
struct Users {
  std::uint16_t port = 0;
  SlowModels& models;
  std::string config;  // empty: the models themselves are asked
  int calls = 1;
};

Latency times_of(const Users& users_, long total) {
  const Client client(users_.port, users);
  std::vector<std::string> received(users), asked(users);
  std::vector<Clock::time_point> begun(users), next(users);
  std::vector<double> took;
  const bool direct = users_.config.empty();
  std::minstd_rand dice(1);
  const auto pause = [&] { return reading * (dice() % 1'000) / 1'000; };
  for (std::size_t user = 0; user < users; ++user) {
    asked[user] =
        question(users_.config, fmt::format("I am user-{:02}. {}{}", user, direct ? "direct " : "", words(900)));
    next[user] = Clock::now() + pause();
  }
  const auto begin_due = [&] {
    for (std::size_t user = 0; user < users; ++user) {
      if (next[user] > Clock::now()) continue;
      next[user] = Clock::time_point::max();
      users_.models.thought_for(user);
      begun[user] = Clock::now();
      client.send(user, asked[user]);
    }
  };
  while (std::ssize(took) < total) {
    begin_due();
    client.receive(std::min(*std::ranges::min_element(next), Clock::now() + 10s),
                   [&](std::size_t user, std::string_view bytes) {
                     std::string& text = received[user] += bytes;
                     const auto end = text.find("\r\n\r\n");
                     const auto length = text.find("Content-Length: ");
                     if (end == std::string::npos) return;
                     if (length == std::string::npos || !text.contains(" 200 "))
                       throw std::runtime_error("not an answer: " + text);
                     if (text.size() < end + 4 + std::stoul(text.substr(length + 16))) return;
                     const std::chrono::duration<double, std::milli> whole = Clock::now() - begun[user];
                     const double thought = users_.models.thought_for(user);
                     if (thought < users_.calls * 20.0 || !text.contains(fmt::format("To user-{:02}", user)))
                       throw std::runtime_error("models were not asked as expected: " + text);
                     if (!direct && (text.contains(address) || !text.contains(mask)))
                       throw std::runtime_error("the output was not masked: " + text);
                     took.push_back(whole.count() - thought);
                     text.clear();
                     next[user] = Clock::now() + pause();
                   });
  }
  return latency_of(took);
}

/// How long after it was sent a text comes. The first tokens of a chunk are no context that is held back: the chunk
/// itself makes the window full.
Latency chunks_through(std::uint16_t port) {
  const std::string request = question("streaming", "Tell me about my order.", R"(,"stream":true)");
  const Client client(port, streams);
  std::vector<std::string> received(streams);
  std::vector<long> texts(streams, 0);
  std::vector<bool> masked(streams, false);
  std::vector<double> took;
  for (std::size_t i = 0; i < streams; ++i) client.send(i, request);
  const auto begin = Clock::now() + 4s, end = begin + streaming;
  while (Clock::now() < end)
    client.receive(end, [&](std::size_t which, std::string_view bytes) {
      std::string& text = received[which];
      text += bytes;
      if (text.contains(address)) throw std::runtime_error("a stream was not masked: " + text);
      if (!masked[which] && text.contains(mask)) masked[which] = true;
      for (std::size_t at = 0; (at = text.find("QQ")) != std::string::npos;) {
        const auto space = text.find(' ', at);
        if (space == std::string::npos) return;
        std::int64_t sent = 0;
        for (const char each : text.substr(at + 2, space - at - 2)) sent = sent * 10 + (each - 'a');
        text.erase(0, space);
        // The first text waits for the second chunk to be a window.
        if (++texts[which] > 1 && Clock::now() >= begin) took.push_back(static_cast<double>(now_ns() - sent) / 1e6);
      }
    });
  for (std::size_t i = 0; i < streams; ++i)
    if (texts[i] < streaming / 1s || !masked[i])
      throw std::runtime_error("a stream lost texts, or was not masked: " + received[i].substr(0, 500));
  return latency_of(took);
}

Program guardrail(const test::TempDir& dir, const std::string& name, std::uint16_t models, int core) {
  return {{program, "--config-store", dir / "configs", "--inference-url", fmt::format("http://127.0.0.1:{}/v1", models),
           "--max-model-calls", "4096"},
          dir,
          name,
          core};
}

// ---- the figures

std::vector<std::string> proxying_nginx(test::TempDir& dir, const std::string& name, std::uint16_t port,
                                        std::uint16_t upstream) {
  return nginx_with(dir, name,
                    fmt::format("upstream models {{ server 127.0.0.1:{}; keepalive 128; keepalive_requests "
                                "100000000; }}\nserver {{ listen 127.0.0.1:{}; proxy_http_version 1.1;\n"
                                "proxy_set_header Connection \"\"; proxy_buffering off;\n"
                                "location / {{ proxy_pass http://models; }} }}",
                                upstream, port));
}

/// The way to a model and back is the model's time, too: it is measured without the guardrail. nginx beside it passes
/// one call on, with as many users.
void measure_own_time(test::TempDir& dir) {
  const std::uint16_t port = free_port();
  SlowModels models(port);
  const Program front = guardrail(dir, "checking", port, 0);
  Peer nginx{"passing"};
  nginx.start(proxying_nginx(dir, "passing", nginx.port, port), dir, 0);
  const Users direct{.port = port, .models = models}, passed{.port = nginx.port, .models = models},
      through{front.port, models, "checking", 3};
  Latency way{1e9, 1e9}, of_nginx{1e9, 1e9}, own{1e9, 1e9};
  times_of(through, 200);
  double cpu = 1e9;
  for (int round = 0; round < rounds; ++round) {
    better(way, times_of(direct, turns));
    better(of_nginx, times_of(passed, turns));
    const double before = front.process->cpu_us();
    better(own, times_of(through, turns));
    cpu = std::min(cpu, (front.process->cpu_us() - before) / turns);
  }
  const double ways = through.calls * way.p50;
  print({.name = "guardrail_own_p50",
         .value = own.p50 - ways,
         .unit = "ms",
         .limit = 0.5,
         .beside = through.calls * (of_nginx.p50 - way.p50),
         .text = fmt::format("{} users, self check, regex, sensitive data, both ways: 3 calls of models, whose way "
                             "takes {:.3f} each; {:.0f} us of CPU; nginx adds {:.3f} to three, one after the other",
                             users, way.p50, cpu, through.calls * (of_nginx.p50 - way.p50))});
  print({.name = "guardrail_own_p99",
         .value = own.p99 - ways,
         .unit = "ms",
         .limit = 1.5,
         .beside = of_nginx.p99 - way.p50,
         .text = fmt::format("best of {} rounds; nginx adds {:.3f} to one call", rounds, of_nginx.p99 - way.p50)});
}

void measure_beside_nginx(test::TempDir& dir, int others) {
  Peer upstream{"upstream"}, nginx{"nginx"};
  const std::string answer = completion(words(900));
  upstream.start(nginx_with(dir, "upstream",
                            fmt::format("server {{ listen 127.0.0.1:{}; location / {{ default_type application/json;\n"
                                        "return 200 '{}'; }} }}",
                                        upstream.port, answer)),
                 dir, others);
  nginx.start(proxying_nginx(dir, "nginx", nginx.port, upstream.port), dir, 0);
  const Program front = guardrail(dir, "rate", upstream.port, 0);

  const Load plain{question("default", words(900)), answer.size(), rate};
  Load through_rails = plain;
  std::string closing = plain.request;
  closing.insert(closing.find("\r\n") + 2, "Connection: close\r\n");
  const std::string whole = ask(front.port, closing);
  const auto body = whole.find("\r\n\r\n");
  if (!whole.starts_with("HTTP/1.1 200") || body == std::string::npos)
    throw std::runtime_error("not an answer: " + whole);
  if (whole.contains(address) || !whole.contains(mask)) throw std::runtime_error("the output was not masked: " + whole);
  through_rails.answer_bytes = whole.size() - body - 4;

  double own = 1e9, of_nginx = 1e9;
  Latency direct{1e9, 1e9}, through{1e9, 1e9}, through_nginx{1e9, 1e9};
  const auto cpu_of = [](const Process& process, std::uint16_t port, const Load& load) {
    keep_busy(port, load, 200);
    const double before = process.cpu_us();
    keep_busy(port, load, requests);
    return (process.cpu_us() - before) / requests;
  };
  for (int round = 0; round < rounds; ++round) {
    own = std::min(own, cpu_of(*front.process, front.port, through_rails));
    of_nginx = std::min(of_nginx, cpu_of(*nginx.process, nginx.port, plain));
    better(direct, at_a_rate(upstream.port, plain, 2s));
    better(through, at_a_rate(front.port, through_rails, 2s));
    better(through_nginx, at_a_rate(nginx.port, plain, 2s));
  }
  print({.name = "guardrail_added_p99",
         .value = through.p99 - direct.p99,
         .unit = "ms",
         .limit = 2,
         .beside = through_nginx.p99 - direct.p99,
         .text = fmt::format("{} requests a second, regex and sensitive data, p50 {:.3f} ms; nginx adds {:.3f}", rate,
                             through.p50 - direct.p50, through_nginx.p99 - direct.p99)});
  print({.name = "guardrail_cpu",
         .value = own / of_nginx,
         .unit = "x nginx",
         .limit = 5,
         .beside = of_nginx,
         .text = fmt::format("{:.1f} us a request, nginx {:.1f}", own, of_nginx)});
}

void measure_streams(const test::TempDir& dir, int others) {
  Peer models{"streams"};
  models.start({"/proc/self/exe", "streams", std::to_string(models.port)}, dir, others);
  const Program front = guardrail(dir, "streaming", models.port, 0);
  const Latency added = chunks_through(front.port);
  print({.name = "guardrail_streams_memory",
         .value = front.process->memory_mib("VmHWM"),
         .unit = "MiB",
         .limit = 128,
         .text = fmt::format("highest resident, {} streams with output rails", streams)});
  print({.name = "guardrail_chunk_added_p99",
         .value = added.p99,
         .unit = "ms",
         .limit = 30,
         .text = fmt::format("{} texts, p50 {:.2f} ms, latest {:.2f}", added.count, added.p50, added.most)});
}

void measure_start(const test::TempDir& dir) {
  const std::uint16_t nobody = free_port();
  std::vector<double> took;
  for (int i = 0; i < starts; ++i) took.push_back(guardrail(dir, fmt::format("start-{}", i), nobody, -1).start_ms);
  std::ranges::sort(took);
  print({.name = "guardrail_start",
         .value = took[starts / 2],
         .unit = "ms",
         .limit = 60,
         .text = fmt::format("until it is ready: median of {}, {:.0f} to {:.0f}", starts, took.front(), took.back())});
  {
    const Program idle = guardrail(dir, "idle", nobody, -1);
    std::this_thread::sleep_for(3s);  // and a look at the configurations
    print({.name = "guardrail_idle_memory",
           .value = idle.process->memory_mib("VmRSS"),
           .unit = "MiB",
           .limit = 25,
           .text = "resident"});
  }
}

/// `only`: a part of the figures; empty: all.
void run(std::string_view only) {
  open_more_files();
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  if (cores < 2) throw std::runtime_error("this takes two cores");
  if (::access(program.c_str(), X_OK) != 0) throw std::runtime_error(program + " is missing: build it first");
  log::configure({.level = log::Level::warning});
  test::TempDir dir;
  std::filesystem::permissions(dir / "", std::filesystem::perms::all);
  write_configurations(dir);

  const auto wanted = [&](std::string_view part) { return only.empty() || part == only; };
  if (wanted("start")) measure_start(dir);
  keep_on_core(0, 1);
  const int others = std::min(2, cores - 1);
  if (wanted("own")) measure_own_time(dir);
  if (wanted("rate")) measure_beside_nginx(dir, others);
  if (wanted("streams")) measure_streams(dir, others);
}

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  using namespace stackgate::bench;
  if (argc == 3 && std::string_view(argv[1]) == "streams") return serve_streams(argv[2]);
  try {
    run(argc == 2 ? argv[1] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "guardrail_bench: {}\n", error.what());
    return 1;
  }
  return exit_status;
}
