// The gate beside nginx: the same client, the same certificate, alternating rounds; CPU from each process's own
// account. One JSON object per figure on stdout, a table on stderr. STACKGATE and NGINX name other binaries.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>

#include <sys/stat.h>

#include "certs/issuer.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/load.hpp"
#include "tests/bench/processes.hpp"
#include "tests/bench/review_bodies.hpp"
#include "tests/support/nginx.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int rounds = 7;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

std::string from_environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

class Bench {
 public:
  explicit Bench(std::string gate) : gate_(std::move(gate)) {
    const auto now = std::chrono::system_clock::now();
    const certs::Subject ca{.common_name = "bench", .not_before = now, .not_after = now + std::chrono::hours(24)};
    certs::Subject leaf = ca;
    leaf.dns_names = {"localhost"};
    const auto authority = certs::make_self_signed_ca(ca);
    const auto pair = authority ? certs::issue_leaf(*authority, leaf) : authority;
    if (!pair) throw std::runtime_error(pair.error().message);
    dir_.write("tls.crt", pair->certificates);
    dir_.write("tls.key", pair->key);
    const std::string sample = test::source_dir() / "crds/samples/minimal/inferenceservices.yaml";
    const std::size_t bare = review_of(sample_with(sample, {{"env", env_list(8, 0)}})).size();
    accepted_ = post("/validate", review_of(sample_with(sample, {{"env", env_list(8, (2200 - bare) / 8)}})));
    large_ = post("/validate", review_of(sample_with(sample, {{"env", env_list(4000, 197)}})));
    refused_ = post("/early", refused_review());
    start_nginx();
  }

  void run() {
    fmt::print(stderr, "the gate beside nginx ({} rounds each, medians; CPU from /proc)\n", rounds);
    {
      const Server gate = start_gate(1);
      const double idle = gate.process->memory_mib("VmRSS");
      expect_faults(gate.port, 6);
      keep_alive_figures(gate);
      connection_figure(gate);
      large_object_figure(gate);
      print(
          {.name = "gate_rss_idle", .value = idle, .unit = "MiB", .limit = 20, .beside = idle, .text = "after start"});
    }
    throughput_figures();
    start_figure();
    size_figure();
  }

 private:
  struct Server {
    std::unique_ptr<Process> process;
    std::uint16_t port = 0;
  };

  Server start_gate(int threads) {
    Server server{nullptr, free_port()};
    const std::string listen = "127.0.0.1:" + std::to_string(server.port);
    server.process = std::make_unique<Process>(
        std::vector<std::string>{gate_, "gate", "--no-cluster", "--listen", listen, "--tls-cert", dir_ / "tls.crt",
                                 "--tls-key", dir_ / "tls.key", "--metrics-listen", "127.0.0.1:0", "--health-listen",
                                 "127.0.0.1:0", "--workers", std::to_string(threads), "--log-format", "json"},
        dir_ / "gate.log", Process::Output::pipe);
    await(server, "the gate", "gate.log");
    return server;
  }

  void start_nginx() {
    nginx_.port = free_port();
    dir_.write(
        "nginx.conf",
        fmt::format(
            "daemon off; master_process off; worker_processes 1; pid {0}/pid; error_log {0}/nginx.log;\n"
            "events {{ worker_connections 4096; }}\n"
            "http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {0}/t1; proxy_temp_path "
            "{0}/t2;\n"
            " fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;\n"
            " server {{ listen 127.0.0.1:{1} ssl; ssl_certificate {0}/tls.crt; ssl_certificate_key {0}/tls.key;\n"
            "  ssl_session_tickets off; ssl_session_cache off;\n"
            "  location / {{ default_type application/json; return 200 '{2:x<70}'; }} }} }}\n",
            dir_ / "", nginx_.port, "static"));
    nginx_.process = std::make_unique<Process>(std::vector<std::string>{test::nginx(), "-c", dir_ / "nginx.conf"},
                                               dir_ / "nginx.out");
    await(nginx_, "nginx", "nginx.log");
  }

  void await(const Server& server, std::string_view name, const std::string& log) {
    for (const auto until = Clock::now() + std::chrono::seconds(10);
         Clock::now() < until && server.process->is_running();) {
      if (Connection(context_.get(), server.port).good()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::ifstream in(dir_ / log);
    throw std::runtime_error(
        fmt::format("{} did not start: {}", name, std::string{std::istreambuf_iterator<char>(in), {}}));
  }

  void expect_faults(std::uint16_t port, int count) {
    Connection connection(context_.get(), port);
    connection.send(refused_);
    const std::string answer = connection.receive();
    int causes = 0;
    for (std::size_t at = 0; (at = answer.find("\"field\":", at)) != std::string::npos; ++at) ++causes;
    if (causes != count)
      throw std::runtime_error(fmt::format("the refused review has {} faults, not {}:\n{}", causes, count, answer));
  }

  // CPU microseconds per unit of `work`.
  static double cost(const Server& server, long units, const std::function<void()>& work) {
    const double before = server.process->cpu_us();
    work();
    return (server.process->cpu_us() - before) / static_cast<double>(units);
  }

  // Client and server share a core here. On two, the slower server's client sleeps between answers, and each answer
  // pays for waking its core: 6 µs on a virtual machine, which the faster server's busy client never costs it.
  void keep_alive_figures(const Server& gate) {
    const auto busy = [&](const Server& server, std::string_view request, std::string_view expected) {
      constexpr long count = 10'000;
      return cost(server, count, [&] { keep_busy(context_.get(), server.port, 32, count, request, expected); });
    };
    const auto all_on = [&](int core) {
      gate.process->keep_on_core(core), nginx_.process->keep_on_core(core), keep_on_core(0, core);
    };
    all_on(sched_getcpu());
    std::vector<double> nginx, accepted, refused, accepted_ratio, refused_ratio;
    for (int round = 0; round <= rounds; ++round) {
      const double n = busy(nginx_, get_, "200 OK"), a = busy(gate, accepted_, R"("allowed":true)"),
                   r = busy(gate, refused_, R"("allowed":false)");
      if (round == 0) continue;  // warm-up
      nginx.push_back(n), accepted.push_back(a), refused.push_back(r);
      accepted_ratio.push_back(a / n), refused_ratio.push_back(r / n);
    }
    all_on(-1);
    const auto text = [&](const std::vector<double>& own) {
      return fmt::format("{:.1f} µs beside {:.1f} µs", median(own), median(nginx));
    };
    print({.name = "gate_accepted_review",
           .value = median(accepted_ratio),
           .unit = "x nginx",
           .limit = 2.5,
           .beside = median(nginx),
           .text = text(accepted)});
    print({.name = "gate_refused_review_six_faults",
           .value = median(refused_ratio),
           .unit = "x nginx",
           .limit = 4,
           .beside = median(nginx),
           .text = text(refused)});
  }

  void connection_figure(const Server& gate) {
    const auto anew = [&](const Server& server, std::string_view request, std::string_view expected) {
      constexpr long count = 500;
      return cost(server, count, [&] { connect_anew(context_.get(), server.port, count, request, expected); });
    };
    std::vector<double> nginx, own, ratio;
    for (int round = 0; round <= rounds; ++round) {
      const double n = anew(nginx_, get_, "200 OK"), g = anew(gate, accepted_, R"("allowed":true)");
      if (round == 0) continue;
      nginx.push_back(n), own.push_back(g), ratio.push_back(g / n);
    }
    print({.name = "gate_new_tls_connection",
           .value = median(ratio),
           .unit = "x nginx",
           .limit = 1.25,
           .beside = median(nginx),
           .text = fmt::format("{:.0f} µs beside {:.0f} µs, a review included", median(own), median(nginx))});
  }

  void large_object_figure(const Server& gate) {
    std::vector<double> all;
    for (int round = 0; round < rounds; ++round) {
      all.push_back(cost(gate, 40, [&] { keep_busy(context_.get(), gate.port, 2, 40, large_, R"("allowed":true)"); }) /
                    1000);
    }
    print({.name = "gate_object_with_4000_env",
           .value = median(all),
           .unit = "ms",
           .limit = 4,
           .beside = static_cast<double>(large_.size()) / 1e6,
           .text = fmt::format("{:.2f} MB", static_cast<double>(large_.size()) / 1e6)});
  }

  // Whole seconds tell nothing where client and server share the cores. There the CPU price of a request says what two
  // threads on cores of their own would give: 2 * price with one thread / price with two.
  void throughput_figures() {
    constexpr long count = 20'000;
    const bool own_cores = std::thread::hardware_concurrency() >= 4;
    double peak = 0;
    std::vector<double> ratio, one_rate, two_rate;
    const Server one = start_gate(1), two = start_gate(2);
    for (int round = 0; round <= rounds; ++round) {
      const auto measure = [&](const Server& server) {
        const auto begin = Clock::now();
        const double price = cost(server, count, [&] {
          std::thread other(
              [&] { keep_busy(context_.get(), server.port, 32, count / 2, accepted_, R"("allowed":true)"); });
          keep_busy(context_.get(), server.port, 32, count / 2, accepted_, R"("allowed":true)");
          other.join();
        });
        return std::pair(price,
                         static_cast<double>(count) / std::chrono::duration<double>(Clock::now() - begin).count());
      };
      const auto [one_price, one_per_second] = measure(one);
      const auto [two_price, two_per_second] = measure(two);
      if (round == 0) continue;
      ratio.push_back(own_cores ? two_per_second / one_per_second : 2 * one_price / two_price);
      one_rate.push_back(one_per_second), two_rate.push_back(two_per_second);
    }
    peak = two.process->memory_mib("VmHWM");
    print({.name = "gate_two_threads",
           .value = median(ratio),
           .unit = "x one",
           .limit = 1.7,
           .at_least = true,
           .beside = median(one_rate),
           .text = fmt::format("{:.0f}/s with one, {:.0f}/s with two{}", median(one_rate), median(two_rate),
                               own_cores ? "" : "; ratio by CPU price: the client shares the cores")});
    print({.name = "gate_rss_peak",
           .value = peak,
           .unit = "MiB",
           .limit = 40,
           .beside = peak,
           .text = "64 connections, two threads"});
  }

  void start_figure() {
    std::vector<double> all;
    for (int round = 0; round < rounds; ++round) {
      const auto begin = Clock::now();
      const Server gate = start_gate(1);
      Connection connection(context_.get(), gate.port);
      connection.send(accepted_);
      connection.receive();
      all.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
    }
    print({.name = "gate_start_to_first_answer",
           .value = median(all),
           .unit = "ms",
           .limit = 50,
           .beside = *std::min_element(all.begin(), all.end()),
           .text = fmt::format("best {:.1f} ms", *std::min_element(all.begin(), all.end()))});
  }

  void size_figure() {
    const std::string stripped = dir_ / "stripped";
    if (std::system(fmt::format("strip -o '{}' '{}'", stripped, gate_).c_str()) != 0)
      throw std::runtime_error("strip failed");
    const double size = static_cast<double>(fs::file_size(stripped)) / 1e6;
    print({.name = "gate_stripped_binary",
           .value = size,
           .unit = "MB",
           .limit = 8,
           .beside = static_cast<double>(fs::file_size(gate_)) / 1e6,
           .text = ""});
  }

  const std::string gate_;
  test::TempDir dir_;
  ClientContext context_ = client_context();
  std::string get_ = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  std::string accepted_, refused_, large_;
  Server nginx_;
};

}  // namespace
}  // namespace stackgate::bench

int main(int, char** argv) {
  using namespace stackgate::bench;
  ::signal(SIGPIPE, SIG_IGN);
  try {
    Bench(from_environment("STACKGATE", fs::path(argv[0]).parent_path() / "stackgate")).run();
    return exit_status;
  } catch (const std::exception& error) {
    fmt::print(stderr, "gate_bench: {}\n", error.what());
    return 1;
  }
}
