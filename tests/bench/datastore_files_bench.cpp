// Large files beside nginx: the same client, files on the same disk, rounds in turn. And what a batch costs, what the
// process holds while it idles and while five gigabytes pass. NGINX names another nginx. With an argument: the
// transfers in memory alone.
#include "services/kit/crypto/digest.hpp"
#include "tests/bench/datastore_server.hpp"
#include "tests/support/nginx.hpp"

namespace stackgate::bench {
namespace {

constexpr std::uint64_t megabyte = 1'000'000;
constexpr std::uint64_t huge_megabytes = 5'000;
constexpr int rounds = 5;

/// Megabytes that differ from each other and from round to round, made while they are sent.
class Content {
 public:
  explicit Content(int seed) : block_(megabyte, '\0'), seed_(seed) {
    unsigned state = static_cast<unsigned>(seed) + 1;
    for (char& c : block_) c = static_cast<char>((state = state * 1664525U + 1013904223U) >> 24U);
  }
  std::string_view megabyte_at(std::uint64_t index) {
    const std::string mark = fmt::format("{:08}:{:08};", seed_, index);
    block_.replace(0, mark.size(), mark);
    return block_;
  }
  std::string oid(std::uint64_t megabytes) {
    crypto::Sha256Stream hash;
    for (std::uint64_t i = 0; i < megabytes; ++i) hash.add(megabyte_at(i));
    return crypto::to_hex(hash.finish());
  }

 private:
  std::string block_;
  int seed_;
};

/// What one action of a batch's answer says.
struct Action {
  std::string path, authorization;
};

class Bench {
 public:
  explicit Bench(const std::string& own_path) : store_(own_path) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    idle_ = store_.process().memory_mib("VmRSS");
    store_.make_repository("files");
    start_nginx();
  }

  void run() {
    fmt::print(stderr, "large files beside nginx (rounds in turn, medians of their ratios)\n");
    print({.name = "datastore_idle_memory",
           .value = idle_,
           .unit = "MiB",
           .limit = 25,
           .text = "resident, two seconds after the start"});
    batches();
    transfers("", 400);
    huge_file();
  }
  /// Where no disk is waited for.
  void run_in_memory() { transfers("_in_memory", 200); }

 private:
  static std::string batch_body(std::string_view operation,
                                const std::vector<std::pair<std::string, std::uint64_t>>& objects) {
    std::string out = fmt::format(R"({{"operation":"{}","transfers":["basic"],"objects":[)", operation);
    for (const auto& [oid, size] : objects) out += fmt::format(R"({{"oid":"{}","size":{}}},)", oid, size);
    out.back() = ']';
    return out + "}";
  }
  static std::string member(std::string_view text, std::string_view name) {
    const auto key = fmt::format("\"{}\":\"", name);
    const auto at = text.find(key);
    if (at == std::string_view::npos) throw std::runtime_error(fmt::format("no {} in {}", name, text));
    return std::string(text.substr(at + key.size(), text.find('"', at + key.size()) - at - key.size()));
  }
  Http::Answer batch(Http& http, const std::string& body) const {
    return expect(200, http.call("POST", "/ada/files.git/info/lfs/objects/batch",
                                 Datastore::signed_in("application/vnd.git-lfs+json"), body));
  }
  Action action(std::string_view operation, const std::string& oid, std::uint64_t size) const {
    Http http(store_.port());
    const auto answer = batch(http, batch_body(operation, {{oid, size}}));
    const std::string href = member(answer.body, "href");
    return {href.substr(href.find('/', 8)), member(answer.body, "Authorization")};
  }
  static void put(std::uint16_t port, const std::string& path, const std::string& authorization, Content& content,
                  std::uint64_t megabytes) {
    Http http(port);
    http.send(fmt::format(
        "PUT {} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n{}Content-Length: {}\r\n\r\n",
        path, authorization.empty() ? "" : fmt::format("Authorization: {}\r\n", authorization), megabytes * megabyte));
    for (std::uint64_t i = 0; i < megabytes; ++i) http.send(content.megabyte_at(i));
    const auto answer = http.receive();
    if (answer.status / 100 != 2) throw std::runtime_error("an upload was refused: " + answer.head + answer.body);
  }
  static void get(std::uint16_t port, const std::string& path, const std::string& authorization,
                  std::uint64_t megabytes) {
    Http http(port);
    http.send(fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n{}\r\n", path,
                          authorization.empty() ? "" : fmt::format("Authorization: {}\r\n", authorization)));
    if (http.receive_and_drop() != megabytes * megabyte) throw std::runtime_error("a file was cut");
  }

  void batches() {
    std::vector<std::pair<std::string, std::uint64_t>> here, new_ones;
    for (int i = 0; i < 100; ++i) {
      const std::string text = fmt::format("small object {}", i);
      const std::string oid = crypto::to_hex(crypto::sha256(text));
      const Action to = action("upload", oid, text.size());
      Http http(store_.port());
      expect(200, http.call("PUT", to.path, fmt::format("Authorization: {}\r\n", to.authorization), text));
      here.emplace_back(oid, text.size());
      new_ones.emplace_back(crypto::to_hex(crypto::sha256(text + " that nobody has")), 1000);
    }
    Http http(store_.port());
    const auto figure = [&](const char* name, const std::string& body, std::string_view what) {
      std::vector<double> all;
      for (int i = 0; i < 220; ++i) {
        const double took = seconds_of([&] {
          if (!batch(http, body).body.contains("\"actions\"")) throw std::runtime_error("a batch offers nothing");
        });
        if (i >= 20) all.push_back(took * 1000);
      }
      print({.name = name,
             .value = median(all),
             .unit = "ms",
             .limit = 5,
             .beside = *std::ranges::min_element(all),
             .text = fmt::format("{}; best {:.2f} ms; SQLite", what, *std::ranges::min_element(all))});
    };
    figure("datastore_batch_100_downloads", batch_body("download", here), "all there");
    figure("datastore_batch_100_uploads", batch_body("upload", new_ones), "all new");
  }

  /// The datastore acknowledges a file once it is on disk; nginx does not wait for that, so we do it in its place.
  static void make_durable(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::fsync(file) != 0) throw std::runtime_error("cannot sync " + path);
    ::close(file);
  }

  void transfers(const std::string& where, std::uint64_t megabytes) {
    const auto rate = [&](double seconds) { return static_cast<double>(megabytes) / seconds; };
    std::string last, peer_file;
    const auto in_turn = [&](int count, const std::function<double(int)>& own, const std::function<double(int)>& peer) {
      const double own_before = store_.process().cpu_us(), peer_before = nginx_->cpu_us();
      Rounds out = alternate(count, own, peer);
      const double bytes = static_cast<double>(megabytes) * (count + 1);
      return std::pair(std::move(out), fmt::format("; CPU per MB {:.0f} µs beside {:.0f} µs",
                                                   (store_.process().cpu_us() - own_before) / bytes,
                                                   (nginx_->cpu_us() - peer_before) / bytes));
    };
    const auto up = in_turn(
        rounds,
        [&](int round) {
          Content content(round);
          last = content.oid(megabytes);
          const Action to = action("upload", last, megabytes * megabyte);
          return rate(seconds_of([&] { put(store_.port(), to.path, to.authorization, content, megabytes); }));
        },
        [&](int round) {
          // A file of its own, as the datastore keeps one for each: pages just freed are cheaper to write than others.
          Content content(round);
          peer_file = fmt::format("/up/file-{}", round);
          return rate(seconds_of([&] {
            put(nginx_port_, peer_file, "", content, megabytes);
            make_durable(dir_ / peer_file.substr(1));
          }));
        });
    figure("datastore_lfs_upload" + where, up);
    const Action from = action("download", last, megabytes * megabyte);
    figure("datastore_lfs_download" + where,
           in_turn(
               rounds * 2 + 1,
               [&](int) {
                 return rate(seconds_of([&] { get(store_.port(), from.path, from.authorization, megabytes); }));
               },
               [&](int) { return rate(seconds_of([&] { get(nginx_port_, peer_file, "", megabytes); })); }));
  }
  static void figure(const std::string& name, const std::pair<Rounds, std::string>& measured) {
    const Rounds& both = measured.first;
    print({.name = name,
           .value = median(both.ratio),
           .unit = "x nginx",
           .limit = 0.8,
           .at_least = true,
           .beside = median(both.peer),
           .text =
               fmt::format("{:.0f} MB/s beside {:.0f} MB/s{}", median(both.own), median(both.peer), measured.second)});
  }

  void huge_file() {
    Content content(1'000);
    const std::string oid = content.oid(huge_megabytes);
    const Action to = action("upload", oid, huge_megabytes * megabyte);
    put(store_.port(), to.path, to.authorization, content, huge_megabytes);
    const Action from = action("download", oid, huge_megabytes * megabyte);
    get(store_.port(), from.path, from.authorization, huge_megabytes);
    print({.name = "datastore_memory_5_gb",
           .value = store_.process().memory_mib("VmHWM"),
           .unit = "MiB",
           .limit = 48,
           .text = "highest, after 5 GB up and down and all that was before"});
  }

  void start_nginx() {
    nginx_port_ = free_port();
    // As root it would work as nobody, who may not enter the folder.
    std::filesystem::permissions(dir_ / ".", std::filesystem::perms::all);
    dir_.write("nginx.conf",
               fmt::format(
                   "daemon off; master_process off; worker_processes 1; pid {0}/pid; error_log {0}/nginx.log;\n"
                   "events {{ worker_connections 64; }}\n"
                   "http {{ access_log off; sendfile on; client_max_body_size 0; client_body_temp_path {0}/t1;\n"
                   " proxy_temp_path {0}/t2; fastcgi_temp_path {0}/t3; uwsgi_temp_path {0}/t4; scgi_temp_path {0}/t5;\n"
                   " server {{ listen 127.0.0.1:{1}; root {0}; location /up {{ dav_methods PUT; create_full_put_path "
                   "on; }} }} }}\n",
                   dir_ / ".", nginx_port_));
    nginx_ = std::make_unique<Process>(std::vector<std::string>{test::nginx(), "-c", dir_ / "nginx.conf"},
                                       dir_ / "nginx.out");
    await(*nginx_, nginx_port_, dir_ / "nginx.log");
  }

  Datastore store_;
  double idle_ = 0;
  test::TempDir dir_;
  std::uint16_t nginx_port_ = 0;
  std::unique_ptr<Process> nginx_;
};

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  try {
    if (argc < 2) stackgate::bench::Bench(argv[0]).run();
    if (std::filesystem::is_directory("/dev/shm") && std::filesystem::space("/dev/shm").available > (4ULL << 30U)) {
      ::setenv("TMPDIR", "/dev/shm", 1);
      stackgate::bench::Bench(argv[0]).run_in_memory();
    }
    return stackgate::bench::exit_status;
  } catch (const std::exception& error) {
    fmt::print(stderr, "datastore_files_bench: {}\n", error.what());
    return 2;
  }
}
