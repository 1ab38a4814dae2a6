#include "services/evaluator/sandbox/sandbox.hpp"

#include <fmt/format.h>

#include "services/evaluator/sandbox/run_program_script.hpp"
#include "services/kit/crypto/digest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/subprocess/process.hpp"

namespace stackgate::evaluator {
namespace {

using subprocess::Process;

constexpr std::size_t longest_answer = 64U << 10U;

std::string line_for(std::string_view program, std::string_view word, const SandboxOptions& options) {
  return json::object_text([&](json::Writer& w) {
           w.member("program", program);
           w.member("word", word);
           w.array("layers", [&] {
             for (const std::string& each : options.layers) w.value(each);
           });
           w.member("seconds", options.timeout.count() + 1);
           w.member("scratch", options.scratch);
         }) +
         "\n";
}

/// Of a process that ended without a line of ours.
std::string reason_of_end(int status) {
  if (status < 128) return "ended itself before its end";
  return fmt::format("was ended by signal {}", status - 128);
}

std::expected<ProgramOutcome, std::string> read_outcome(std::string_view answer, std::string_view word, int status) {
  json::Document document;
  const auto root = json::parse(answer.substr(0, answer.find('\n')), document);
  if (root && root->find("refused") != nullptr)
    return std::unexpected("programs cannot be run: " + std::string(json::text(&*root, {"refused"})));
  if (!root || json::text(&*root, {"word"}) != word) return ProgramOutcome{.reason = reason_of_end(status)};
  return ProgramOutcome{.passed = json::flag(&*root, {"passed"}),
                        .reason = std::string(json::text(&*root, {"reason"}))};
}

}  // namespace

std::string to_json(const ProgramOutcome& outcome) {
  return json::object_text([&](json::Writer& w) {
    w.member("passed", outcome.passed);
    w.member("reason", outcome.reason);
  });
}

std::expected<ProgramOutcome, std::string> Sandbox::run(std::string_view program, const std::function<bool()>& stop) {
  {
    std::unique_lock lock(mutex_);
    while (running_ >= options_.at_once) {
      changed_.wait_for(lock, std::chrono::milliseconds(500));
      if (stop && stop()) return std::unexpected("stopped");
    }
    ++running_;
  }
  struct Leave {
    Sandbox& of;
    ~Leave() {
      const std::scoped_lock lock(of.mutex_);
      --of.running_;
      of.changed_.notify_one();
    }
  } const leave{*this};

  auto process =
      Process::start({.arguments = {options_.python, "-I", "-B", "-c", run_program_script()},
                      .environment = {"PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "HOME=/tmp"},
                      .directory = "/",
                      .limits = {.memory_bytes = options_.memory, .file_bytes = options_.scratch, .open_files = 64},
                      .silence = options_.timeout + std::chrono::seconds(5)});
  if (!process) return std::unexpected("programs cannot be run: " + process.error().message);
  const std::string word = crypto::random_hex(16);
  const auto until = std::chrono::steady_clock::now() + options_.timeout;
  std::string answer;
  bool late = false, stopped = false, too_long = false;
  const auto output = [&](std::string_view piece) {
    answer += piece;
    too_long = answer.size() > longest_answer;
    return !too_long;
  };
  const auto ended = [&] {
    late = std::chrono::steady_clock::now() > until;
    stopped = stop && stop();
    return late || stopped;
  };
  (*process)->feed(line_for(program, word, options_), output);
  (*process)->close_input();
  (*process)->drain(output, ended);
  const int status = late || stopped || too_long ? (*process)->end(std::chrono::milliseconds(0)) : (*process)->wait();
  if (stopped) return std::unexpected("stopped");
  if (late) return ProgramOutcome{.reason = fmt::format("took longer than {} seconds", options_.timeout.count())};
  if (too_long) return ProgramOutcome{.reason = "wrote what only the sandbox may write"};
  return read_outcome(answer, word, status);
}

std::expected<void, std::string> Sandbox::check() {
  auto outcome = run("assert 1 + 1 == 2\n");
  if (!outcome) return std::unexpected(std::move(outcome.error()));
  if (!outcome->passed) return std::unexpected("programs cannot be run: " + outcome->reason);
  return {};
}

}  // namespace stackgate::evaluator
