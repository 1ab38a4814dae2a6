#include "services/guardrail/dialog/flows.hpp"

#include <algorithm>
#include <set>

#include "services/guardrail/library/library.hpp"

namespace stackgate::guardrail {
namespace {

using colang::EventKind;
using colang::Flow;
using colang::Instruction;
using colang::Op;

bool fits(const colang::EventPattern& pattern, const Happening& event, const ArgumentMatches& matches) {
  switch (pattern.kind) {
    case EventKind::any_user_intent:
      return event.kind == EventKind::user_intent;
    case EventKind::any_bot_intent:
      return event.kind == EventKind::bot_intent;
    default:
      break;
  }
  return pattern.kind == event.kind && pattern.name == event.name &&
         std::ranges::all_of(pattern.arguments, [&](const auto& each) { return matches(each, event.values); });
}

bool is_any(EventKind kind) { return kind == EventKind::any_user_intent || kind == EventKind::any_bot_intent; }

/// Where the flow goes on that stands at `at`, if it waits for this event.
std::optional<Continuation> continuation(const Flow& flow, std::uint32_t at, const Happening& event,
                                         const ArgumentMatches& matches) {
  if (at >= flow.code.size()) return std::nullopt;
  const Instruction& here = flow.code[at];
  if (here.op == Op::wait && fits(here.pattern, event, matches))
    return Continuation{.flow = &flow, .at = at + 1, .any = is_any(here.pattern.kind)};
  if (here.op == Op::wait_any)
    for (const colang::WaitBranch& branch : here.branches)
      if (fits(branch.pattern, event, matches))
        return Continuation{.flow = &flow, .at = branch.target, .any = is_any(branch.pattern.kind)};
  return std::nullopt;
}

/// Nothing: the configuration has changed.
std::optional<std::vector<Frame>> frames_of(const colang::Program& program, const std::vector<WaitingFlow>& flows) {
  std::vector<Frame> out;
  for (const WaitingFlow& each : flows) {
    const Flow* flow = program.find_flow(each.flow);
    if (flow == nullptr || each.at == 0 || each.at > flow->code.size() || flow->code[each.at - 1].op != Op::call)
      return std::nullopt;
    out.push_back({flow, each.at});
  }
  return out;
}

bool begins_with_event(const Flow& flow) {
  return flow.kind != colang::FlowKind::subflow && !flow.code.empty() &&
         (flow.code.front().op == Op::wait || flow.code.front().op == Op::wait_any);
}

void look(const colang::Program& program, const Flow& flow, std::set<const Flow*>& seen, RailReach& reach) {
  if (!seen.insert(&flow).second) return;
  for (const Instruction& each : flow.code) {
    const bool assigns = each.op == Op::assign || each.op == Op::execute || each.op == Op::generate;
    if (assigns && std::ranges::find(messages_of_turns, each.variable) != messages_of_turns.end()) reach.alters = true;
    if (each.op == Op::execute) {
      const BuiltInRail* rail = find_built_in_action(each.name);
      reach.asks |= rail != nullptr && rail->asks;
      reach.runs_custom |= !is_built_in_action(each.name);
    }
    if (each.op == Op::call) {
      if (each.expression)
        reach.alters = true;
      else
        look(program, program.flows[each.target], seen, reach);
    }
  }
}

}  // namespace

std::vector<Continuation> continuations(const colang::Program& program, const std::vector<WaitingFlow>& waiting,
                                        const Happening& event, const ArgumentMatches& matches) {
  std::vector<Continuation> out;
  for (std::size_t i = waiting.size(); i-- > 0;) {  // the latest first
    const Flow* flow = program.find_flow(waiting[i].flow);
    auto callers = frames_of(program, waiting[i].callers);
    if (flow == nullptr || !callers) continue;
    if (auto found = continuation(*flow, waiting[i].at, event, matches)) {
      found->waiting = i;
      found->callers = std::move(*callers);
      out.push_back(*found);
    }
  }
  for (const Flow& flow : program.flows) {
    if (!begins_with_event(flow)) continue;
    if (std::ranges::any_of(out, [&](const Continuation& each) { return each.flow == &flow; })) continue;
    if (auto found = continuation(flow, 0, event, matches)) out.push_back(*found);
  }
  std::ranges::stable_sort(out, [](const Continuation& a, const Continuation& b) {
    if (a.flow->priority != b.flow->priority) return a.flow->priority > b.flow->priority;
    return !a.any && b.any;
  });
  return out;
}

bool starts_with_events(const colang::Program& program) {
  return std::ranges::any_of(program.flows, begins_with_event);
}

bool names_intents(const colang::Program& program) {
  const auto named = [](const colang::EventPattern& pattern) { return pattern.kind == EventKind::user_intent; };
  return std::ranges::any_of(program.flows, [&](const Flow& flow) {
    return std::ranges::any_of(flow.code, [&](const Instruction& each) {
      return (each.op == Op::wait && named(each.pattern)) ||
             (each.op == Op::wait_any && std::ranges::any_of(each.branches, named, &colang::WaitBranch::pattern));
    });
  });
}

RailReach reach_of(const colang::Program& program, const Flow& rail) {
  std::set<const Flow*> seen;
  RailReach reach;
  look(program, rail, seen, reach);
  return reach;
}

}  // namespace stackgate::guardrail
