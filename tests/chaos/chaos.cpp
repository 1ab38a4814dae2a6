// Repeats one scenario under disturbance; each run must end in the state of an undisturbed one.
//   chaos crash   kills the operator at each of its writes
//   chaos faults  spoils what passes between operator and API server, by seeds
//   chaos leak    goes on for long under faults and looks at the operator's memory
// Each run prints "ok NAME" or "not ok NAME" with what was found.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "services/kit/run/startup.hpp"
#include "services/kit/settings/settings.hpp"
#include "tests/chaos/claims.hpp"
#include "tests/chaos/trial.hpp"

namespace stackgate::chaos {
namespace {

struct Options {
  Setting setting;
  std::string scenario;
  Claims claims;
  unsigned parallel = 0;
  unsigned every = 0;      // crash: each n-th write
  bool alternate = false;  // crash: either before or after the answer, in turns
  unsigned first = 0, seeds = 0;
  double rate = 0;
  unsigned rounds = 0;
  double memory_limit = 60;  // MiB
  double growth_limit = 8;   // MiB, leak
};

class Campaign {
 public:
  explicit Campaign(Options options) : options_(std::move(options)), config_(load(options_.setting.kubeconfig)) {
    auto client = kube::Client::connect(config_);
    if (!client) throw std::runtime_error(client.error().message);
    client_ = std::move(*client);
    options_.setting.scenario = read_scenario(options_.scenario);
  }

  int crash() {
    undisturbed();
    // The answer lost, the answer received.
    std::vector<KillAt> points;
    for (unsigned n = 1; n <= usual_.writes; n += options_.every)
      for (const bool answered : {false, true})
        if (!options_.alternate || answered == (n % 2 == 0)) points.push_back({.write = n, .answered = answered});
    each(points.size(), [&](std::size_t i) {
      const KillAt& point = points[i];
      check(fmt::format("killed at write {}, {} its answer: the same end", point.write,
                        point.answered ? "after" : "before"),
            fmt::format("kill-{}{}", point.write, point.answered ? "a" : "b"), 2, [&](Trial& trial) {
              trial.proxy().kill_at(point, [&] { trial.process().kill(); });
              trial.run(golden_);
              if (trial.starts() == 1) ++not_reached_;
              if (i % 8 == 0) trial.restart_for_nothing();
            });
    });
    std::cout << fmt::format("{} of {} points came after the last write of their run\n", not_reached_.load(),
                             points.size());
    return end();
  }

  int faults() {
    undisturbed();
    each(options_.seeds, [&](std::size_t i) {
      const auto seed = static_cast<unsigned>(options_.first + i);
      check(fmt::format("faults by seed {}: the same end", seed), fmt::format("seed-{}", seed), 6, [&](Trial& trial) {
        // Few: such a one lasts for longer than a time-out.
        const unsigned silent = seed % 25 == 0 ? 1 + seed % static_cast<unsigned>(usual_.writes) : 0;
        trial.proxy().spoil({.seed = seed, .rate = options_.rate, .silent_write = silent});
        try {
          trial.run(golden_);
        } catch (const std::exception& error) {
          throw std::runtime_error(fmt::format(
              "again: tests/e2e/operator-chaos.sh with CHAOS_FIRST={} CHAOS_SEEDS=1\n{}", seed, error.what()));
        }
      });
    });
    return end();
  }

  int leak() {
    undisturbed();
    check(fmt::format("memory after {} rounds of changes under faults is what it was after {}", options_.rounds,
                      options_.rounds / 4),
          "leak", 0, [&](Trial& trial) {
            trial.run(golden_);
            trial.proxy().spoil({.seed = options_.first, .rate = options_.rate});
            double early = 0;
            for (unsigned i = 0; i < options_.rounds; ++i) {
              if (i == options_.rounds / 4) early = trial.process().resident_mib();
              trial.repeat("back", golden_.at("back"));
              trial.repeat("forth", golden_.at("forth"));
            }
            const double late = trial.process().resident_mib();
            std::cout << fmt::format("resident: {:.1f} MiB, then {:.1f} MiB (limit: + {} MiB)\n", early, late,
                                     options_.growth_limit);
            if (late > early + options_.growth_limit) throw std::runtime_error("it grows");
          });
    return end();
  }

 private:
  static kube::Config load(const std::string& kubeconfig) {
    auto config = kube::load_kubeconfig(kubeconfig);
    if (!config) throw std::runtime_error(config.error().message);
    config->user_agent = "chaos";
    return *config;
  }

  std::string name_of(std::string_view run) const { return fmt::format("chaos-{}-{}", ::getpid(), run); }

  /// Twice: what differs between two undisturbed runs would tell nothing about disturbed ones.
  void undisturbed() {
    Trial trial(options_.setting, *client_, config_, name_of("first"));
    golden_ = trial.first_run();
    if (const std::string missing = unkept(options_.claims, golden_); !missing.empty())
      throw std::runtime_error("the undisturbed run is not what the scenario claims:\n" + missing);
    usual_ = trial.proxy().counts();
    trial.restart_for_nothing();
    std::cout << fmt::format("undisturbed: {} objects, {} writes, {} requests, {:.1f} MiB\n",
                             golden_.rbegin()->second.size(), usual_.writes, usual_.requests,
                             trial.process().resident_mib());
    check("undisturbed once more: the same end", "second", 1, [&](Trial& second) { second.run(golden_); });
    trial.clean_up();
  }

  /// `most`: so many times the requests of the undisturbed run are allowed; 0: any number.
  void check(const std::string& name, const std::string& run, unsigned most, const std::function<void(Trial&)>& body) {
    std::string fault;
    const std::string id = name_of(run);
    try {
      Trial trial(options_.setting, *client_, config_, id);
      body(trial);
      const ProxyCounts counts = trial.proxy().counts();
      const double memory = trial.process().resident_mib();
      const std::scoped_lock lock(mutex_);
      most_requests_ = std::max(most_requests_, counts.requests);
      most_writes_ = std::max(most_writes_, counts.writes);
      most_memory_ = std::max(most_memory_, memory);
      for (std::size_t i = 1; i < counts.faults.size(); ++i) faults_[i] += counts.faults[i];
      if (most > 0 && counts.requests > most * usual_.requests + 60)
        fault = fmt::format("{} requests; undisturbed there were {}", counts.requests, usual_.requests);
      else if (memory > options_.memory_limit)
        fault = fmt::format("{:.1f} MiB resident", memory);
      if (fault.empty()) trial.clean_up();
    } catch (const std::exception& error) {
      fault = error.what();
    }
    const std::scoped_lock lock(mutex_);
    if (fault.empty()) {
      std::cout << "ok " << name << std::endl;
      std::filesystem::remove(fmt::format("{}/{}.log", options_.setting.scratch, id));
      return;
    }
    ++failed_;
    std::cout << "not ok " << name << "\n  the operator's log: " << options_.setting.scratch << "/" << id << ".log\n  "
              << fault << std::endl;
  }

  void each(std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < options_.parallel; ++i)
      threads.emplace_back([&] {
        for (std::size_t n = next++; n < count; n = next++) body(n);
      });
  }

  int end() const {
    std::cout << fmt::format("at most {} writes and {} requests in a run, {:.1f} MiB resident (limit {})\n",
                             most_writes_, most_requests_, most_memory_, options_.memory_limit);
    std::string met;
    for (std::size_t i = 1; i < faults_.size(); ++i)
      if (faults_[i] > 0) met += fmt::format(" {} {},", faults_[i], to_string(static_cast<Fault>(i)));
    if (!met.empty()) std::cout << "faults:" << met.substr(0, met.size() - 1) << "\n";
    return failed_ == 0 ? 0 : 1;
  }

  Options options_;
  const kube::Config config_;
  std::unique_ptr<kube::Client> client_;
  Golden golden_;
  ProxyCounts usual_;
  std::mutex mutex_;
  std::atomic<unsigned> not_reached_{0};
  unsigned failed_ = 0;
  std::uint64_t most_requests_ = 0, most_writes_ = 0;
  double most_memory_ = 0;
  std::array<std::uint64_t, 15> faults_{};
};

settings::Program program() {
  using settings::Kind;
  const auto count = [](std::string_view name, std::string_view fallback) {
    return settings::Setting{.name = name, .kind = Kind::integer, .fallback = fallback};
  };
  settings::Program out{.name = "chaos",
                        .summary = "the operator under disturbance",
                        .commands = {{"crash", "kills the operator at each of its writes"},
                                     {"faults", "spoils what passes between operator and API server, by seeds"},
                                     {"leak", "goes on for long under faults and looks at the operator's memory"}},
                        .settings = {{.name = "operator", .required = true},
                                     {.name = "kubeconfig", .required = true},
                                     {.name = "scenario", .required = true},
                                     {.name = "scratch", .required = true},
                                     {.name = "whole", .kind = Kind::list, .help = "STAGE"},
                                     {.name = "gone", .kind = Kind::list, .help = "STAGE:PLURAL/NAME"},
                                     {.name = "flag", .kind = Kind::list, .help = "one more of the operator's"},
                                     {.name = "alternate", .kind = Kind::flag},
                                     {.name = "rate", .fallback = "0.1"},
                                     count("parallel", "4"),
                                     count("patience", "60"),
                                     count("every", "1"),
                                     count("first", "1"),
                                     count("seeds", "100"),
                                     count("rounds", "60")}};
  for (settings::Setting& each : out.settings) each.variable = settings::no_variable;
  return out;
}

Options options_from(const settings::Values& values) {
  Options out;
  const auto number = [&](std::string_view name) { return static_cast<unsigned>(values.integer(name)); };
  out.setting.binary = values.text("operator");
  out.setting.kubeconfig = values.text("kubeconfig");
  out.setting.scratch = values.text("scratch");
  out.setting.flags = values.list("flag");
  out.setting.patience = std::chrono::seconds(values.integer("patience"));
  out.scenario = values.text("scenario");
  out.claims.whole = values.list("whole");
  for (const std::string& each : values.list("gone")) {
    const std::size_t colon = each.find(':');
    if (colon == std::string::npos) throw std::runtime_error("--gone STAGE:PLURAL/NAME, not " + each);
    out.claims.gone.emplace_back(each.substr(0, colon), each.substr(colon + 1));
  }
  out.parallel = number("parallel");
  out.every = number("every");
  out.alternate = values.flag("alternate");
  out.first = number("first");
  out.seeds = number("seeds");
  out.rate = std::stod(values.text("rate"));
  out.rounds = number("rounds");
  return out;
}

}  // namespace
}  // namespace stackgate::chaos

int main(int argc, char** argv) {
  using namespace stackgate::chaos;
  const std::vector<const char*> words(argv + 1, argv + argc);
  const auto nothing = [](const std::string&) { return std::nullopt; };
  const auto read = stackgate::settings::read(program(), words, nothing, nothing, "");
  if (!read.to_print.empty() || !read.findings.empty()) {
    std::cerr << (read.to_print.empty() ? to_text(program(), read.findings) : read.to_print);
    return 2;
  }
  const Options options = options_from(read.values);
  ::signal(SIGPIPE, SIG_IGN);  // a connection that the operator has left, with it or by being killed
  stackgate::run::raise_file_limit();
  try {
    Campaign campaign(options);
    const std::string& command = read.values.command();
    return command == "crash" ? campaign.crash() : command == "faults" ? campaign.faults() : campaign.leak();
  } catch (const std::exception& error) {
    std::cout << "not ok the runs can begin\n  " << error.what() << "\n";
    return 1;
  }
}
