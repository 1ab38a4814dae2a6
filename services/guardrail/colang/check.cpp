#include "services/guardrail/colang/check.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "services/guardrail/colang/expression.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::array<std::string_view, 22> context = {"user_message",
                                                      "last_user_message",
                                                      "bot_message",
                                                      "last_bot_message",
                                                      "relevant_chunks",
                                                      "config",
                                                      "generation_options",
                                                      "event",
                                                      "last_user_intent",
                                                      "last_bot_intent",
                                                      "retrieved_for",
                                                      "relevant_chunks_sep",
                                                      "triggered_input_rail",
                                                      "triggered_output_rail",
                                                      "skip_output_rails",
                                                      "check_facts",
                                                      "check_hallucination",
                                                      "hallucination_warning",
                                                      "model",
                                                      "tool_calls",
                                                      "tool_messages",
                                                      returned_variable};

using NameSet = std::set<std::string_view, std::less<>>;

bool waits(const Instruction& each) { return each.op == Op::wait || each.op == Op::wait_any; }

class Checker {
 public:
  Checker(Program& program, const KnownNames& names, Report& report)
      : program_(program), names_(names), report_(report) {}

  void check() {
    for (const auto& [name, at] : program_.flow_by_name) flow_names_.push_back(name);
    for (const auto& [name, at] : program_.user_intent_by_name) intent_names_.push_back(name);
    for (const auto& [name, at] : program_.bot_message_by_name) message_names_.push_back(name);
    variables_.insert(context.begin(), context.end());
    variables_.insert(names_.variables.begin(), names_.variables.end());
    for (const Flow& flow : program_.flows)
      for (const Instruction& each : flow.code) {
        if (!each.variable.empty()) variables_.insert(each.variable);
      }
    variable_list_.assign(variables_.begin(), variables_.end());
    for (const UserIntent& intent : program_.user_intents)
      if (intent.examples.empty())
        report_.warning(rule::intent, intent.place, concat({"user intent ", shown(intent.name), " has no examples"}),
                        "write what users say below it, indented, between \" and \"");
    for (const BotMessage& message : program_.bot_messages)
      for (const std::string& text : message.sources) variables_of(text, message.place);
    for (Flow& flow : program_.flows) {
      for (Instruction& each : flow.code) instruction(each);
      never_starts(flow);
      loops(flow);
    }
    recursion();
  }

 private:
  void instruction(Instruction& each) {
    switch (each.op) {
      case Op::wait:
        pattern(each.pattern, each.place);
        break;
      case Op::wait_any:
        for (const WaitBranch& branch : each.branches) pattern(branch.pattern, each.place);
        break;
      case Op::bot:
        if (each.text.empty()) message(each.name, each.place);
        variables_of(each.text, each.place);
        break;
      case Op::execute:
        action(each);
        break;
      case Op::call:
        if (!each.name.empty()) call(each);
        break;
      default:
        break;
    }
    if (each.expression) expression(*each.expression);
    for (const Argument& argument : each.arguments) expression(argument.value);
  }

  void pattern(const EventPattern& pattern, const Place& at) {
    for (const Argument& argument : pattern.arguments) expression(argument.value);
    if (pattern.kind == EventKind::bot_intent) return message(pattern.name, at);
    if (pattern.kind != EventKind::user_intent || program_.user_intent_by_name.contains(pattern.name)) return;
    report_.warning(rule::intent, at,
                    concat({"user intent ", shown(pattern.name), " is not defined",
                            report_.did_you_mean(pattern.name, intent_names_)}),
                    concat({"write examples of it: define user ", pattern.name}));
  }

  void message(const std::string& name, const Place& at) {
    if (name.empty() || name == "stop" || program_.bot_message_by_name.contains(name)) return;
    report_.warning(rule::message, at,
                    concat({"bot message ", shown(name), " is not defined: the model writes it",
                            report_.did_you_mean(name, message_names_)}),
                    concat({"write its text, if it has one: define bot ", name}));
  }

  void action(const Instruction& each) {
    if (!names_.action || names_.action(each.name)) return;
    report_.error(rule::action, each.place,
                  concat({"there is no action ", shown(each.name), report_.did_you_mean(each.name, names_.actions)}),
                  "define it in actions.py, or name one of the built-in actions");
  }

  void call(Instruction& each) {
    const auto found = program_.flow_by_name.find(each.name);
    if (found != program_.flow_by_name.end()) {
      each.target = found->second;
      return;
    }
    report_.error(rule::flow, each.place,
                  concat({"there is no flow ", shown(each.name), report_.did_you_mean(each.name, flow_names_)}),
                  concat({"define it: define subflow ", each.name}));
  }

  void expression(const Expression& each) {
    for (const std::string& name : each.reads) variable(name, each.place);
  }
  void variables_of(std::string_view text, const Place& at) {
    if (text.find('$') == std::string_view::npos) return;
    for (const std::string& name : variables_of_text(text)) variable(name, at);
  }
  void variable(std::string_view name, const Place& at) {
    if (variables_.contains(name) || !reported_.emplace(name).second) return;
    report_.warning(rule::variable, at,
                    concat({"nothing sets $", name, " here: it is None unless an action or the client sets it",
                            report_.did_you_mean(name, variable_list_)}),
                    concat({"set it: $", name, " = …"}));
  }

  // A flow without a name that waits for nothing at its beginning.
  void never_starts(const Flow& flow) {
    if (!flow.name.starts_with("flow at ") || flow.kind == FlowKind::subflow || waits(flow.code.front())) return;
    report_.warning(rule::unreachable, flow.place, "this flow never starts: it has no name and waits for nothing",
                    "begin it with what the user says: user NAME; or name it: define flow NAME");
  }

  // Backward jumps with nothing between that could end them.
  void loops(const Flow& flow) {
    for (std::uint32_t at = 0; at < flow.code.size(); ++at) {
      const Instruction& jump = flow.code[at];
      if (jump.op != Op::jump || jump.target > at) continue;
      if (at - jump.target > looks_left_) return;  // of so many steps nobody asks whether they end
      looks_left_ -= at - jump.target;
      std::set<std::string_view, std::less<>> reads;
      bool ends = false;
      bool tested = false;
      for (std::uint32_t i = jump.target; i <= at && !ends; ++i) {
        const Instruction& each = flow.code[i];
        ends = waits(each) || each.op == Op::stop || each.op == Op::end || each.op == Op::call ||
               (each.op == Op::execute && each.variable.empty()) || (each.op == Op::jump && each.target > at);
        if (each.op != Op::branch) continue;
        if (each.target <= at) continue;
        tested = true;
        for (const std::string& name : each.expression->reads) reads.insert(name);
      }
      for (std::uint32_t i = jump.target; i <= at && !ends; ++i)
        ends = reads.contains(flow.code[i].variable) && !flow.code[i].variable.empty();
      if (ends) continue;
      report_.error(rule::loop, jump.place,
                    tested
                        ? "this loop does not end: nothing in it waits, leaves it or sets a variable of its condition"
                        : "this loop does not end: nothing in it waits or leaves it",
                    tested && !reads.empty() ? concat({"set $", *reads.begin(), " in it, or leave it with break"})
                                             : std::string("wait in it (user …), or leave it with break or return"));
    }
  }

  // Flows that call themselves before they wait for anything. `certainly`: without a condition in between.
  void recursion() {
    struct Edge {
      std::uint32_t to;
      Place place;
      bool certain;
    };
    std::vector<std::vector<Edge>> edges(program_.flows.size());
    for (std::size_t flow = 0; flow < program_.flows.size(); ++flow) {
      const auto& code = program_.flows[flow].code;
      bool certain = true;
      for (const Instruction& each : code) {
        if (waits(each) || each.op == Op::stop || each.op == Op::end) {
          if (certain) break;
          continue;
        }
        if (each.op == Op::branch || each.op == Op::jump) certain = false;
        if (each.op == Op::call && each.name.size() > 0 && program_.flow_by_name.contains(each.name))
          edges[flow].push_back({each.target, each.place, certain});
      }
    }
    // Depth first without recursion of our own; an edge to what is on the path closes a ring.
    enum : std::uint8_t { fresh, on_path, done };
    std::vector<std::uint8_t> state(edges.size(), fresh);
    struct Step {
      std::uint32_t flow;
      std::size_t next;
    };
    for (std::uint32_t start = 0; start < edges.size(); ++start) {
      if (state[start] != fresh) continue;
      std::vector<Step> path{{start, 0}};
      state[start] = on_path;
      while (!path.empty()) {
        Step& top = path.back();
        if (top.next == edges[top.flow].size()) {
          state[top.flow] = done;
          path.pop_back();
          continue;
        }
        const Edge& edge = edges[top.flow][top.next++];
        if (state[edge.to] == on_path) {
          if (edge.certain)
            report_.error(
                rule::loop, edge.place,
                concat({"flow ", shown(program_.flows[edge.to].name), " calls itself before it waits for anything"}),
                "wait in between (user …), or loop with while");
        } else if (state[edge.to] == fresh) {
          state[edge.to] = on_path;
          path.push_back({edge.to, 0});
        }
      }
    }
  }

  Program& program_;
  const KnownNames& names_;
  Report& report_;
  std::vector<std::string_view> flow_names_, intent_names_, message_names_, variable_list_;
  NameSet variables_;
  std::set<std::string, std::less<>> reported_;  // of each variable once
  std::uint32_t looks_left_ = 5'000'000;
};

}  // namespace

std::span<const std::string_view> context_variables() { return context; }

void check(Program& program, const KnownNames& names, Report& report) { Checker(program, names, report).check(); }

}  // namespace stackgate::guardrail::colang
