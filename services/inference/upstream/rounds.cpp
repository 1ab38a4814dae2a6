#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "services/inference/upstream/state.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/startup.hpp"

namespace stackgate::inference::upstream {
namespace {

constexpr std::chrono::seconds rest{30};  // of an adapter that an engine has refused

std::string bearer(const std::string& file) {
  if (file.empty()) return {};
  auto text = run::small_file(file);
  if (!text) return {};
  while (!text->empty() && static_cast<unsigned char>(text->back()) <= ' ') text->pop_back();
  return "Bearer " + *text;
}

std::string_view word(Step::Action action) {
  return action == Step::Action::load ? "load" : action == Step::Action::replace ? "replace" : "unload";
}

}  // namespace

std::chrono::milliseconds Upstream::Impl::round() {
  key = bearer(options.api_key_file);
  const auto offered = adapters.offered();
  for (std::size_t i = 0; i < replicas.size(); ++i) look_at(i, offered);
  let_go();
  std::deque<std::shared_ptr<Passage>> waiting;
  {
    const std::scoped_lock lock(mutex);
    authorization = key;
    std::swap(waiting, parked);
  }
  for (const auto& each : waiting) dispatch(each);
  return options.interval;
}

void Upstream::Impl::log_fault(std::size_t index, const std::string& fault) {
  const std::scoped_lock lock(mutex);
  if (known[index].fault == fault) return;
  known[index].fault = fault;
  known[index].healthy = fault.empty();
  if (fault.empty())
    log::info("an upstream answers", {{"upstream", replicas[index].origin()}});
  else
    log::warning("an upstream cannot be used", {{"upstream", replicas[index].origin()}, {"error", fault}});
}

void Upstream::Impl::look_at(std::size_t index, const std::vector<OfferedAdapter>& offered) {
  Replica& replica = replicas[index];
  const auto models = replica.models(key);
  if (!models) return log_fault(index, models.error());
  if (!kind) {
    const Kind found = replica.find_kind(*models, key);
    log::info("the upstream's kind", {{"kind", to_string(found)}, {"base", base_of(*models).id}});
    const std::scoped_lock lock(mutex);
    kind = found;
  }
  auto now_wanted = wanted_adapters(offered, *kind, options.adapter_dir, options.upstream_dir);
  hold(now_wanted);
  {
    const std::scoped_lock lock(mutex);
    wanted = std::move(now_wanted);
    by_name.clear();
    for (std::size_t i = 0; i < wanted.size(); ++i)
      for (const std::string& name : wanted[i].names) by_name[name] = i;
  }
  const std::string& theirs = options.upstream_dir.empty() ? options.adapter_dir : options.upstream_dir;
  auto others = of_others(wanted, *models, replica.handed(), theirs);
  Paths has;
  std::map<std::string, std::int64_t> numbers;
  if (*kind == Kind::vllm) has = brought_about(index, *models);
  if (*kind == Kind::llama_server) {
    if (const auto list = replica.numbered(key))
      for (const NumberedAdapter& each : *list) numbers[each.name] = each.id;
    for (const WantedAdapter& each : wanted)
      if (numbers.contains(each.name)) has[each.name] = each.path;
  }
  {
    const std::scoped_lock lock(mutex);
    known[index].models = std::move(others);
    known[index].has = std::move(has);
    known[index].numbers = std::move(numbers);
    known[index].healthy = true;
    names_there.clear();
    for (const Known& each : known)
      for (const ListedModel& model : each.models) names_there.push_back(model.id);
  }
  log_fault(index, {});
}

/// Files stay as long as an engine may read them again.
void Upstream::Impl::hold(const std::vector<WantedAdapter>& now_wanted) {
  for (const WantedAdapter& each : now_wanted)
    if (each.hindrance.empty() && !held.contains(each.path))
      if (auto adapter = adapters.hold(each.name)) held[each.path] = std::move(adapter);
}

void Upstream::Impl::let_go() {
  std::vector<std::string> used;
  {
    const std::scoped_lock lock(mutex);
    for (const WantedAdapter& each : wanted) used.push_back(each.path);
  }
  for (const Replica& each : replicas)
    for (const auto& [name, path] : each.handed()) used.push_back(path);
  std::erase_if(held, [&](const auto& each) { return std::ranges::find(used, each.first) == used.end(); });
}

/// What the replica has of ours after it has been given what it lacks.
Paths Upstream::Impl::brought_about(std::size_t index, const std::vector<ListedModel>& models) {
  Replica& replica = replicas[index];
  const std::string& theirs = options.upstream_dir.empty() ? options.adapter_dir : options.upstream_dir;
  Paths has;
  for (const WantedAdapter& each : wanted)
    if (each.hindrance.empty()) has[each.name] = each.path;
  const auto needed = steps(wanted, models, replica.handed(), theirs);
  {  // nobody is sent there for these meanwhile
    const std::scoped_lock lock(mutex);
    for (const Step& step : needed) known[index].has.erase(step.name);
  }
  const auto now = std::chrono::steady_clock::now();
  for (const Step& step : needed) {
    const auto place = std::pair(index, step.name);
    const auto resting_here = resting.find(place);
    const bool rests =
        resting_here != resting.end() && resting_here->second.first == step.path && now < resting_here->second.second;
    std::optional<std::string> fault = "it rests";
    if (!rests) {
      fault = replica.carry_out(step, key);
      calls.at({word(step.action), fault ? "failed" : "done"}).add();
      if (fault)
        log::warning(
            "an upstream did not take an adapter",
            {{"upstream", replica.origin()}, {"adapter", step.name}, {"action", word(step.action)}, {"error", *fault}});
      else
        log::info("an upstream has taken an adapter",
                  {{"upstream", replica.origin()}, {"adapter", step.name}, {"action", word(step.action)}});
    }
    if (!fault) {
      resting.erase(place);
    } else {
      has.erase(step.name);
      if (!rests) resting[place] = {step.path, now + rest};
    }
  }
  return has;
}

}  // namespace stackgate::inference::upstream
