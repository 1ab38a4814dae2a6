// git over HTTP beside apache2 with `git http-backend` as a CGI program: the same repositories, the same clients,
// rounds in turn. And a Hugging Face commit beside `git fast-import`. APACHE names another apache2.
#include <atomic>

#include "tests/bench/datastore_server.hpp"

namespace stackgate::bench {
namespace {

namespace fs = std::filesystem;

/// apache2 with the event MPM and a CGI daemon over a folder of bare repositories.
class Apache {
 public:
  Apache() {
    std::string binary = std::getenv("APACHE") == nullptr ? "/usr/sbin/apache2" : std::getenv("APACHE");
    if (!fs::exists(binary)) throw std::runtime_error("apache2 is not installed: apt-get install apache2-bin");
    port_ = free_port();
    fs::create_directory(dir_ / "git");
    const std::string modules = "/usr/lib/apache2/modules";
    dir_.write(
        "apache.conf",
        fmt::format(
            "ServerRoot {0}\nServerName localhost\nListen 127.0.0.1:{1}\nPidFile {0}/pid\nErrorLog {0}/error.log\n"
            "LoadModule mpm_event_module {2}/mod_mpm_event.so\nLoadModule authz_core_module {2}/mod_authz_core.so\n"
            "LoadModule alias_module {2}/mod_alias.so\nLoadModule env_module {2}/mod_env.so\n"
            "LoadModule cgid_module {2}/mod_cgid.so\nScriptSock {0}/cgid.sock\n"
            "MaxKeepAliveRequests 0\nKeepAliveTimeout 60\n{3}"
            "SetEnv GIT_PROJECT_ROOT {0}/git\nSetEnv GIT_HTTP_EXPORT_ALL 1\n"
            "SetEnv HOME {0}\nSetEnv GIT_CONFIG_NOSYSTEM 1\nSetEnv REMOTE_USER ada\n"
            "ScriptAlias /git/ /usr/lib/git-core/git-http-backend/\n"
            "<Directory /usr/lib/git-core>\n Require all granted\n Options +ExecCGI\n</Directory>\n",
            dir_ / ".", port_, modules, ::getuid() == 0 ? "User nobody\nGroup nogroup\n" : ""));
    // Objects that come in are checked, as the datastore has it. git trusts a folder of its own user alone.
    dir_.write(
        ".gitconfig",
        "[safe]\n directory = *\n[http]\n receivepack = true\n[receive]\n fsckObjects = true\n[gc]\n auto = 0\n");
    must_run(
        fmt::format("chmod 755 {0} {0}/git && chown -R {1} {0}", dir_ / ".", ::getuid() == 0 ? "nobody" : "$(id -u)"));
    process_ = std::make_unique<Process>(std::vector<std::string>{binary, "-DFOREGROUND", "-f", dir_ / "apache.conf"},
                                         dir_ / "out");
    await(*process_, port_, dir_ / "error.log");
  }
  std::uint16_t port() const { return port_; }
  ~Apache() { process_->terminate(); }
  void make_repository(const std::string& name) {
    must_run(fmt::format("git init -q --bare {0}/git/{1}.git && chown -R {2} {0}/git/{1}.git", dir_ / ".", name,
                         ::getuid() == 0 ? "nobody" : "$(id -u)"));
  }
  std::string url(const std::string& name) const { return fmt::format("http://127.0.0.1:{}/git/{}.git", port_, name); }

 private:
  test::TempDir dir_;
  std::uint16_t port_ = 0;
  std::unique_ptr<Process> process_;
};

class Bench {
 public:
  explicit Bench(const std::string& own_path) : store_(own_path) {
    ::setenv("HOME", (work_ / ".").c_str(), 1);
    for (const auto& [name, value] : {std::pair{"GIT_CONFIG_NOSYSTEM", "1"},
                                      {"GIT_TERMINAL_PROMPT", "0"},
                                      {"GIT_AUTHOR_NAME", "a"},
                                      {"GIT_AUTHOR_EMAIL", "a@example.org"},
                                      {"GIT_COMMITTER_NAME", "a"},
                                      {"GIT_COMMITTER_EMAIL", "a@example.org"}})
      ::setenv(name, value, 1);
    work_.write(".gitconfig", "[init]\n defaultBranch = main\n[gc]\n auto = 0\n");
    both("small");
    must_run(
        fmt::format("git init -q {0} && echo hello >{0}/README.md && git -C {0} add . && git -C {0} commit -qm one && "
                    "git -C {0} tag v1",
                    work_ / "small"));
    // 100 MB that nothing compresses, in 200 files.
    must_run(fmt::format(
        "git init -q {0} && for i in $(seq 200); do head -c 500000 /dev/urandom >{0}/$i; done && git -C {0} "
        "-c core.compression=0 add . && git -C {0} commit -qm large",
        work_ / "large"));
    for (const std::string& url : {store_.url("small"), apache_.url("small")})
      must_run(fmt::format("git -C {} push -q {} main v1", work_ / "small", url));
  }

  void run(std::string_view only) {
    fmt::print(stderr, "git over HTTP beside apache2 and git http-backend (rounds in turn, medians of their ratios)\n");
    const auto wanted = [&](std::string_view name) { return only.empty() || only == name; };
    if (wanted("refs")) advertisement();
    if (wanted("small")) small_clone();
    if (wanted("large")) large_push_and_clone();
    if (wanted("commit")) hub_commit();
  }

 private:
  void both(const std::string& name) {
    store_.make_repository(name);
    apache_.make_repository(name);
  }

  /// Requests per second of four clients, each on a connection of its own that is kept.
  static double rate(std::uint16_t port, const std::string& path, int count) {
    const std::string request = fmt::format("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    const double took = seconds_of([&] {
      std::vector<std::thread> clients;
      std::atomic<int> left{count};
      std::atomic<bool> wrong{false};
      for (int i = 0; i < 4; ++i)
        clients.emplace_back([&] {
          Http http(port);
          while (left.fetch_sub(1) > 0 && !wrong) {
            http.send(request);
            const auto answer = http.receive();
            if (answer.status != 200 || !answer.body.contains("refs/heads/main")) wrong = true;
          }
        });
      for (auto& client : clients) client.join();
      if (wrong) throw std::runtime_error("an advertisement was not what it should be: " + path);
    });
    return count / took;
  }

  void advertisement() {
    const auto rounds = alternate(
        7, [&](int) { return rate(store_.port(), "/ada/small.git/info/refs?service=git-upload-pack", 6000); },
        [&](int) { return rate(apache_.port(), "/git/small.git/info/refs?service=git-upload-pack", 200); });
    print({.name = "datastore_info_refs",
           .value = median(rounds.ratio),
           .unit = "x apache",
           .limit = 20,
           .at_least = true,
           .beside = median(rounds.peer),
           .text = fmt::format("{:.0f}/s beside {:.0f}/s, four clients", median(rounds.own), median(rounds.peer))});
  }

  double clone(const std::string& url) {
    const std::string to = work_ / "clone";
    fs::remove_all(to);
    return seconds_of([&] { must_run(fmt::format("git clone -q --bare {} {}", url, to)); });
  }

  void small_clone() {
    const auto several = [&](const std::string& url) {
      double sum = 0;
      for (int i = 0; i < 8; ++i) sum += clone(url);
      return 8 / sum;
    };
    const auto rounds = alternate(
        7, [&](int) { return several(store_.url("small")); }, [&](int) { return several(apache_.url("small")); });
    print({.name = "datastore_small_clone",
           .value = median(rounds.ratio),
           .unit = "x apache",
           .limit = 1.5,
           .at_least = true,
           .beside = median(rounds.peer),
           .text = fmt::format("{:.1f}/s beside {:.1f}/s, one client", median(rounds.own), median(rounds.peer))});
  }

  void large_push_and_clone() {
    constexpr int count = 5;
    for (int round = 0; round <= count; ++round) both(fmt::format("large-{}", round));
    // The client looks for no deltas: a quarter of a minute of its own that both servers would share.
    const auto push = [&](const std::string& url) {
      return seconds_of([&] {
        must_run(fmt::format("git -C {} -c pack.compression=0 -c pack.window=0 push -q {} main", work_ / "large", url));
      });
    };
    const auto name = [](int round) { return fmt::format("large-{}", round); };
    const auto pushed = alternate(
        count, [&](int round) { return push(store_.url(name(round))); },
        [&](int round) { return push(apache_.url(name(round))); });
    const auto figure = [](const char* what, const Rounds& rounds) {
      print({.name = what,
             .value = median(rounds.ratio),
             .unit = "x apache",
             .limit = 1.05,
             .beside = median(rounds.peer),
             .text = fmt::format("{:.2f} s beside {:.2f} s", median(rounds.own), median(rounds.peer))});
    };
    figure("datastore_push_100_mb", pushed);
    figure("datastore_clone_100_mb", alternate(
                                         count, [&](int) { return clone(store_.url("large-1")); },
                                         [&](int) { return clone(apache_.url("large-1")); }));
  }

  /// The same thousand files, once as a commit's NDJSON and once as a stream for fast-import.
  void hub_commit() {
    const auto content = [](int round, int i) {
      std::string out = fmt::format("file {} of round {}\n", i, round);
      for (unsigned seed = static_cast<unsigned>(round * 1000 + i); out.size() < 1000;)
        out += fmt::format("{:08x}\n", seed = seed * 1664525U + 1013904223U);
      return out;
    };
    const auto path = [](int i) { return fmt::format("data/{}/{}.txt", i / 100, i); };
    const auto own = [&](int round) {
      const std::string name = fmt::format("commit-{}", round);
      store_.make_repository(name);
      std::string body = "{\"key\":\"header\",\"value\":{\"summary\":\"a thousand\"}}\n";
      for (int i = 0; i < 1000; ++i)
        body += fmt::format(
            "{{\"key\":\"file\",\"value\":{{\"path\":\"{}\",\"encoding\":\"base64\",\"content\":\"{}\"}}}}\n", path(i),
            base64::encode(content(round, i)));
      Http http(store_.port());
      return seconds_of([&] {
        expect(200, http.call("POST", fmt::format("/v1/hf/api/models/ada/{}/commit/main", name),
                              Datastore::signed_in("application/x-ndjson"), body));
      });
    };
    const auto peer = [&](int round) {
      std::string stream =
          "commit refs/heads/main\ncommitter a <a@example.org> 1700000000 +0000\ndata 11\na thousand\n\n";
      for (int i = 0; i < 1000; ++i) {
        const std::string text = content(round, i);
        stream += fmt::format("M 100644 inline {}\ndata {}\n{}\n", path(i), text.size(), text);
      }
      work_.write("stream", stream + "done\n");
      const std::string to = work_ / fmt::format("import-{}", round);
      must_run(fmt::format("git init -q --bare {}", to));
      return seconds_of(
          [&] { must_run(fmt::format("git -C {} fast-import --quiet --done <{}", to, work_ / "stream")); });
    };
    const auto rounds = alternate(11, own, peer);
    print({.name = "datastore_hub_commit_1000_files",
           .value = median(rounds.ratio),
           .unit = "x import",
           .limit = 1.5,
           .beside = median(rounds.peer) * 1000,
           .text = fmt::format("{:.0f} ms beside {:.0f} ms of git fast-import", median(rounds.own) * 1000,
                               median(rounds.peer) * 1000)});
  }

  test::TempDir work_;
  Datastore store_;
  Apache apache_;
};

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  try {
    stackgate::bench::Bench(argv[0]).run(argc > 1 ? argv[1] : "");
    return stackgate::bench::exit_status;
  } catch (const std::exception& error) {
    fmt::print(stderr, "datastore_git_bench: {}\n", error.what());
    return 2;
  }
}
