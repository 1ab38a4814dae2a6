// stackgate-inference as a process, 16 requests at once: eight adapters mixed against one, base requests on a server
// that has eight adapters loaded against one that has none; how long a new adapter and one on the disk take to answer.
// 220 M parameters in float32, one thread. Tokens per second of the server's CPU, so that what else runs here counts
// little.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "services/kit/safetensors/header.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/model_directory.hpp"
#include "tests/bench/processes.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr ModelSize size{};
constexpr int clients = 16, tokens = 24, rounds = 3, loaded = 8, large = 24, known = 1000;
const std::string program = "build/release/bin/stackgate-inference";

/// One request on a connection of its own; the whole answer, or nothing when nobody listens.
std::string ask(std::uint16_t port, const std::string& method, const std::string& path, const std::string& body) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  std::string answer;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
    const std::string request = fmt::format(
        "{} {} HTTP/1.1\r\nHost: bench\r\nConnection: close\r\nContent-Type: application/json\r\n"
        "Content-Length: {}\r\n\r\n{}",
        method, path, body.size(), body);
    if (::write(fd, request.data(), request.size()) == static_cast<ssize_t>(request.size())) {
      char part[16384];
      for (ssize_t n = 0; (n = ::read(fd, part, sizeof part)) > 0;) answer.append(part, static_cast<std::size_t>(n));
    }
  }
  ::close(fd);
  return answer;
}

std::string complete(std::uint16_t port, const std::string& model, int max_tokens) {
  return ask(
      port, "POST", "/v1/completions",
      fmt::format(R"({{"model":"{}","prompt":"Sixteen letters.","max_tokens":{},"temperature":0,"ignore_eos":true}})",
                  model, max_tokens));
}

/// A LoRA adapter for all seven modules, or for the queries alone.
void write_adapter(const fs::path& folder, std::uint32_t rank, bool all) {
  fs::create_directories(folder);
  const std::uint32_t kv = size.hidden / size.heads * size.key_value_heads;
  struct Module {
    const char* name;
    std::uint32_t in, out;
  };
  const Module modules[] = {{"self_attn.q_proj", size.hidden, size.hidden},
                            {"self_attn.k_proj", size.hidden, kv},
                            {"self_attn.v_proj", size.hidden, kv},
                            {"self_attn.o_proj", size.hidden, size.hidden},
                            {"mlp.gate_proj", size.hidden, size.intermediate},
                            {"mlp.up_proj", size.hidden, size.intermediate},
                            {"mlp.down_proj", size.intermediate, size.hidden}};
  std::vector<safetensors::Tensor> tensors;
  const std::uint32_t layers = all ? size.layers : 1;
  for (std::uint32_t layer = 0; layer < layers; ++layer)
    for (const Module& each : modules) {
      if (!all && &each != modules) break;
      const std::string name = fmt::format("base_model.model.model.layers.{}.{}", layer, each.name);
      tensors.push_back({.name = name + ".lora_A.weight", .dtype = "F32", .shape = {rank, each.in}});
      tensors.push_back({.name = name + ".lora_B.weight", .dtype = "F32", .shape = {each.out, rank}});
    }
  const auto header = safetensors::write_header(tensors, {{"format", "pt"}});
  std::ofstream out(folder / "adapter_model.safetensors", std::ios::binary);
  out << header.value();
  const std::vector<float> values(std::size_t{rank} * size.intermediate, 0.001F);
  for (const safetensors::Tensor& each : tensors)
    out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(each.end - each.begin));
  out.close();
  // What makes a folder an adapter comes last.
  write_text(
      folder / "adapter_config.json",
      fmt::format(R"({{"peft_type":"LORA","task_type":"CAUSAL_LM","base_model_name_or_path":"base","r":{},)"
                  R"("lora_alpha":{},"target_modules":[{}],"layers_to_transform":{},"bias":"none"}})",
                  rank, rank,
                  all ? R"("q_proj","k_proj","v_proj","o_proj","gate_proj","up_proj","down_proj")" : R"("q_proj")",
                  all ? "null" : "[0]"));
}

class Server {
 public:
  Server(test::TempDir& dir, const std::string& name, const std::string& adapters)
      : port_(free_port()), log_(dir / (name + ".log")) {
    std::vector<std::string> command{program,
                                     "--model",
                                     dir / "base",
                                     "--data-dir",
                                     dir / name,
                                     "--listen",
                                     fmt::format("127.0.0.1:{}", port_),
                                     "--threads",
                                     "1",
                                     "--log-format",
                                     "text"};
    for (const std::string& word : adapters.empty()
                                       ? std::vector<std::string>{}
                                       : std::vector<std::string>{"--peft-source", adapters, "--peft-refresh-interval",
                                                                  "1", "--max-cpu-loras", "8"})
      command.push_back(word);
    process_ = std::make_unique<Process>(command, log_);
    for (int i = 0; i < 6000; ++i) {
      if (ask(port_, "GET", "/v1/health/ready", "").contains(" 200 ")) return;
      if (!process_->is_running()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("the server does not start; " + log_ + " says why");
  }

  /// Tokens per CPU second, when each client asks for the next of `models`.
  double rate(const std::vector<std::string>& models) {
    const double before = process_->cpu_us();
    std::vector<std::jthread> threads;
    std::atomic<int> good = 0;
    for (int i = 0; i < clients; ++i)
      threads.emplace_back([&, i] {
        const std::string answer = complete(port_, models[static_cast<std::size_t>(i) % models.size()], tokens);
        if (answer.contains(fmt::format(R"("completion_tokens":{},)", tokens))) ++good;
      });
    threads.clear();
    if (good != clients) throw std::runtime_error("a request failed; " + log_ + " says why");
    return clients * tokens / ((process_->cpu_us() - before) / 1e6);
  }

  /// Until `name` gives its first token; 5 ms between two looks.
  double seconds_until(const std::string& name, Clock::time_point since) {
    for (int i = 0; i < 12'000; ++i) {
      if (complete(port_, name, 1).contains(" 200 "))
        return std::chrono::duration<double>(Clock::now() - since).count();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    throw std::runtime_error(name + " is never served; " + log_ + " says why");
  }

  double metric(const std::string& name) {
    const std::string all = ask(port_, "GET", "/metrics", "");
    const std::size_t at = all.find("\n" + name);
    if (at == std::string::npos) throw std::runtime_error(name + " is no metric");
    const std::size_t end = all.find('\n', at + 1);
    return std::stod(all.substr(all.rfind(' ', end) + 1, end));
  }
  double first_token(const std::string& name) {
    const auto begun = Clock::now();
    if (!complete(port_, name, 1).contains(" 200 ")) throw std::runtime_error(name + " does not answer");
    return std::chrono::duration<double>(Clock::now() - begun).count();
  }

 private:
  std::uint16_t port_;
  std::string log_;
  std::unique_ptr<Process> process_;
};

std::string name_of(int i) { return fmt::format("adapter-{:04}", i); }

void run() {
  if (::access(program.c_str(), X_OK) != 0) throw std::runtime_error(program + " is missing: build it first");
  test::TempDir dir;
  write_model(dir / "base", size);
  const fs::path source = dir / "source";
  for (int i = 0; i < loaded; ++i) write_adapter(source / name_of(i), 16, true);
  double one = 0, mixed = 0, base = 0, alone = 0;
  {
    Server with(dir, "with", source), without(dir, "without", "");
    std::vector<std::string> eight;
    for (int i = 0; i < loaded; ++i) {
      eight.push_back(name_of(i));
      with.seconds_until(eight.back(), Clock::now());
    }
    for (int round = 0; round < rounds; ++round) {
      one = std::max(one, with.rate({eight.front()}));
      mixed = std::max(mixed, with.rate(eight));
      base = std::max(base, with.rate({"base"}));
      alone = std::max(alone, without.rate({"base"}));
    }
    print({.name = "inference_adapters_mixed",
           .value = mixed / one,
           .unit = "× one",
           .limit = 0.9,
           .at_least = true,
           .beside = one,
           .text = fmt::format("{:.0f} tokens/s of 8 adapters, {:.0f} of one", mixed, one)});
    print({.name = "inference_base_beside_adapters",
           .value = base / alone,
           .unit = "× without",
           .limit = 0.98,
           .at_least = true,
           .beside = alone,
           .text = fmt::format("{:.0f} tokens/s, {:.0f} without adapters", base, alone)});
    double slowest = 0;
    for (int i = 0; i < 3; ++i) {
      write_adapter(dir / "new", 16, true);
      const auto begun = Clock::now();
      fs::rename(dir / "new", source / fmt::format("new-{}", i));
      slowest = std::max(slowest, with.seconds_until(fmt::format("new-{}", i), begun));
    }
    print({.name = "inference_new_adapter",
           .value = slowest,
           .unit = "s",
           .limit = 2.5,
           .at_least = false,
           .beside = 0,
           .text = "from its folder to its first token, looked for every second; the slowest of 3"});
  }
  for (int i = loaded; i < known; ++i) write_adapter(source / name_of(i), i < large ? 8 : 1, i < large);
  Server many(dir, "many", source);
  many.seconds_until(name_of(known - 1), Clock::now());
  for (int i = 0; i < large; ++i) many.seconds_until(name_of(i), Clock::now());
  const double seconds = many.metric("stackgate_inference_adapter_load_seconds_sum"),
               count = many.metric("stackgate_inference_adapter_load_seconds_count");
  const double before = many.first_token("base");
  double slowest = 0;
  for (int round = 0; round < 2; ++round)
    for (int i = loaded; i < large; ++i) slowest = std::max(slowest, many.first_token(name_of(i)) - before);
  const double each = (many.metric("stackgate_inference_adapter_load_seconds_sum") - seconds) /
                      (many.metric("stackgate_inference_adapter_load_seconds_count") - count);
  print({.name = "inference_adapter_switch",
         .value = each * 1e3,
         .unit = "ms",
         .limit = 20,
         .at_least = false,
         .beside = 0,
         .text = fmt::format("{} known, 8 in memory, 7 MB each; the slowest first token {:.0f} ms behind the base's",
                             known, slowest * 1e3)});
}

}  // namespace
}  // namespace stackgate::bench

int main() {
  try {
    stackgate::bench::run();
  } catch (const std::exception& error) {
    fmt::print(stderr, "inference_server_bench: {}\n", error.what());
    return 1;
  }
  return stackgate::bench::exit_status;
}
