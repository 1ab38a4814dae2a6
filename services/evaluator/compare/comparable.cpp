#include "services/evaluator/compare/comparable.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "services/evaluator/suite/results.hpp"
#include "services/kit/base/fnv.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace comparable_detail {

std::string text_of(const json::Value& object, std::string_view key) {
  const json::Value* found = object.find(key);
  if (found == nullptr || found->is_null()) return {};
  return found->is_string() ? std::string(found->string()) : json::to_json(*found);
}

std::string shown(const std::string& text) { return text.empty() ? "none" : fmt::format("\"{}\"", text); }

class Differences {
 public:
  Differences(std::size_t index, const std::string& name, const std::string& first, validate::Findings& findings)
      : index_(index), name_(name), first_(first), findings_(findings) {}
  void hold(std::string_view what, const std::string& theirs, const std::string& of_first) {
    if (theirs == of_first) return;
    findings_.push_back({.rule = "comparison-differs",
                         .path = fmt::format("evaluations[{}]", index_),
                         .problem = fmt::format("{} of \"{}\" is {}, of \"{}\" {}", what, name_, shown(theirs), first_,
                                                shown(of_first)),
                         .fix = "compare evaluations that asked the same, or set \"force\" to true"});
  }

 private:
  std::size_t index_;
  const std::string& name_;
  const std::string& first_;
  validate::Findings& findings_;
};

}  // namespace comparable_detail

const TaskResult* ReadCompared::find(std::string_view task) const {
  for (const TaskResult& each : tasks)
    if (each.name == task) return &each;
  return nullptr;
}

std::expected<ReadCompared, std::string> read_compared(const Compared& compared) {
  using namespace comparable_detail;
  ReadCompared out;
  json::Document document;
  const auto request = json::parse(compared.request, document);
  if (!request) return std::unexpected(fmt::format("its request is no JSON: {}", request.error().message));
  out.framework = text_of(*request, "framework");
  out.dataset = text_of(*request, "dataset");
  if (const json::Value* rows = request->find("rows"))
    out.dataset = fmt::format("rows {:016x}", fnv1a(json::to_json(*rows)));
  out.limit = text_of(*request, "limit");
  out.seed = text_of(*request, "seed");
  auto tasks = read_results(compared.results);
  if (!tasks) return std::unexpected(fmt::format("its results cannot be read: {}", tasks.error()));
  out.tasks = *std::move(tasks);
  return out;
}

validate::Findings incomparable(std::span<const Compared> compared, std::span<const ReadCompared> read) {
  validate::Findings out;
  const ReadCompared& first = read.front();
  for (std::size_t i = 1; i < read.size(); ++i) {
    comparable_detail::Differences differences(i, compared[i].name, compared.front().name, out);
    differences.hold("the framework", read[i].framework, first.framework);
    differences.hold("the data set and its revision", read[i].dataset, first.dataset);
    differences.hold("the limit", read[i].limit, first.limit);
    differences.hold("the seed", read[i].seed, first.seed);
    for (const TaskResult& task : read[i].tasks) {
      const TaskResult* same = first.find(task.name);
      if (same == nullptr) continue;
      differences.hold(fmt::format("the version of task {}", task.name), task.version, same->version);
      differences.hold(fmt::format("the number of shots of task {}", task.name), std::to_string(task.num_fewshot),
                       std::to_string(same->num_fewshot));
    }
  }
  return out;
}

}  // namespace stackgate::evaluator
