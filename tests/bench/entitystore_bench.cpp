// The entitystore with a real datastore behind it: a thousand pollers over ten thousand adapters, a large adapter from
// the first byte to ready, and what the process holds while it idles. ENTITYSTORE names another binary. With the
// argument "register" or "poll": that alone.
#include <fstream>

#include <sys/epoll.h>

#include "services/entitystore/adapters/rows.hpp"
#include "services/kit/crypto/digest.hpp"
#include "tests/bench/datastore_server.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::bench {
namespace {

constexpr int pollers = 1000, rounds = 5;
constexpr long polls = 40'000;
constexpr int adapters = 10'000;

class Bench {
 public:
  explicit Bench(const std::string& own_path) : store_(own_path), port_(free_port()) {
    const char* named = std::getenv("ENTITYSTORE");
    const std::string binary = named != nullptr && *named != '\0'
                                   ? named
                                   : (std::filesystem::path(own_path).parent_path() / "stackgate-entitystore").string();
    ::setenv("DATASTORE_USERNAME", "ada", 1);
    ::setenv("DATASTORE_PASSWORD", "correct-horse", 1);
    process_ = std::make_unique<Process>(
        std::vector<std::string>{binary, "serve", "--data-dir", dir_ / "data", "--listen",
                                 fmt::format("127.0.0.1:{}", port_), "--datastore-url",
                                 fmt::format("http://127.0.0.1:{}", store_.port()), "--threads", "1"},
        dir_ / "log");
    await(*process_, port_, dir_ / "log");
  }

  void run(std::string_view only) {
    fmt::print(stderr, "the entitystore\n");
    std::this_thread::sleep_for(std::chrono::seconds(2));
    print({.name = "entitystore_idle_memory",
           .value = process_->memory_mib("VmRSS"),
           .unit = "MiB",
           .limit = 25,
           .text = "resident, two seconds after the start"});
    if (only.empty() || only == "register") registration("entitystore_register_100mb", 0, 1.3);
    if (!only.empty() && only != "poll") return;
    fill();
    poll();
  }

 private:
  // --- an adapter of 100 MB
  static std::string form(std::string_view archive, const std::string& version) {
    std::string out = fmt::format(
        "--border\r\nContent-Disposition: form-data; name=\"metadata\"\r\n\r\n"
        R"({{"name":"bench","version":"{}","base_model":"meta/llama-3.1-8b-instruct"}})"
        "\r\n--border\r\nContent-Disposition: form-data; name=\"adapter\"; filename=\"a.tar.gz\"\r\n\r\n",
        version);
    out += archive;
    return out + "\r\n--border--\r\n";
  }

  void registration(const char* name, int level, double limit) {
    std::vector<double> own, peer, ratio, cpu, peer_cpu;
    for (int round = 0; round <= rounds; ++round) {
      const std::string file = dir_ / "adapter.tar.gz";
      // Other bytes in each round: what the datastore has it would not take again.
      must_run(fmt::format("python3 {}/tests/e2e/storage/make_adapter.py {} --megabytes 100 --level {} --seed {}",
                           test::source_dir().string(), file, level, round));
      std::ifstream in(file, std::ios::binary);
      const std::string archive((std::istreambuf_iterator<char>(in)), {});
      const std::string body = form(archive, fmt::format("{}.{}.0", level, round));
      const double cpu_before = process_->cpu_us() + store_.process().cpu_us();
      const double took = seconds_of([&] {
        Http http(port_);
        expect(201, http.call("POST", "/v1/adapters", "Content-Type: multipart/form-data; boundary=border\r\n", body));
      });
      cpu.push_back((process_->cpu_us() + store_.process().cpu_us() - cpu_before) / 1e6);
      const double peer_before = cpu_seconds();
      const double base = seconds_of([&] {
        write_and_hash(archive, fmt::format("{}-one", round));
        write_and_hash(archive, fmt::format("{}-two", round));
      });
      peer_cpu.push_back(cpu_seconds() - peer_before);
      if (round == 0) continue;
      own.push_back(took), peer.push_back(base), ratio.push_back(took / base);
    }
    print({.name = name,
           .value = median(ratio),
           .unit = "times",
           .limit = limit,
           .beside = median(peer),
           .text = fmt::format("{:.2f} s from first byte to ready; writing, syncing and hashing the archive twice: "
                               "{:.2f} s; CPU {:.2f} s "
                               "beside {:.2f} s",
                               median(own), median(peer), median(cpu), median(peer_cpu))});
  }

  /// The file stays, as what is registered does: pages just freed are cheaper to write than others.
  void write_and_hash(std::string_view bytes, const std::string& name) {
    const std::string path = dir_ / name;
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    crypto::Sha256Stream hash;
    for (std::string_view left = bytes; !left.empty();) {
      const std::string_view piece = left.substr(0, 64 * 1024);
      if (::write(fd, piece.data(), piece.size()) != static_cast<ssize_t>(piece.size()))
        throw std::runtime_error("cannot write");
      hash.add(piece);
      left.remove_prefix(piece.size());
    }
    ::fsync(fd);
    ::close(fd);
    (void)hash.finish();
  }

  // --- pollers
  void fill() {
    using namespace entitystore;
    auto database = sql::Database::open("sqlite:" + dir_ / "data/entitystore.db", "");
    if (!database) throw std::runtime_error(database.error());
    Record seed;
    seed.id = "adapter-0";
    seed.name = "bot";
    seed.version = "1.0.0";
    seed.base_model = "meta/llama-3.1-8b-instruct";
    seed.created_at = seed.updated_at = timestamp();
    seed.lora = {.rank = 8, .alpha = 16, .dropout = 0.05, .target_modules = {"q_proj", "v_proj"}};
    seed.repository = "adapters/default--bot";
    seed.archive_sha256 = std::string(64, '0');
    if (!insert_adapter(**database, seed, {}, {"bench", 3600})) throw std::runtime_error("cannot insert");
    const auto done = (*database)->transact([&](sql::Session& session) -> sql::Expected<void> {
      for (const std::string& statement :
           {std::string("UPDATE change_counter SET value = value + 1"),
            fmt::format("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) INSERT INTO "
                        "adapter (id, namespace, name, version, base_model, status, created_at, updated_at, "
                        "changed, lora, repository, archive_sha256, archive_bytes) SELECT 'adapter-' || i, "
                        "a.namespace, 'bot-' || i, a.version, a.base_model, 'ready', a.created_at, a.updated_at, "
                        "(SELECT value FROM change_counter), a.lora, a.repository || '-' || i, a.archive_sha256, "
                        "a.archive_bytes FROM adapter a, n WHERE a.id = 'adapter-0'",
                        adapters)})
        if (const auto ran = session.run(statement); !ran) return std::unexpected(ran.error());
      return {};
    });
    if (!done) throw std::runtime_error(done.error().message);
    for (int i = 0; i < 200; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const auto answer = expect(200, Http(port_).call("GET", "/v1/adapters?status=ready", "", ""));
      if (answer.body.contains(fmt::format("adapter-{}\"", adapters))) return;
    }
    throw std::runtime_error("the entitystore does not see what another process wrote");
  }

  struct Poller {
    explicit Poller(std::uint16_t port) : http(port) {}
    Http http;
  };

  void poll() {
    const auto first = expect(200, Http(port_).call("GET", "/v1/adapters?status=ready", "", ""));
    const auto at = first.head.find("ETag: ") + 6;
    const std::string etag = first.head.substr(at, first.head.find("\r\n", at) - at);
    const std::string request =
        fmt::format("GET /v1/adapters?status=ready HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: {}\r\n\r\n", etag);
    std::vector<std::unique_ptr<Http>> all;
    const int ready = ::epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < pollers; ++i) {
      all.push_back(std::make_unique<Http>(port_));
      if (!all.back()->good()) throw std::runtime_error("cannot connect");
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = all.back().get();
      ::epoll_ctl(ready, EPOLL_CTL_ADD, all.back()->descriptor(), &event);
    }
    std::vector<double> rates, walls;
    for (int round = 0; round <= rounds; ++round) {
      const double before = process_->cpu_us();
      const double wall = seconds_of([&] { keep_all_busy(all, ready, request); });
      const double cpu = (process_->cpu_us() - before) / 1e6;
      if (round == 0) continue;
      rates.push_back(static_cast<double>(polls) / cpu);
      walls.push_back(static_cast<double>(polls) / wall);
    }
    ::close(ready);
    print(
        {.name = "entitystore_poll_304",
         .value = median(rates),
         .unit = "requests/s",
         .limit = 10'000,
         .at_least = true,
         .beside = median(walls),
         .text = fmt::format("of one core, {} pollers over {} adapters; {:.0f}/s by the clock, the client on the same "
                             "machine; {:.1f} MiB resident",
                             pollers, adapters, median(walls), process_->memory_mib("VmRSS"))});
  }

  static void keep_all_busy(const std::vector<std::unique_ptr<Http>>& all, int ready, const std::string& request) {
    long sent = 0, received = 0;
    for (const auto& http : all) http->send(request), ++sent;
    epoll_event events[64];
    while (received < polls) {
      const int count = ::epoll_wait(ready, events, 64, -1);
      for (int i = 0; i < count; ++i) {
        auto& http = *static_cast<Http*>(events[i].data.ptr);
        if (http.receive().status != 304) throw std::runtime_error("a poller was not told 304");
        ++received;
        if (sent < polls) http.send(request), ++sent;
      }
    }
  }

  Datastore store_;
  test::TempDir dir_;
  std::uint16_t port_;
  std::unique_ptr<Process> process_;
};

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  try {
    stackgate::bench::Bench(argv[0]).run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& error) {
    fmt::print(stderr, "entitystore_bench: {}\n", error.what());
    return 1;
  }
  return stackgate::bench::exit_status;
}
