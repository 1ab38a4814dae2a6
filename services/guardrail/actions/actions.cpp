#include "services/guardrail/actions/actions.hpp"

#include <map>

#include "services/guardrail/actions/job.hpp"
#include "services/guardrail/actions/search.hpp"

namespace stackgate::guardrail {
namespace {

using Table = std::map<std::string_view, void (*)(const JobPtr&)>;

const Table& built_in() {
  static const Table table = [] {
    Table out;
    for (const auto group : {generating_actions(), dialog_actions(), checking_actions(), detecting_actions()})
      for (const BuiltIn& each : group) out.emplace(each.name, each.run);
    return out;
  }();
  return table;
}

}  // namespace

Actions::Actions(const ModelClient& models, ActionOptions options)
    : models_(models), options_(std::move(options)), indexes_(std::make_shared<SearchIndexes>()) {}
Actions::~Actions() = default;

const std::vector<std::string_view>& Actions::names() {
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> out;
    for (const auto& [name, run] : built_in()) out.push_back(name);
    return out;
  }();
  return names;
}

ActionHandle Actions::run(ActionRequest request, std::shared_ptr<const ActionEnvironment> environment,
                          OnActionResult then) const {
  const auto custom = environment->custom;
  const bool is_custom = custom && custom->knows(request.action);
  const auto found = built_in().find(request.action);
  std::optional<ActionRequest> of_custom;
  if (is_custom) of_custom = request;
  const auto job = std::make_shared<Job>(models_, options_, indexes_, std::move(request), environment, std::move(then));
  ActionHandle handle(job->handle());
  if (is_custom) {
    custom->run(std::move(*of_custom), std::move(environment), [job](ActionResult result) {
      if (result.failed) return job->fail(std::move(result.error));
      job->answer(std::move(result.value), std::move(result.context_updates), std::move(result.events));
    });
  } else if (found != built_in().end()) {
    found->second(job);
  } else {
    job->fail("there is no action of this name, neither built in nor in actions.py");
  }
  return handle;
}

}  // namespace stackgate::guardrail
