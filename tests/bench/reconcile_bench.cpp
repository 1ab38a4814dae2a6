// The operator on a real API server, beside a bare client that writes the same children in the same run.
// There is no controller manager: a helper sets Deployments available where they shall be Ready.
// Environment: SERVICES (1000), SETTLED_SECONDS (60), KEEP=1 leaves the state folder, STACKGATE the program to measure
// (this build's), ONLY_CREATE=1 ends after the creation and the patches: to compare two programs in turn.
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "tests/bench/audit.hpp"
#include "tests/bench/figure.hpp"
#include "tests/bench/processes.hpp"
#include "tests/bench/reconcile_load.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::bench {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int children_each = 5;
const std::string operator_agent = "stackgate-operator", bare_agent = "bench-bare", user_agent = "bench-user";

int from_environment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

std::string program() {
  const char* given = std::getenv("STACKGATE");
  return given == nullptr ? (test::binary_dir() / "bin/stackgate").string() : given;
}

void run_command(const std::string& command) {
  if (std::system((command + " >&2").c_str()) != 0) throw std::runtime_error("failed: " + command);
}

bool is_upkeep(const Asked& each) { return each.resource == "leases" || each.verb == "watch"; }
bool is_child_write(const Asked& each) {
  return each.is_write() && each.subresource.empty() && each.resource != "leases" && each.resource != "events" &&
         each.code < 300;
}
bool is_status_write(const Asked& each) { return each.is_write() && each.subresource == "status"; }

double first_received(const std::vector<Asked>& asked) {
  double out = 1e9;
  for (const Asked& each : asked) out = std::min(out, each.received);
  return out;
}
double last_answered(const std::vector<Asked>& asked, const std::function<bool(const Asked&)>& is) {
  double out = 0;
  for (const Asked& each : asked)
    if (is(each)) out = std::max(out, each.answered);
  return out;
}

class Bench {
 public:
  Bench() : state_(fs::temp_directory_path() / fmt::format("stackgate-bench-{}", ::getpid())) {
    fs::create_directories(state_);
  }
  ~Bench() {
    leader_.reset();
    standby_.reset();
    const char* keep = std::getenv("KEEP");
    const std::string down = test::source_dir().string() + "/tests/cluster/down.sh " + state_.string();
    if (std::system((down + (keep == nullptr ? " --purge" : "")).c_str()) != 0)
      std::cerr << "the cluster did not stop\n";
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  void run() {
    start_cluster();
    create_without_operator();
    leader_ = start_operator("operator.log");
    std::this_thread::sleep_for(3s);
    print({.name = "operator_rss_idle", .value = leader_->memory_mib("VmRSS"), .unit = "MiB", .limit = 20});
    create();
    if (from_environment("ONLY_CREATE", 0) != 0) return patch_latency();
    settled("not_ready", 0.5);
    become_ready();
    settled("ready", 0.5);
    print({.name = "operator_rss_1000",
           .value = leader_->memory_mib("VmRSS"),
           .unit = "MiB",
           .limit = 60,
           .text = fmt::format("{} resources, {} children", count_, count_ * children_each)});
    patch_latency();
    restart();
    fail_over();
  }

 private:
  std::string kubeconfig() const { return (state_ / "kubeconfig").string(); }
  std::string kubectl(const std::string& arguments) const {
    return fmt::format("kubectl --kubeconfig {} {}", kubeconfig(), arguments);
  }

  void start_cluster() {
    std::ofstream(state_ / "audit.yaml") << "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, "
                                            "ResponseStarted]\nrules: [{level: Metadata}]\n";
    const std::string flags =
        fmt::format("--audit-policy-file={0}/audit.yaml --audit-log-path={0}/audit.log", state_.string());
    ::setenv("APISERVER_FLAGS", flags.c_str(), 1);
    run_command(fmt::format("{}/tests/cluster/up.sh {}", test::source_dir().string(), state_.string()));
    run_command(kubectl(fmt::format("apply --validate=false -f {}/crds/ -o name", test::source_dir().string())));
    for (const char* ns : {"stackgate-system", "template", "bench", "bare-before", "bare-after"}) {
      run_command(kubectl(fmt::format("create namespace {}", ns)));
      run_command(
          kubectl(fmt::format("-n {} create secret generic registry-api --from-literal=REGISTRY_API_KEY=k", ns)));
      run_command(
          kubectl(fmt::format("-n {} create secret docker-registry pull --docker-server=r --docker-username=u "
                              "--docker-password=p",
                              ns)));
    }
    run_command(
        fmt::format("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=gate "
                    "-addext subjectAltName=IP:127.0.0.1 -keyout {0}/tls.key -out {0}/tls.crt 2>/dev/null",
                    state_.string()));
    audit_ = std::make_unique<AuditLog>((state_ / "audit.log").string());
    user_ = client_of(kubeconfig(), user_agent);
  }

  std::unique_ptr<Process> start_operator(const std::string& log) const {
    return std::make_unique<Process>(
        std::vector<std::string>{program(), "operator", "--kubeconfig", kubeconfig(), "--listen", "127.0.0.1:0",
                                 "--metrics-listen", "127.0.0.1:0", "--health-listen", "127.0.0.1:0", "--tls-cert",
                                 (state_ / "tls.crt").string(), "--tls-key", (state_ / "tls.key").string(),
                                 "--drain-seconds", "0"},
        (state_ / log).string());
  }

  /// Reads the audit log until nothing but upkeep came for `quiet`.
  std::vector<Asked> until_quiet(std::chrono::seconds quiet, std::chrono::seconds limit = 300s) {
    std::vector<Asked> out;
    auto last = Clock::now();
    for (const auto end = last + limit; Clock::now() < end && Clock::now() - last < quiet;) {
      std::this_thread::sleep_for(200ms);
      for (Asked& each : audit_->read(operator_agent)) {
        if (!is_upkeep(each)) last = Clock::now();
        out.push_back(std::move(each));
      }
    }
    return out;
  }

  double bare_seconds(const std::string& ns, const std::vector<ChildTemplate>& templates) const {
    const auto begin = Clock::now();
    in_parallel(kubeconfig(), bare_agent, 8, count_, [&](kube::Client& client, int n) {
      for (const ChildTemplate& each : templates) must(client.create(each.type, ns, each.body(service_name(n))));
    });
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// What the same creations cost the API server when nobody acts on them: part of create_ratio that no operator sees.
  void create_without_operator() {
    const auto each = [this](const std::function<void(kube::Client&, int)>& work) {
      const auto begin = Clock::now();
      in_parallel(kubeconfig(), user_agent, 8, count_, work);
      return std::chrono::duration<double>(Clock::now() - begin).count();
    };
    users_seconds_ = each([](kube::Client& client, int n) { must(client.create(services, "bench", service_json(n))); });
    each([](kube::Client& client, int n) {
      if (const auto gone = client.remove(services, "bench", service_name(n)); !gone)
        throw std::runtime_error(gone.error().message);
    });
  }

  void create() {
    must(user_->create(services, "template", service_json(9999)));
    until_quiet(2s, 20s);
    const auto templates = templates_of(*user_, "template", service_name(9999));
    const double before = bare_seconds("bare-before", templates);
    until_quiet(1s);
    audit_->read("");
    const double cpu = leader_->cpu_us();
    in_parallel(kubeconfig(), user_agent, 8, count_,
                [&](kube::Client& client, int n) { must(client.create(services, "bench", service_json(n))); });
    std::vector<Asked> asked = all_children();
    const double seconds = last_answered(asked, is_child_write) - started_;
    print({.name = "operator_cpu_create", .value = (leader_->cpu_us() - cpu) / 1e6, .unit = "s", .limit = 3});
    for (Asked& each : until_quiet(5s)) asked.push_back(std::move(each));
    const double after = bare_seconds("bare-after", templates);
    const double bare = (before + after) / 2;
    print(
        {.name = "create_ratio",
         .value = seconds / bare,
         .unit = "x bare",
         .limit = 1.25,
         .beside = bare,
         .text = fmt::format("{:.2f} s, of which the users' own creations take {:.2f} s without an operator ({:.2f} x "
                             "bare without them); bare client {:.2f} and {:.2f} s",
                             seconds, users_seconds_, (seconds - users_seconds_) / bare, before, after)});
    report_writes(asked, "create", 2);
  }

  /// Everything the operator asked until the last child is there; sets started_ to the first create.
  std::vector<Asked> all_children() {
    std::vector<Asked> out;
    started_ = 0;
    std::size_t written = 0;
    for (const auto end = Clock::now() + 300s; Clock::now() < end;) {
      for (Asked& each : audit_->read("")) {
        if (each.agent.contains(user_agent) && started_ == 0) started_ = each.received;
        if (!each.agent.contains(operator_agent)) continue;
        written += is_child_write(each) ? 1U : 0U;
        out.push_back(std::move(each));
      }
      if (written >= static_cast<std::size_t>(count_ * children_each)) return out;
      std::this_thread::sleep_for(100ms);
    }
    throw std::runtime_error(fmt::format("only {} children were made", written));
  }

  void report_writes(const std::vector<Asked>& asked, const std::string& name, int statuses) const {
    const auto part = [&](const std::function<bool(const Asked&)>& is) {
      return static_cast<double>(count(asked, is)) / count_;
    };
    const double children = part(is_child_write), status = part(is_status_write);
    const double others =
        part([](const Asked& each) { return !is_upkeep(each) && !is_child_write(each) && !is_status_write(each); });
    print({.name = name + "_writes_each",
           .value = children + status,
           .unit = "writes",
           .limit = static_cast<double>((name == "create" ? children_each : 0) + statuses),
           .text = fmt::format("{:.2f} children, {:.2f} statuses", children, status)});
    print({.name = name + "_other_requests_each", .value = others, .unit = "requests", .limit = 0});
  }

  void settled(const std::string& name, double cpu_limit) {
    until_quiet(5s);
    const auto seconds = std::chrono::seconds(from_environment("SETTLED_SECONDS", 60));
    const double cpu = leader_->cpu_us();
    std::this_thread::sleep_for(seconds);
    const auto asked = audit_->read(operator_agent);
    print({.name = "settled_" + name + "_requests",
           .value = static_cast<double>(asked.size() - count(asked, is_upkeep)),
           .unit = "requests",
           .limit = 0,
           .text = fmt::format("in {} s; {} of lease and watches", seconds.count(), count(asked, is_upkeep))});
    print({.name = "settled_" + name + "_cpu",
           .value = (leader_->cpu_us() - cpu) / 1e6,
           .unit = "s",
           .limit = cpu_limit});
  }

  void become_ready() {
    audit_->read("");
    availability_ = std::make_unique<Availability>(kubeconfig(), "bench");
    report_writes(until_quiet(5s), "ready", 1);
  }

  /// A spec has changed when the API server has answered its user; the child is patched when a watch tells so.
  void patch_latency() {
    const ImageWatch images(kubeconfig(), "bench");
    std::vector<double> ours, whole, asking, bare;
    const auto ms = [](Clock::duration taken) { return std::chrono::duration<double, std::milli>(taken).count(); };
    for (int i = 0; i < 40; ++i) {
      const std::string tag = fmt::format("2.0.{}", i), name = service_name(i % 20);
      const auto sent = Clock::now();
      must(user_->patch(services, "bench", name, kube::PatchType::merge,
                        fmt::format(R"({{"spec":{{"image":{{"tag":"{}"}}}}}})", tag)));
      const auto answered = Clock::now();
      std::this_thread::sleep_for(400ms);
      const auto seen = images.when(name, "registry.example.com/inference/llm:" + tag);
      if (!seen) throw std::runtime_error("no patch of a Deployment within 400 ms");
      ours.push_back(ms(*seen - answered));
      whole.push_back(ms(*seen - sent));
      asking.push_back(ms(answered - sent));
      const auto begin = Clock::now();
      must(user_->patch({"apps", "v1", "deployments"}, "bare-after", name, kube::PatchType::merge,
                        fmt::format(R"({{"metadata":{{"annotations":{{"tag":"{}"}}}}}})", tag)));
      bare.push_back(ms(Clock::now() - begin));
      std::this_thread::sleep_for(100ms);
    }
    for (auto* each : {&ours, &whole, &asking, &bare}) std::ranges::sort(*each);
    const auto at = [](const std::vector<double>& sorted, double part) {
      return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(part * static_cast<double>(sorted.size())))];
    };
    for (const auto& [name, part, limit] : {std::tuple{"p50", 0.5, 8.0}, {"p99", 0.99, 25.0}})
      print({.name = fmt::format("patch_latency_{}", name),
             .value = at(ours, part),
             .unit = "ms",
             .limit = limit,
             .beside = at(bare, part),
             .text = fmt::format("from the user's answer to the watch's event; {:.1f} ms with the user's own patch "
                                 "({:.1f} ms); a bare patch of a Deployment takes {:.1f} ms",
                                 at(whole, part), at(asking, part), at(bare, part))});
  }

  void restart() {
    until_quiet(5s);
    leader_->terminate();
    audit_->read("");
    const auto begin = Clock::now();
    leader_ = start_operator("restarted.log");
    std::vector<Asked> asked = until_quiet(5s, 60s);
    const double took = std::chrono::duration<double>(Clock::now() - begin).count() - 5;
    const auto is_lease = [](const Asked& each) { return each.resource == "leases" && each.is_write(); };
    double lease = 1e9, last = 0;
    for (const Asked& each : asked) {
      if (is_lease(each)) lease = std::min(lease, each.answered);
      if (!is_upkeep(each)) last = std::max(last, each.answered);
    }
    print({.name = "restart_writes",
           .value = static_cast<double>(
               count(asked, [&](const Asked& each) { return each.is_write() && !is_upkeep(each); })),
           .unit = "writes",
           .limit = 0});
    print({.name = "restart_synced_after_lease",
           .value = std::max(0.0, last - lease),
           .unit = "s",
           .limit = 5,
           .text = fmt::format("start to lease {:.2f} s, to idle {:.2f} s", lease - first_received(asked), took)});
  }

  void fail_over() {
    standby_ = start_operator("standby.log");
    until_quiet(3s);
    audit_->read("");
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const double killed = std::fmod(std::chrono::duration<double>(now).count(), 86400.0);
    leader_.reset();  // SIGKILL
    for (const auto end = Clock::now() + 40s; Clock::now() < end;) {
      std::this_thread::sleep_for(200ms);
      for (const Asked& each : audit_->read(operator_agent)) {
        if (each.resource != "leases" || !each.is_write() || each.code >= 300 || each.received < killed) continue;
        print({.name = "fail_over", .value = each.answered - killed, .unit = "s", .limit = 17});
        return;
      }
    }
    throw std::runtime_error("nobody took over");
  }

  const int count_ = from_environment("SERVICES", 1000);
  const fs::path state_;
  std::unique_ptr<AuditLog> audit_;
  std::unique_ptr<kube::Client> user_;
  std::unique_ptr<Process> leader_, standby_;
  std::unique_ptr<Availability> availability_;
  double started_ = 0, users_seconds_ = 0;
};

}  // namespace
}  // namespace stackgate::bench

int main() {
  try {
    stackgate::bench::Bench().run();
    return stackgate::bench::exit_status;
  } catch (const std::exception& error) {
    std::cerr << "reconcile_bench: " << error.what() << '\n';
    return 1;
  }
}
