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

/// The files of what it was handed stay.
void hold_handed(Visitor& visitor, const Wanted& now) {
  Held held;
  for (const auto& [name, path] : visitor.replica.handed()) {
    if (const auto here = now.held.find(path); here != now.held.end())
      held.insert(*here);
    else if (const auto still = visitor.held.find(path); still != visitor.held.end())
      held.insert(*still);
  }
  visitor.held = std::move(held);
}

}  // namespace

std::chrono::milliseconds Upstream::Impl::round(std::size_t index, const std::stop_token& stop) {
  const Asking asking{.authorization = bearer(options.api_key_file),
                      .give_up = [&stop] { return stop.stop_requested(); }};
  std::uint64_t number = 0;
  {
    const std::scoped_lock lock(mutex);
    authorization = asking.authorization;
    number = ++known[index].looks_begun;
  }
  look_at(index, asking);
  {
    const std::scoped_lock lock(mutex);
    known[index].looks_ended = number;
  }
  looked.notify_all();
  send_parked();
  return options.interval;
}

void Upstream::Impl::log_fault(std::size_t index, const std::string& fault) {
  const std::scoped_lock lock(mutex);
  if (known[index].fault == fault) return;
  known[index].fault = fault;
  known[index].healthy = fault.empty();
  const std::string& origin = visitors[index].replica.origin();
  if (fault.empty())
    log::info("an upstream answers", {{"upstream", origin}});
  else
    log::warning("an upstream cannot be used", {{"upstream", origin}, {"error", fault}});
}

void Upstream::Impl::look_at(std::size_t index, const Asking& asking) {
  Replica& replica = visitors[index].replica;
  const auto models = replica.models(asking);
  if (!models) return log_fault(index, models.error());
  replica.has_listed(*models);
  const auto kind_so_far = [this] {
    const std::scoped_lock lock(mutex);
    return kind;
  };
  if (!kind_so_far()) {
    const Kind found = replica.find_kind(*models, asking);
    const std::scoped_lock lock(mutex);
    if (!kind) log::info("the upstream's kind", {{"kind", to_string(found)}, {"base", base_of(*models).id}});
    if (!kind) kind = found;
  }
  const WantedPtr now = want();
  const auto& adapters_now = now->adapters;
  Known found{.models = of_others(adapters_now, *models, replica.handed(), theirs)};
  std::vector<Step> needed;
  if (takes_adapters(*kind_so_far())) {
    needed = steps(adapters_now, *models, replica.handed(), theirs);
    for (const WantedAdapter& each : adapters_now)
      if (each.hindrance.empty()) found.has[each.name] = each.path;
    for (const Step& step : needed) found.has.erase(step.name);
  } else if (*kind_so_far() == Kind::llama_server) {
    if (const auto list = replica.numbered(asking))
      for (const NumberedAdapter& each : *list) found.numbers[each.name] = each.id;
    for (const WantedAdapter& each : adapters_now)
      if (found.numbers.contains(each.name))
        found.has[each.name] = each.path;
      else
        found.refused[each.name] = "llama-server takes adapters at its start alone, and was given none of this name";
  }
  {  // nobody is sent there for what is being brought
    const std::scoped_lock lock(mutex);
    Known& here = known[index];
    here.models = std::move(found.models);
    here.has = std::move(found.has);
    here.numbers = std::move(found.numbers);
    here.healthy = true;
    if (*kind == Kind::llama_server) here.refused = std::move(found.refused);
    names_there.clear();
    for (const Known& each : known)
      for (const ListedModel& model : each.models) names_there.push_back(model.id);
  }
  log_fault(index, {});
  if (takes_adapters(*kind_so_far())) bring(index, needed, asking);
  hold_handed(visitors[index], *now);
}

/// Files are held as long as an engine may read them again.
WantedPtr Upstream::Impl::want() {
  const std::scoped_lock one(wanting);
  WantedPtr before;
  Kind its_kind{};
  {
    const std::scoped_lock lock(mutex);
    before = wanted;
    its_kind = *kind;
  }
  auto now = std::make_shared<Wanted>();
  now->adapters = wanted_adapters(adapters.offered(), its_kind, options.adapter_dir, options.upstream_dir);
  for (std::size_t i = 0; i < now->adapters.size(); ++i) {
    const WantedAdapter& each = now->adapters[i];
    for (const std::string& name : each.names) now->by_name[name] = i;
    if (!each.hindrance.empty()) continue;
    if (const auto held = before->held.find(each.path); held != before->held.end())
      now->held.insert(*held);
    else if (auto adapter = adapters.hold(each.name))
      now->held[each.path] = std::move(adapter);
  }
  const std::scoped_lock lock(mutex);
  wanted = now;
  return now;
}

/// Gives the replica what it lacks.
void Upstream::Impl::bring(std::size_t index, const std::vector<Step>& needed, const Asking& asking) {
  Visitor& visitor = visitors[index];
  const std::string& origin = visitor.replica.origin();
  const Kind its_kind = [this] {
    const std::scoped_lock lock(mutex);
    return *kind;
  }();
  const auto time = std::chrono::steady_clock::now();
  std::map<std::string, Visitor::Rest> resting;  // what is not needed any more rests no longer
  const auto show_refused = [&] {
    const std::scoped_lock lock(mutex);
    known[index].refused.clear();
    for (const auto& [name, each] : resting) known[index].refused[name] = each.why;
  };
  for (const Step& step : needed) {
    const auto before = visitor.resting.find(step.name);
    if (before != visitor.resting.end() && before->second.path == step.path && time < before->second.until)
      resting.insert(*before);
  }
  show_refused();
  for (const Step& step : needed) {
    if (resting.contains(step.name)) continue;
    const auto fault = visitor.replica.carry_out(its_kind, step, asking);
    if (asking.give_up()) break;
    calls.at({word(step.action), fault ? "failed" : "done"}).add();
    if (fault) {
      log::warning("an upstream did not take an adapter",
                   {{"upstream", origin}, {"adapter", step.name}, {"action", word(step.action)}, {"error", *fault}});
      resting[step.name] = {step.path, *fault, time + rest};
      show_refused();
      continue;
    }
    log::info("an upstream has taken an adapter",
              {{"upstream", origin}, {"adapter", step.name}, {"action", word(step.action)}});
    if (step.action == Step::Action::unload) continue;
    {
      const std::scoped_lock lock(mutex);
      known[index].has[step.name] = step.path;
    }
    send_parked();
  }
  visitor.resting = std::move(resting);
}

}  // namespace stackgate::inference::upstream
