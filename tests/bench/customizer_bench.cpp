// stackgate-customizer on this machine: creating with a dataset of 1 GB in a real datastore looked at; 1,000 known and
// 100 that report every second; a restart under them; lists of 100,000; from the last training step to an adapter that
// is ready in a real entitystore. With an argument, "create", "running" or "adapter": that alone.
#include <fstream>
#include <map>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/sql/database.hpp"
#include "tests/bench/datastore_server.hpp"
#include "tests/bench/http_load.hpp"

namespace stackgate::bench {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr int known = 1'000, running = 100, listed = 100'000, report_seconds = 20;
constexpr std::uint64_t megabyte = 1'000'000, dataset_megabytes = 1'000;
constexpr std::string_view json_type = "Content-Type: application/json\r\n";

std::string member(std::string_view text, json::MemberPath path) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 64, .max_bytes = 16U << 20U});
  return root ? std::string(json::text(&*root, path)) : std::string();
}

std::int64_t integer(std::string_view text, json::MemberPath path) {
  json::Document document;
  const auto root = json::parse(text, document, {.max_depth = 64, .max_bytes = 16U << 20U});
  return root ? json::integer(&*root, path) : 0;
}

/// Within two minutes.
void until(std::string_view what, const std::function<bool()>& is_so, std::chrono::milliseconds pause = 20ms) {
  for (const auto begun = Clock::now(); !is_so(); std::this_thread::sleep_for(pause))
    if (Clock::now() - begun > 120s) throw std::runtime_error(fmt::format("in vain: {}", what));
}

/// A customizer with a directory of its own. What its stages have begun ends with it.
class Customizer {
 public:
  Customizer(std::string binary, std::string directory, std::vector<std::string> options)
      : binary_(std::move(binary)), directory_(std::move(directory)), options_(std::move(options)) {
    fs::create_directories(directory_);
    start();
  }
  ~Customizer() {
    process_.reset();
    std::error_code ignored;
    for (const auto& each : fs::recursive_directory_iterator(directory_ + "/jobs", ignored))
      if (each.path().filename() == "pid") {
        std::ifstream in(each.path());
        if (pid_t group = 0; in >> group && group > 1) ::kill(-group, SIGKILL);
      }
  }
  Customizer(const Customizer&) = delete;
  Customizer& operator=(const Customizer&) = delete;

  void kill() { process_.reset(); }
  void start() {
    std::vector<std::string> command{binary_,
                                     "--data-dir",
                                     directory_,
                                     "--listen",
                                     fmt::format("127.0.0.1:{}", port),
                                     "--callback-listen",
                                     fmt::format("127.0.0.1:{}", callback),
                                     "--log-level",
                                     "warning"};
    command.insert(command.end(), options_.begin(), options_.end());
    process_ = std::make_unique<Process>(command, directory_ + "/log");
    until(
        "the customizer is ready",
        [&] {
          Http http(port);
          return http.good() && http.call("GET", "/v1/health/ready", "", "").status == 200;
        },
        2ms);
  }
  const Process& process() const { return *process_; }
  Http::Answer get(const std::string& path) const { return expect(200, Http(port).call("GET", path, "", "")); }
  std::int64_t total(const std::string& state) const {
    return integer(get("/v1/customizations?page_size=1&filter[state]=" + state).body, {"pagination", "total_results"});
  }
  std::unique_ptr<sql::Database> database() const {
    auto opened = sql::Database::open("sqlite:" + directory_ + "/customizer.db", "");
    if (!opened) throw std::runtime_error(opened.error());
    return std::move(*opened);
  }
  const std::string& directory() const { return directory_; }

  const std::uint16_t port = free_port(), callback = free_port();

 private:
  const std::string binary_, directory_;
  const std::vector<std::string> options_;
  std::unique_ptr<Process> process_{};
};

class Bench {
 public:
  explicit Bench(const std::string& own_path) : bin_(fs::absolute(own_path).parent_path().string()), store_(own_path) {
    ::setenv("DATASTORE_USERNAME", "ada", 1);
    ::setenv("DATASTORE_PASSWORD", "correct-horse", 1);
    make_dataset("small", {{"training/a.jsonl", lines(24)}, {"validation/a.jsonl", lines(4)}});
    make_models();
  }

  void run(std::string_view only) {
    if (only.empty() || only == "create") create();
    if (only.empty() || only == "running") run_many();
    if (only.empty() || only == "adapter") adapter();
  }

 private:
  // --- what is there before

  static std::string lines(int count) {
    std::string out;
    for (int i = 0; i < count; ++i)
      out += fmt::format("{{\"prompt\":\"The colour of thing {} is\",\"completion\":\" green and gold.\"}}\n", i % 9);
    return out;
  }
  void make_dataset(const std::string& name, const std::map<std::string, std::string>& files,
                    const std::string& lfs_entry = {}) {
    Http http(store_.port());
    http.call("POST", "/v1/hf/api/repos/create", Datastore::signed_in(),
              fmt::format(R"({{"type":"dataset","name":"{}"}})", name));
    std::string commit = "{\"key\":\"header\",\"value\":{\"summary\":\"data\"}}\n" + lfs_entry;
    for (const auto& [path, content] : files)
      commit +=
          fmt::format("{{\"key\":\"file\",\"value\":{{\"path\":\"{}\",\"content\":\"{}\",\"encoding\":\"base64\"}}}}\n",
                      path, base64::encode(content));
    expect(200, http.call("POST", fmt::format("/v1/hf/api/datasets/ada/{}/commit/main", name),
                          Datastore::signed_in("application/x-ndjson"), commit));
  }
  /// A file of 1 GB in training/, by the protocol that git-lfs has.
  void make_big_dataset() {
    make_dataset("big", {{"README.md", "# big\n"}});
    std::string block;
    for (int i = 0; i < 1'000; ++i) {
      std::string line = fmt::format(R"({{"prompt":"thing {}","completion":")", i);
      line.append(997 - line.size(), 'x');
      block += line + "\"}\n";
    }
    crypto::Sha256Stream hash;
    for (std::uint64_t i = 0; i < dataset_megabytes; ++i) hash.add(block);
    const std::string oid = crypto::to_hex(hash.finish());
    const std::uint64_t size = dataset_megabytes * block.size();
    const auto batch = expect(
        200,
        Http(store_.port())
            .call("POST", "/v1/hf/datasets/ada/big.git/info/lfs/objects/batch",
                  Datastore::signed_in("application/vnd.git-lfs+json"),
                  fmt::format(R"({{"operation":"upload","transfers":["basic"],"objects":[{{"oid":"{}","size":{}}}]}})",
                              oid, size)));
    json::Document document;
    const auto root = json::parse(batch.body, document);
    if (!root || json::items(&*root, {"objects"}).empty()) throw std::runtime_error(batch.body);
    const json::Value& upload = json::items(&*root, {"objects"})[0];
    const std::string href(json::text(&upload, {"actions", "upload", "href"}));
    Http http(store_.port());
    http.send(fmt::format("PUT {} HTTP/1.1\r\nHost: localhost\r\nAuthorization: {}\r\nContent-Length: {}\r\n\r\n",
                          href.substr(href.find('/', 8)),
                          json::text(&upload, {"actions", "upload", "header", "Authorization"}), size));
    for (std::uint64_t i = 0; i < dataset_megabytes; ++i) http.send(block);
    if (http.receive().status / 100 != 2) throw std::runtime_error("the dataset was refused");
    make_dataset("big", {},
                 fmt::format("{{\"key\":\"lfsFile\",\"value\":{{\"path\":\"training/a.jsonl\",\"algo\":"
                             "\"sha256\",\"oid\":\"{}\",\"size\":{}}}}}\n",
                             oid, size));
  }
  void make_models() {
    const std::string text = dir_ / "text";
    std::ofstream(text) << [] {
      std::string out;
      for (int i = 0; i < 400; ++i) out += fmt::format("The colour of thing {} is grey.\n", i % 9);
      return out;
    }();
    must_run(
        fmt::format("{0}/stackgate-trainer make-tiny --text {1} --output {2}/acme/tiny --steps 1 --hidden 512 "
                    "--vocabulary 300 >{2}.log 2>&1",
                    bin_, text, dir_ / "models"));
  }
  /// Stages that do nothing for ever, or nothing at all.
  std::string programs(const std::string& name, std::string_view puller, std::string_view trainer) {
    const std::string folder = dir_ / name;
    fs::create_directories(folder);
    for (const auto& [file, script] : {std::pair{"stackgate-puller", puller}, {"stackgate-trainer", trainer}}) {
      std::ofstream(folder + "/" + file) << "#!/bin/sh\n" << script << "\n";
      fs::permissions(folder + "/" + file, fs::perms::owner_all);
    }
    return folder;
  }
  std::unique_ptr<Customizer> customizer(const std::string& name, const std::string& programs,
                                         const std::string& entitystore) {
    return std::make_unique<Customizer>(
        bin_ + "/stackgate-customizer", dir_ / name,
        std::vector<std::string>{"--datastore-url", fmt::format("http://127.0.0.1:{}/v1/hf", store_.port()),
                                 "--entitystore-url", entitystore, "--models-dir", dir_ / "models", "--programs-dir",
                                 programs, "--local-trainings", "1000", "--drain-wait", "0s"});
  }
  static std::string body(std::string_view name, std::string_view dataset, int rank, std::string_view more) {
    return fmt::format(
        R"({{"name":"{}","model":"acme/tiny","dataset":"ada/{}","hyperparameters":{{"lora_rank":{},"lora_alpha":16,"learning_rate":0.001,{}}}}})",
        name, dataset, rank, more);
  }

  // --- figures

  void create() {
    fmt::print(stderr, "customizations created (dataset of {} MB)\n", dataset_megabytes);
    make_big_dataset();
    const auto service =
        customizer("create", programs("asleep", "exec sleep 1000", "exec sleep 1000"), "http://127.0.0.1:1");
    Http http(service->port);
    std::vector<double> all;
    for (int i = 0; i < 60; ++i) {
      const std::string wanted = body(fmt::format("big-{}", i), "big", 8, R"("num_epochs":1)");
      const double took = seconds_of([&] { expect(201, http.call("POST", "/v1/customizations", json_type, wanted)); });
      if (i >= 10) all.push_back(took * 1e3);
    }
    std::ranges::sort(all);
    print({.name = "customizer_create",
           .value = median(all),
           .unit = "ms",
           .limit = 30,
           .text = fmt::format("p50 with everything looked at; p95 {:.1f} ms", all[all.size() * 95 / 100])});
  }

  void run_many() {
    fmt::print(stderr, "{} customizations known, {} running\n", known, running);
    const auto service = customizer("many", programs("trains", "exit 0", "exec sleep 1000"), "http://127.0.0.1:1");
    Http http(service->port);
    for (int i = 0; i < running; ++i)
      expect(201, http.call("POST", "/v1/customizations", json_type,
                            body(fmt::format("running-{}", i), "small", 8, R"("num_epochs":1)")));
    until("all of them train", [&] { return trainings(*service) == running; });
    fill(*service, known - running);
    report(*service);
    restart(*service);
    fill(*service, listed - known);
    list(*service);
  }
  static int trainings(const Customizer& service) {
    int out = 0;
    for (const auto& each : fs::recursive_directory_iterator(service.directory() + "/jobs"))
      out += each.path().filename() == "pid" && each.path().parent_path().filename() == "training-1" ? 1 : 0;
    return out;
  }
  /// Completed ones of many models, copies of one that is there.
  static void fill(const Customizer& service, int count) {
    const auto database = service.database();
    const auto done = database->transact([&](sql::Session& session) -> sql::Expected<void> {
      for (const std::string& statement :
           {fmt::format(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {0}) "
                "INSERT INTO customization (id, name, model, state, request, stages, trained, progress, warnings, "
                "token, traceparent, digest, settled, woken, created_at, changed_at, started_at, ended_at) "
                "SELECT 'cust-' || {0} || '-' || i, 'done-' || {0} || '-' || i, 'model-' || (i % 10), CASE WHEN i % 5 "
                "= 0 THEN 'failed' ELSE 'completed' END, c.request, c.stages, 1, c.progress, c.warnings, '', "
                "c.traceparent, '', 1, 0, c.created_at, c.changed_at, c.started_at, c.changed_at "
                "FROM customization c, n WHERE c.name = 'running-0'",
                count),
            std::string("DELETE FROM customization_count"),
            std::string("INSERT INTO customization_count SELECT model, state, count(*) FROM customization GROUP BY "
                        "model, state")})
        if (const auto ran = session.run(statement); !ran) return std::unexpected(ran.error());
      return {};
    });
    if (!done) throw std::runtime_error(done.error().message);
  }
  /// Each running one once a second, over a connection of its own; none waits for another's answer.
  static void report(const Customizer& service) {
    const auto rows =
        service.database()->run("SELECT id, token FROM customization WHERE name LIKE 'running-%' ORDER BY id");
    if (!rows) throw std::runtime_error(rows.error().message);
    std::vector<std::pair<std::string, std::string>> trainers;  // id, token
    for (const sql::Row& row : rows->rows) trainers.emplace_back(row.text(0), row.text(1));
    const Client client(service.callback, static_cast<int>(trainers.size()));
    std::vector<Clock::time_point> sent(trainers.size());
    std::vector<double> answers;
    const auto take = [&](std::size_t which, std::string_view answer) {
      if (!answer.starts_with("HTTP/1.1 204 ")) throw std::runtime_error(std::string(answer));
      answers.push_back(std::chrono::duration<double, std::milli>(Clock::now() - sent[which]).count());
    };
    const auto receive_until = [&](Clock::time_point end) {
      while (Clock::now() < end) client.receive(end, take);
    };
    std::this_thread::sleep_for(2s);
    const double before = service.process().cpu_us();
    const auto begun = Clock::now();
    for (int step = 1; step <= report_seconds; ++step)
      for (std::size_t i = 0; i < trainers.size(); ++i) {
        receive_until(begun + std::chrono::seconds(step - 1) + 1'000ms * i / trainers.size());
        const auto& [id, token] = trainers[i];
        const std::string event =
            fmt::format(R"({{"event":"step","job_id":"{}","step":{},"max_steps":1000,"epoch":0.5,"loss":1.5,)"
                        R"("learning_rate":0.001,"tokens_per_second":1000,"eta_seconds":100}})",
                        id, step);
        sent[i] = Clock::now();
        client.send(i, fmt::format("POST /v1/customizations/{}/progress HTTP/1.1\r\nHost: localhost\r\n{}"
                                   "Authorization: Bearer {}\r\nContent-Length: {}\r\n\r\n{}",
                                   id, json_type, token, event.size(), event));
      }
    receive_until(begun + std::chrono::seconds(report_seconds));
    const double spent = std::chrono::duration<double>(Clock::now() - begun).count();
    const double cpu = service.process().cpu_us() - before;
    until("all are answered", [&] {
      client.receive(Clock::now(), take);
      return answers.size() == trainers.size() * report_seconds;
    });
    std::ranges::sort(answers);
    print({.name = "customizer_cpu_of_100_running",
           .value = cpu / spent / 1e4,
           .unit = "% of a core",
           .limit = 5,
           .text = fmt::format("each reports every second, for {:.0f} s; answers p50 {:.0f} ms, p99 {:.0f} ms", spent,
                               median(answers), answers[answers.size() * 99 / 100])});
    print({.name = "customizer_memory_of_1000",
           .value = service.process().memory_mib("VmRSS"),
           .unit = "MiB",
           .limit = 64,
           .text = "resident, behind it"});
  }
  static double looks(const Customizer& service) {
    const std::string text = service.get("/metrics").body;
    const auto at = text.find("\nstackgate_customizer_looks_total ");
    return at == std::string::npos ? 0 : std::stod(text.substr(at + 34, 20));
  }
  static std::string written(const Customizer& service) {
    const auto found = service.database()->run(
        "SELECT sum(revision), count(*) FROM customization WHERE settled = 0 AND state = 'running'");
    if (!found) throw std::runtime_error(found.error().message);
    return fmt::format("{} in {}", found->rows.front().integer(0), found->rows.front().integer(1));
  }
  static void restart(Customizer& service) {
    const std::string before = written(service);
    service.kill();
    const double took = seconds_of([&] {
      service.start();
      until("all are looked at", [&] { return looks(service) >= running; }, 5ms);
    });
    std::this_thread::sleep_for(1s);
    if (const std::string after = written(service); after != before || trainings(service) != running)
      throw std::runtime_error(fmt::format("a restart has written: {}, then {}", before, after));
    print(
        {.name = "customizer_restart",
         .value = took,
         .unit = "s",
         .limit = 2,
         .text = fmt::format("killed with {} running, until each was looked at; nothing started or stored", running)});
  }
  static void list(const Customizer& service) {
    for (const auto& [name, query, text] :
         {std::tuple{"customizer_list", "filter[state]=completed&filter[model]=model-3", "by state and model"},
          {"customizer_list_by_state", "filter[state]=failed", "by state"},
          {"customizer_list_page_1500", "page=1500&filter[state]=completed", "by state, page 1,500"}}) {
      Http http(service.port);
      std::vector<double> all;
      for (int i = 0; i < 220; ++i) {
        const double took = seconds_of([&] {
          const auto answer =
              expect(200, http.call("GET", fmt::format("/v1/customizations?page_size=50&{}", query), "", ""));
          if (!answer.body.contains("\"done-")) throw std::runtime_error("a list is empty: " + answer.body);
        });
        if (i >= 20) all.push_back(took * 1e3);
      }
      print({.name = name,
             .value = median(all),
             .unit = "ms",
             .limit = 5,
             .text = fmt::format("50 of {}, {}", listed, text)});
    }
  }

  void adapter() {
    fmt::print(stderr, "from the last training step to an adapter that is ready\n");
    const std::uint16_t port = free_port();
    const Process entitystore({bin_ + "/stackgate-entitystore", "--data-dir", dir_ / "entitystore", "--listen",
                               fmt::format("127.0.0.1:{}", port), "--datastore-url",
                               fmt::format("http://127.0.0.1:{}", store_.port()), "--log-level", "warning"},
                              dir_ / "entitystore.log");
    await(entitystore, port, dir_ / "entitystore.log");
    const auto service = customizer("adapter", bin_, fmt::format("http://127.0.0.1:{}", port));
    std::vector<double> all;
    std::string size;
    for (int round = 0; round < 5; ++round) {
      const std::string name = fmt::format("adapter-{}", round), path = "/v1/customizations/" + name;
      expect(201, Http(service->port)
                      .call("POST", "/v1/customizations", json_type, body(name, "small", rank_, R"("max_steps":5)")));
      Http http(service->port);
      until(
          "it is trained",
          [&] { return integer(http.call("GET", path, "", "").body, {"status_details", "steps_completed"}) >= 5; },
          5ms);
      const auto begun = Clock::now();
      Http store(port);  // not earlier: a connection that asks nothing while it is trained is closed
      until(
          "its adapter is ready",
          [&] {
            return store.call("GET", "/v1/adapters?namespace=default&name=" + name, "", "")
                .body.contains(R"("status":"ready")");
          },
          10ms);
      all.push_back(std::chrono::duration<double>(Clock::now() - begun).count());
      until("it is completed", [&] { return member(http.call("GET", path, "", "").body, {"status"}) == "completed"; });
      const std::string id = member(http.call("GET", path, "", "").body, {"id"});
      size = fmt::format(
          "{:.1f} MB packed",
          static_cast<double>(fs::file_size(fmt::format("{}/jobs/{}/adapter.tar.gz", service->directory(), id))) / 1e6);
    }
    print({.name = "customizer_step_to_ready",
           .value = median(all),
           .unit = "s",
           .limit = 2,
           .text = fmt::format("the last training step reported, until the entitystore has it ready; {}", size)});
  }

  static constexpr int rank_ = 256;
  const test::TempDir dir_;
  const std::string bin_;
  Datastore store_;
};

}  // namespace
}  // namespace stackgate::bench

int main(int argc, char** argv) {
  stackgate::log::configure({.level = stackgate::log::Level::warning});
  try {
    stackgate::bench::Bench(argv[0]).run(argc > 1 ? argv[1] : "");
  } catch (const std::exception& failure) {
    fmt::print(stderr, "customizer_bench: {}\n", failure.what());
    return 1;
  }
  return stackgate::bench::exit_status;
}
