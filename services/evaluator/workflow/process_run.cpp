#include "services/evaluator/workflow/process_run.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "services/evaluator/workflow/protocol/framework_results.hpp"
#include "services/evaluator/workflow/protocol/log_capture.hpp"
#include "services/evaluator/workflow/protocol/program.hpp"
#include "services/evaluator/workflow/watching.hpp"
#include "services/kit/base/replace_all.hpp"
#include "services/kit/subprocess/lines.hpp"
#include "services/kit/subprocess/process.hpp"

namespace stackgate::evaluator {
namespace process_run_detail {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds grace{10};
constexpr std::size_t longest_line = 16'384;  // the marked lines have 8,019 bytes

/// A directory of its own, removed with what is in it.
class WorkDirectory {
 public:
  explicit WorkDirectory(const std::string& below) : path_(below + "/stackgate-evaluation-XXXXXX") {
    if (::mkdtemp(path_.data()) == nullptr) {
      fault_ = errno;
      path_.clear();
    }
  }
  ~WorkDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;
  const std::string& path() const { return path_; }
  int fault() const { return fault_; }

 private:
  std::string path_;
  int fault_ = 0;
};

std::string_view path_variable() {
  const char* found = std::getenv("PATH");
  return found == nullptr ? "/usr/local/bin:/usr/bin:/bin" : found;
}

/// Keys are in here, and nowhere else: not in arguments, which every user of the machine sees.
std::vector<std::string> environment(const EvaluationRequest& request, std::string_view id,
                                     const WorkflowOptions& options, const std::string& directory) {
  std::vector<std::string> out{fmt::format("PATH={}", path_variable()),
                               fmt::format("HOME={}", directory),
                               fmt::format("TMPDIR={}", directory),
                               fmt::format("STACKGATE_OUTPUT={}/output", directory),
                               "LANG=C.UTF-8",
                               "PYTHONUNBUFFERED=1"};
  for (const char* name : {"HF_HOME", "HF_DATASETS_CACHE", "HF_HUB_OFFLINE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
                           "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"})
    if (const char* value = std::getenv(name); value != nullptr) out.push_back(fmt::format("{}={}", name, value));
  for (const Variable& each : variables_of(request, id)) out.push_back(fmt::format("{}={}", each.name, each.value));
  const auto key = [&out](std::string_view name, const std::string& value) {
    if (!value.empty()) out.push_back(fmt::format("{}={}", name, value));
  };
  key(key_variables()[0].name, request.target.api_key);
  if (request.judge) key(key_variables()[1].name, request.judge->api_key);
  if (request.embeddings) key(key_variables()[2].name, request.embeddings->api_key);
  key(datastore_variable, options.datastore_url);
  key(results_variable, results_place(options, id));
  key(key_variables()[3].name, options.datastore_token);
  return out;
}

/// A framework may print what it was given.
std::string without_keys(std::string_view line, const EvaluationRequest& request, const WorkflowOptions& options) {
  std::string out(line);
  const auto hide = [&out](const std::string& key) { out = replace_all(out, key, masked_key); };
  hide(request.target.api_key);
  if (request.judge) hide(request.judge->api_key);
  if (request.embeddings) hide(request.embeddings->api_key);
  hide(options.datastore_token);
  return out;
}

std::unexpected<WorkflowFailure> failed(std::string message) {
  return std::unexpected(WorkflowFailure{.message = std::move(message)});
}

std::string end_words(const FrameworkProgram& program, int status, const LogCapture& log) {
  const std::string last =
      log.last_line().empty() ? std::string() : fmt::format("; its output ends with: {}", log.last_line());
  return status > 128 ? fmt::format("{} was ended by signal {}{}", program.program, status - 128, last)
                      : fmt::format("{} ended with status {}{}", program.program, status, last);
}

}  // namespace process_run_detail

bool is_installed(std::string_view program) {
  std::string_view rest = process_run_detail::path_variable();
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(folder.size() + 1, rest.size()));
    if (!folder.empty() && ::access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

std::expected<WorkflowResults, WorkflowFailure> run_process(const EvaluationRequest& request, std::string_view id,
                                                            const WorkflowOptions& options,
                                                            const WorkflowWatch& watch) {
  using namespace process_run_detail;
  const FrameworkProgram& program = *program_of(request.framework);
  Watching watching(watch);
  const WorkDirectory directory(options.work_directory);
  if (directory.path().empty())
    return failed(fmt::format("no directory can be made below {}: {}", options.work_directory,
                              std::generic_category().message(directory.fault())));
  watching.event(fmt::format("{} starts on this machine", program.program));
  auto started = subprocess::Process::start({.arguments = {"/bin/sh", "-c", script_of(program)},
                                             .environment = environment(request, id, options, directory.path()),
                                             .directory = directory.path(),
                                             .errors = subprocess::Errors::with_output});
  if (!started) return failed(fmt::format("{} cannot be started: {}", program.program, started.error().message));
  subprocess::Process& process = **started;
  process.close_input();
  watching.event(fmt::format("{} is running", program.program));
  LogCapture log;
  subprocess::Lines lines(
      [&](std::string_view line) {
        const bool is_marked = line.starts_with("stackgate-results") || line.starts_with("stackgate-samples");
        log.add("", is_marked ? std::string(line) : without_keys(line, request, options), [&](std::string_view shown) {
          watching.log(shown);
          if (const auto percent = percent_in(shown)) watching.progress(*percent * 0.99, "of the framework's work");
        });
      },
      longest_line);
  const auto until = Clock::now() + options.deadline;
  const bool ended = process.drain(
      [&](std::string_view piece) {
        lines.feed(piece);
        return true;
      },
      [&] { return watching.stop() || watching.leave() || Clock::now() > until; });
  lines.finish();
  const int status = ended ? process.wait() : process.end(grace);
  if (watching.stop() || watching.leave())
    return std::unexpected(WorkflowFailure{.message = "it was stopped", .stopped = true});
  if (!ended) return failed(fmt::format("{} took longer than {} s", program.program, options.deadline.count()));
  if (status != 0) return failed(end_words(program, status, log));
  std::string text = log.results().value_or("");
  StoredFiles stored;
  if (text.empty()) {
    auto files = watching.stored();
    for (const auto late = Clock::now() + options.patience;
         !files && Clock::now() < late && !watching.stop() && !watching.leave(); files = watching.stored()) {
      watching.event(files.error());
      std::this_thread::sleep_for(options.pause);
    }
    if (!files) return failed(files.error());
    stored = std::move(*files);
    text = results_in(stored);
  }
  if (text.empty()) return failed(fmt::format("{} printed no whole results", program.program));
  auto tasks = read_framework_results(text);
  if (!tasks) return failed(fmt::format("the framework's results cannot be used: {}", tasks.error()));
  watching.progress(100, "results read");
  return WorkflowResults{.tasks = *std::move(tasks),
                         .samples = read_framework_samples(stored.empty() ? log.samples() : stored),
                         .text = std::move(text),
                         .log_tail = log.tail()};
}

}  // namespace stackgate::evaluator
