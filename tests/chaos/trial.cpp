#include "tests/chaos/trial.hpp"

#include <fstream>
#include <stdexcept>
#include <thread>

#include <fmt/format.h>

namespace stackgate::chaos {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

std::vector<std::string> command_of(const Setting& setting, const std::string& name, std::uint16_t port) {
  const std::string kubeconfig = fmt::format("{}/{}.kubeconfig", setting.scratch, name);
  std::ofstream(kubeconfig) << fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{{name: a, cluster: {{server: "
      "\"http://127.0.0.1:{}\"}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a}}}}]\nusers: [{{name: a, "
      "user: "
      "{{}}}}]\n",
      port);
  std::vector<std::string> out{setting.binary,
                               "operator",
                               "--kubeconfig",
                               kubeconfig,
                               "--no-admission",
                               "--namespaces",
                               name,
                               "--listen",
                               "127.0.0.1:0",
                               "--metrics-listen",
                               "127.0.0.1:0",
                               "--health-listen",
                               "127.0.0.1:0",
                               "--references",
                               "warn",
                               "--other-references",
                               "warn",
                               "--log-format",
                               "json",
                               "--log-level",
                               "debug",
                               "--drain-seconds",
                               "0",
                               "--lease-namespace",
                               name};
  for (const char* service : {"datastore", "entitystore", "customizer", "evaluator", "guardrail", "puller", "trainer"})
    out.push_back(fmt::format("--image-{0}=registry.example.com/stackgate-{0}:1", service));
  out.insert(out.end(), setting.flags.begin(), setting.flags.end());
  return out;
}

}  // namespace

Trial::Trial(const Setting& setting, kube::Client& client, const kube::Config& config, const std::string& name)
    : setting_(setting),
      name_(name),
      proxy_(config),
      operator_(command_of(setting, name, proxy_.port()), fmt::format("{}/{}.log", setting.scratch, name)),
      stage_(client, name) {}

void Trial::begin() {
  stage_.make_namespace();
  carry_out("before");
  keep_running();
}

void Trial::carry_out(const std::string& stage) {
  for (const Change& each : setting_.scenario)
    if (each.stage == stage) stage_.carry_out(each);
}

void Trial::keep_running() {
  if (operator_.has_ended()) throw std::runtime_error("the operator ended by itself: see its log");
  if (operator_.is_running()) return;
  operator_.start();
  ++starts_;
}

State Trial::wait_for_rest(std::chrono::milliseconds quiet) {
  const auto end = Clock::now() + setting_.patience;
  State seen = stage_.look();
  std::uint64_t writes = proxy_.counts().writes;
  auto since = Clock::now();
  while (Clock::now() < end) {
    std::this_thread::sleep_for(100ms);
    keep_running();
    State now = stage_.look();
    const std::uint64_t more = proxy_.counts().writes;
    if (now != seen || more != writes || !stage_.all_told()) since = Clock::now();
    if (Clock::now() - since >= quiet) return now;
    seen = std::move(now);
    writes = more;
  }
  throw std::runtime_error("the operator does not come to rest");
}

Golden Trial::first_run() {
  begin();
  Golden out;
  for (const Change& each : setting_.scenario) {
    if (each.stage == "before" || out.contains(each.stage)) continue;
    carry_out(each.stage);
    out[each.stage] = wait_for_rest(2'000ms);
  }
  return out;
}

void Trial::wait_for(const std::string& stage, const State& wanted) {
  const auto end = Clock::now() + setting_.patience;
  while (true) {
    keep_running();
    const State now = stage_.look();
    if (now == wanted && stage_.all_told()) return;
    if (Clock::now() > end)
      throw std::runtime_error(
          fmt::format("after the stage '{}' the state is another:\n{}", stage, difference(wanted, now)));
    std::this_thread::sleep_for(100ms);
  }
}

void Trial::run(const Golden& golden) {
  begin();
  std::string done = "before";
  for (const Change& each : setting_.scenario) {
    if (each.stage == done || each.stage == "before") continue;
    done = each.stage;
    carry_out(done);
    wait_for(done, golden.at(done));
  }
  proxy_.spoil({});
  const State rest = wait_for_rest(700ms);
  if (rest != golden.at(done))
    throw std::runtime_error("the state did not last:\n" + difference(golden.at(done), rest));
}

void Trial::repeat(const std::string& stage, const State& wanted) {
  carry_out(stage);
  wait_for(stage, wanted);
}

void Trial::restart_for_nothing() {
  operator_.kill();
  const std::uint64_t before = proxy_.counts().writes;
  keep_running();
  wait_for_rest(1'000ms);
  if (const auto writes = proxy_.counts().writes - before; writes > 0)
    throw std::runtime_error(fmt::format("{} writes after a restart although nothing had changed", writes));
}

}  // namespace stackgate::chaos
