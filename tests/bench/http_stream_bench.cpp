// A gigabyte down and up through kit/http beside nginx: same client, same files in memory, alternating rounds. nginx
// sends by sendfile and receives into a file (DAV); so do we. CPU from the scheduler's account of each process.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "services/kit/http/server.hpp"
#include "services/kit/run/pool.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/free_port.hpp"
#include "tests/bench/processes.hpp"
#include "tests/support/nginx.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int rounds = 5;
constexpr std::uint64_t size = 1'000'000'000;

// ---- our server, in a process of its own

void serve_one(const http::Request& request, http::Responder respond, const std::string& folder) {
  if (request.method == "GET") {
    const int file = ::open((folder + "/big").c_str(), O_RDONLY | O_CLOEXEC);
    const auto body = respond.start({.content_type = "application/octet-stream"}, size);
    if (body->send_file(file, 0, size)) (void)body->finish();
    ::close(file);
    return;
  }
  const int file = ::open((folder + "/received").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  const auto space = std::make_unique_for_overwrite<char[]>(256 * 1024);
  std::uint64_t all = 0;
  for (;;) {
    const auto n = request.stream->read({space.get(), 256 * 1024});
    if (!n || *n == 0) break;
    for (std::size_t at = 0; at < *n;) {
      const ssize_t wrote = ::write(file, space.get() + at, *n - at);
      if (wrote <= 0) break;
      at += static_cast<std::size_t>(wrote);
    }
    all += *n;
  }
  ::close(file);
  respond(http::text_answer(all == size ? 200 : 500, ""));
}

int serve(const std::string& port, const std::string& folder) {
  run::Pool pool(2, 16);  // whose threads stay: their CPU is counted
  http::ServerConfig config;
  config.listen = "127.0.0.1:" + port;
  config.body_policy = [](const http::Request&) { return http::BodyPlan{.stream = true, .body_bytes = 0}; };
  const auto server = http::Server::start(config, [&](const http::Request& request, http::Responder respond) {
    (void)pool.submit([&request, &folder, respond = std::move(respond)]() mutable {
      serve_one(request, std::move(respond), folder);
    });
  });
  if (!server) return 1;
  for (;;) ::pause();
}

// ---- the client

class Socket {
 public:
  explicit Socket(std::uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    good_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~Socket() { ::close(fd_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  bool good() const { return good_; }
  int fd() const { return fd_; }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("the server closed the connection");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

 private:
  int fd_;
  bool good_ = false;
};

void expect_ok(std::string_view answer) {
  if (!answer.starts_with("HTTP/1.1 20")) throw std::runtime_error(std::string(answer.substr(0, 200)));
}

void download(std::uint16_t port) {
  Socket socket(port);
  socket.send("GET /big HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const auto space = std::make_unique_for_overwrite<char[]>(256 * 1024);
  std::uint64_t all = 0;
  for (bool first = true;; first = false) {
    const ssize_t n = ::recv(socket.fd(), space.get(), 256 * 1024, 0);
    if (n <= 0) break;
    if (first) expect_ok({space.get(), static_cast<std::size_t>(n)});
    all += static_cast<std::uint64_t>(n);
  }
  if (all < size) throw std::runtime_error("the file did not arrive");
}

void upload(std::uint16_t port) {
  Socket socket(port);
  socket.send(fmt::format("PUT /up HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", size));
  const std::string part(1'000'000, 'u');
  for (std::uint64_t sent = 0; sent < size; sent += part.size()) socket.send(part);
  char answer[4096];
  const ssize_t n = ::recv(socket.fd(), answer, sizeof answer, 0);
  expect_ok({answer, static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
}

// ---- both, in turn

struct Peer {
  std::unique_ptr<Process> process;
  std::uint16_t port = 0;
  std::vector<double> rate, cpu;
  double best_rate() const { return *std::ranges::max_element(rate); }
  double best_cpu() const { return *std::ranges::min_element(cpu); }
};

void await(const Peer& peer, const std::string& name) {
  for (int i = 0; i < 5000; ++i) {
    if (Socket(peer.port).good()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  throw std::runtime_error(name + " did not start");
}

void measure(const std::string& name, Peer& ours, Peer& nginx, const std::function<void(std::uint16_t)>& work) {
  for (Peer* peer : {&ours, &nginx}) peer->rate.clear(), peer->cpu.clear();
  for (int round = 0; round < rounds; ++round) {
    for (Peer* peer : {&ours, &nginx}) {
      const double before = peer->process->cpu_us();
      const auto begun = Clock::now();
      work(peer->port);
      const std::chrono::duration<double> took = Clock::now() - begun;
      peer->rate.push_back(static_cast<double>(size) / 1e6 / took.count());
      peer->cpu.push_back((peer->process->cpu_us() - before) / 1000);
    }
  }
  print({.name = "http_" + name + "_rate",
         .value = ours.best_rate() / nginx.best_rate(),
         .unit = "x nginx",
         .limit = 0.8,
         .at_least = true,
         .beside = nginx.best_rate(),
         .text = fmt::format("{:.0f} MB/s, nginx {:.0f} MB/s; CPU {:.0f} ms/GB, nginx {:.0f}", ours.best_rate(),
                             nginx.best_rate(), ours.best_cpu(), nginx.best_cpu())});
}

void run() {
  const std::string memory = "/dev/shm";
  if (std::filesystem::is_directory(memory)) ::setenv("TMPDIR", memory.c_str(), 0);
  test::TempDir dir;
  const std::string folder = dir / "";
  {
    std::FILE* big = std::fopen((folder + "/big").c_str(), "w");
    const std::string part(1'000'000, 'd');
    for (std::uint64_t written = 0; written < size; written += part.size())
      std::fwrite(part.data(), 1, part.size(), big);
    std::fclose(big);
  }
  std::filesystem::permissions(folder, std::filesystem::perms::all);
  Peer ours{nullptr, free_port(), {}, {}};
  ours.process = std::make_unique<Process>(
      std::vector<std::string>{"/proc/self/exe", "serve", std::to_string(ours.port), folder}, dir / "ours.log");
  await(ours, "our server");
  Peer nginx{nullptr, free_port(), {}, {}};
  dir.write(
      "nginx.conf",
      fmt::format("daemon off; master_process off; worker_processes 1; pid {0}/pid; error_log {0}/nginx.log;\n"
                  "events {{ worker_connections 64; }}\n"
                  "http {{ access_log off; sendfile on; client_max_body_size 0; client_body_temp_path {0}/t1;\n"
                  " proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;\n"
                  " server {{ listen 127.0.0.1:{1}; root {0}; location /up {{ dav_methods PUT; }} }} }}\n",
                  folder, nginx.port));
  nginx.process =
      std::make_unique<Process>(std::vector<std::string>{test::nginx(), "-c", dir / "nginx.conf"}, dir / "nginx.out");
  await(nginx, "nginx");
  fmt::print(stderr, "1 GB through kit/http beside nginx (best of {} rounds each)\n", rounds);
  measure("download", ours, nginx, download);
  measure("upload", ours, nginx, upload);
  const double resident = ours.process->memory_mib("VmHWM");
  print(
      {.name = "http_stream_memory", .value = resident, .unit = "MiB", .limit = 32, .text = "highest, of our server"});
}

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "serve") return stackgate::bench::serve(argv[2], argv[3]);
  try {
    stackgate::bench::run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
  }
  return stackgate::bench::exit_status;
}
