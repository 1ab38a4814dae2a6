// Data sets as strangers write them: task files are read or refused with reasons; of what is read every sample can be
// asked, and whatever is answered it has scores or a fault. Files are parted by lines "@@name".
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/harness/harness.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate;
using namespace stackgate::evaluator;

namespace {

using Files = std::map<std::string, std::string, std::less<>>;

Files parted(std::string_view text) {
  Files files;
  std::string* file = &files["t.yaml"];
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with("@@"))
      file = &files[std::string(line.substr(2))];
    else
      file->append(line).append("\n");
    at = end + 1;
  }
  return files;
}

DataSource source_of(const Files& files) {
  DataSource out;
  for (const auto& [path, text] : files) out.paths.push_back(path);
  out.text = [&files](std::string_view path) -> std::expected<std::string, std::string> {
    const auto found = files.find(path);
    if (found == files.end()) return std::unexpected("there is no such file");
    return found->second;
  };
  return out;
}

void check_task(const Task& task) {
  std::vector<std::vector<double>> values;
  for (std::size_t sample = 0; sample < task.samples(); ++sample) {
    const auto asked = task.next(sample, {});
    if (asked.empty()) std::abort();
    std::vector<Reply> replies(asked.size());
    for (std::size_t i = 0; i < replies.size(); ++i)
      replies[i].answer =
          Answer{.text = "#### 12 (A) is a: answer", .likelihood = Likelihood{.sum = -1.5, .tokens = 2}};
    if (!task.next(sample, replies).empty()) std::abort();
    const Scored scored = task.score(sample, replies);
    json::Document document;
    if (!scored.fault.empty() || scored.values.empty() || !json::parse(scored.record, document)) std::abort();
    values.push_back(scored.values);
    if (task.score(sample, std::vector<Reply>(asked.size(), {.fault = "away"})).fault.empty()) std::abort();
  }
  if (task.result(values, 0).scores.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Files files = parted({reinterpret_cast<const char*>(data), size});
  EvaluationRequest request;
  request.tasks = {"t", "g"};
  request.limit = 3;
  for (const bool chat : {false, true}) {
    request.requests.chat = chat;
    validate::Findings warnings;
    const auto tasks = make_harness_tasks(request, source_of(files), &warnings);
    if (!tasks) {
      if (!validate::has_errors(tasks.error())) std::abort();
      for (const validate::Finding& each : tasks.error())
        if (each.path.empty() || each.problem.empty() || each.fix.empty()) std::abort();
      continue;
    }
    for (const auto& task : *tasks) check_task(*task);
  }
  return 0;
}
