// The puller beside curl: the same files from the same nginx in the same run, in turn, four at once. Ours hashes all
// bytes and syncs them to the disk besides. Where the link is what is slow it must keep up with curl all the same;
// where nothing is, it is held against curl and then openssl dgst, which is what people do by hand.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <sys/resource.h>

#include "services/kit/crypto/digest.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/processes.hpp"
#include "tests/support/nginx.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr int rounds = 5, files = 8;
constexpr std::size_t file_bytes = 96U << 20U;
constexpr double all_bytes = static_cast<double>(files) * static_cast<double>(file_bytes);
constexpr const char* link_rate = "75m";  // a connection's; four are a link of 2.4 Gbit/s

std::string name_of(int file) { return fmt::format("model-{:05}-of-{:05}.safetensors", file + 1, files); }

void make_model(const fs::path& folder) {
  fs::create_directories(folder);
  std::mt19937_64 random(7);
  std::ofstream list(folder / "SHA256SUMS");
  std::string piece(1U << 20U, '\0');
  for (int i = 0; i < files; ++i) {
    crypto::Sha256Stream hash;
    std::ofstream out(folder / name_of(i), std::ios::binary);
    for (std::size_t at = 0; at < file_bytes; at += piece.size()) {
      for (std::size_t j = 0; j < piece.size(); j += sizeof(std::uint64_t)) {
        const std::uint64_t bits = random();
        std::copy_n(reinterpret_cast<const char*>(&bits), sizeof bits, piece.begin() + static_cast<std::ptrdiff_t>(j));
      }
      hash.add(piece);
      out << piece;
    }
    list << crypto::to_hex(hash.finish()) << "  " << name_of(i) << "\n";
  }
}

struct Run {
  double seconds = 1e9, cpu = 1e9, mib = 0;
};

/// To its end.
Run run(const std::vector<std::string>& command, const std::string& log) {
  std::vector<char*> arguments;
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const auto begun = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(out, 1);
    ::dup2(out, 2);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  if (child < 0 || ::wait4(child, &status, 0, &used) != child || status != 0)
    throw std::runtime_error(command.front() + " failed; " + log + " says why");
  const auto of = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return {.seconds = std::chrono::duration<double>(Clock::now() - begun).count(),
          .cpu = of(used.ru_utime) + of(used.ru_stime),
          .mib = static_cast<double>(used.ru_maxrss) / 1024};
}

void keep_best(Run& best, const Run& one) {
  best = {std::min(best.seconds, one.seconds), std::min(best.cpu, one.cpu), std::max(best.mib, one.mib)};
}

class Bench {
 public:
  Bench() {
    if (::access(puller_.c_str(), X_OK) != 0) throw std::runtime_error(puller_ + " is missing: build it first");
    fs::permissions(dir_ / "", fs::perms::all);
    make_model(dir_ / "web/all");
    fs::create_symlink("all", dir_ / "web/link");
    const std::string port = std::to_string(free_port());
    url_ = "http://127.0.0.1:" + port;
    dir_.write("conf",
               fmt::format("daemon off; master_process off; pid {0}pid; error_log {0}err;\nevents {{}}\nhttp {{ "
                           "access_log off; sendfile on; root {0}web;\nclient_body_temp_path {0}t1; "
                           "proxy_temp_path {0}t2; fastcgi_temp_path {0}t3;\nuwsgi_temp_path {0}t4; "
                           "scgi_temp_path {0}t5;\nserver {{ listen 127.0.0.1:{1}; location /link/ {{ "
                           "limit_rate {2}; }} }} }}\n",
                           dir_ / "", port, link_rate));
    server_ = std::make_unique<Process>(
        std::vector<std::string>{test::nginx(), "-e", dir_ / "err", "-c", dir_ / "conf"}, dir_ / "nginx.log");
    for (int i = 0; i < 500; ++i) {
      if (std::system(("curl -sf --noproxy '*' -o /dev/null " + url_ + "/all/SHA256SUMS").c_str()) == 0) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    throw std::runtime_error("nginx does not start");
  }

  /// What it brings, and the same with the files' sums made.
  std::pair<Run, Run> curl(const std::string& folder) {
    std::string list;
    fs::create_directories(dir_ / "curl");
    for (int i = 0; i < files; ++i)
      list += fmt::format("-o {} {}/{}/{}\n", dir_ / ("curl/" + name_of(i)), url_, folder, name_of(i));
    dir_.write("list", list);
    // curl --parallel waits now and then before it begins with the next file; this does not.
    const std::vector<std::string> command{"xargs", "-a",   dir_ / "list", "-P",     "4",         "-n",
                                           "3",     "curl", "-sS",         "--fail", "--noproxy", "*"};
    const Run alone = bench::run(command, dir_ / "curl.log");
    std::vector<std::string> summing{"openssl", "dgst", "-sha256"};  // twice and more as fast as sha256sum
    for (int i = 0; i < files; ++i) summing.push_back(dir_ / ("curl/" + name_of(i)));
    const Run sums = bench::run(summing, dir_ / "sums.log");
    fs::remove_all(dir_ / "curl");
    return {alone, {.seconds = alone.seconds + sums.seconds, .cpu = alone.cpu + sums.cpu}};
  }
  Run ours(const std::string& folder) {
    const Run out =
        bench::run({puller_, "--directory-url", url_ + "/" + folder, "--output", dir_ / "ours"}, dir_ / "ours.log");
    fs::remove_all(dir_ / "ours");
    return out;
  }

 private:
  test::TempDir dir_;
  const std::string puller_ = fs::read_symlink("/proc/self/exe").parent_path() / "stackgate-puller";
  std::string url_;
  std::unique_ptr<Process> server_;
};

void run() {
  ::setenv("no_proxy", "127.0.0.1", 1);
  Bench bench;
  fmt::print(stderr, "{} files of {} MiB from nginx, by the puller and by curl, four at once (best of {} rounds)\n",
             files, file_bytes >> 20U, rounds);
  double memory = 0;
  const auto compare = [&](const char* figure, const char* folder, bool checked, const char* what) {
    Run alone, with_sums, ours;
    for (int round = 0; round < rounds; ++round) {
      const auto [curl, both] = bench.curl(folder);
      keep_best(alone, curl);
      keep_best(with_sums, both);
      keep_best(ours, bench.ours(folder));
    }
    memory = std::max(memory, ours.mib);
    const auto rate = [](const Run& run) { return all_bytes / run.seconds / 1e6; };
    const auto cpu = [](const Run& run) { return run.cpu / all_bytes * 1e9; };
    print({.name = figure,
           .value = (checked ? with_sums : alone).seconds / ours.seconds,
           .unit = checked ? "x curl + sum" : "x curl",
           .limit = 0.9,
           .at_least = true,
           .beside = rate(checked ? with_sums : alone),
           .text = fmt::format("{}: {:.0f} MB/s, curl {:.0f}, with sums {:.0f}; CPU {:.2f}, {:.2f} and {:.2f} s/GB",
                               what, rate(ours), rate(alone), rate(with_sums), cpu(ours), cpu(alone), cpu(with_sums))});
  };
  compare("puller_rate", "link", false, "a link of 2.4 Gbit/s");
  // Here all compete for the cores, and hashing is half of the work.
  compare("puller_rate_of_loopback", "all", true, "as fast as nginx sends");
  print({.name = "puller_memory", .value = memory, .unit = "MiB", .limit = 48, .text = "highest of all rounds"});
}

}  // namespace
}  // namespace stackgate::bench

int main() {
  try {
    stackgate::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return stackgate::bench::exit_status;
}
