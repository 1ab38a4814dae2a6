#include "services/guardrail/colang/lower.hpp"

#include <algorithm>

#include "services/guardrail/colang/expression.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

class Lowering {
 public:
  Lowering(const Flow& flow, const IntentNames& intents, Report& report)
      : flow_(flow), intents_(intents), report_(report) {}

  std::vector<Instruction> lower(std::vector<Statement> body) {
    // A flow that begins with what the bot says waits for it, unless it is called by its name.
    if (!body.empty() && body.front().kind == StatementKind::say) {
      Statement& first = body.front();
      const bool unnamed = flow_.kind == FlowKind::flow && flow_.name.starts_with("flow at ");
      const bool by_name = !first.name.empty() && first.text.empty() && (flow_.kind == FlowKind::extension || unnamed);
      if ((first.any && flow_.kind != FlowKind::subflow) || by_name) {
        first.kind = StatementKind::wait;
        first.patterns.push_back({.kind = first.any ? EventKind::any_bot_intent : EventKind::bot_intent,
                                  .name = std::move(first.name),
                                  .arguments = {}});
      }
    }
    block(body);
    emit(Op::end, flow_.place);
    for (const Jump& jump : jumps_) {
      const auto found = labels_.find(jump.label);
      if (found != labels_.end()) {
        code_[jump.at].target = found->second;
        continue;
      }
      std::vector<std::string_view> known;
      known.reserve(labels_.size());
      for (const auto& [name, at] : labels_) known.push_back(name);
      report_.error(rule::label, code_[jump.at].place,
                    concat({"this flow has no label ", shown(jump.label), report_.did_you_mean(jump.label, known)}),
                    concat({"write where it goes on: label ", jump.label}));
    }
    return std::move(code_);
  }

 private:
  struct Jump {
    std::size_t at;
    std::string label;
  };
  struct Loop {
    std::uint32_t again = 0;
    std::vector<std::size_t> leaving{};
  };

  std::uint32_t here() const { return static_cast<std::uint32_t>(code_.size()); }
  Instruction& emit(Op op, const Place& place) { return code_.emplace_back(Instruction{.op = op, .place = place}); }
  std::size_t jump(const Place& place) {
    emit(Op::jump, place);
    return code_.size() - 1;
  }
  void here_from(const std::vector<std::size_t>& jumps) {
    for (const std::size_t at : jumps) code_[at].target = here();
  }

  void block(std::vector<Statement>& statements) {
    bool left = false;
    for (Statement& each : statements) {
      if (each.kind == StatementKind::label) left = false;
      if (left) {
        report_.warning(rule::unreachable, each.place, "this is never reached: the statement above leaves the block",
                        "remove it, or move it up");
      }
      const bool leaves = leaves_always(each);
      statement(each);
      left = leaves;
    }
  }

  // Whether nothing behind it in its block is reached.
  static bool leaves_always(const Statement& each) {
    switch (each.kind) {
      case StatementKind::stop:
      case StatementKind::give_back:
      case StatementKind::leave:
      case StatementKind::repeat:
      case StatementKind::go_to:
        return true;
      case StatementKind::condition:
        return !each.branches.back().condition && std::ranges::all_of(each.branches, body_leaves);
      case StatementKind::choice:
        return std::ranges::all_of(each.branches, body_leaves);
      default:
        return false;
    }
  }
  static bool body_leaves(const Branch& branch) {
    bool left = false;
    for (const Statement& each : branch.body) left = (left && each.kind != StatementKind::label) || leaves_always(each);
    return left;
  }

  void statement(Statement& each) {
    switch (each.kind) {
      case StatementKind::wait:
        return wait(each);
      case StatementKind::say:
        return say(each);
      case StatementKind::execute: {
        Instruction& out = emit(Op::execute, each.place);
        out.name = std::move(each.name);
        out.variable = std::move(each.variable);
        out.arguments = std::move(each.arguments);
        return;
      }
      case StatementKind::assign:
        return assign(each.place, std::move(each.variable), *std::move(each.expression));
      case StatementKind::generate: {
        Instruction& out = emit(Op::generate, each.place);
        out.variable = std::move(each.variable);
        out.text = std::move(each.text);
        return;
      }
      case StatementKind::call:
        return call(each);
      case StatementKind::condition:
        return condition(each);
      case StatementKind::loop:
        return loop(each);
      case StatementKind::choice:
        return choice(each);
      case StatementKind::create_event: {
        Instruction& out = emit(Op::create_event, each.place);
        out.name = std::move(each.name);
        out.arguments = std::move(each.arguments);
        return;
      }
      case StatementKind::stop:
        emit(Op::stop, each.place);
        return;
      case StatementKind::give_back:
        if (each.expression) assign(each.place, std::string(returned_variable), *std::move(each.expression));
        emit(Op::end, each.place);
        return;
      case StatementKind::leave:
        return leave(each);
      case StatementKind::repeat:
        return repeat(each);
      case StatementKind::go_to:
        jumps_.push_back({jump(each.place), std::move(each.name)});
        return;
      case StatementKind::label:
        return label(each);
    }
  }

  EventPattern resolved(EventPattern pattern) const {
    if (pattern.kind != EventKind::user_intent) return pattern;
    if (const auto found = intents_.find(pattern.name); found != intents_.end()) pattern.name = found->second;
    return pattern;
  }

  void wait(Statement& each) {
    if (each.patterns.size() == 1) {
      emit(Op::wait, each.place).pattern = resolved(std::move(each.patterns.front()));
      return;
    }
    Instruction& out = emit(Op::wait_any, each.place);
    for (EventPattern& pattern : each.patterns) out.branches.push_back({resolved(std::move(pattern)), here()});
  }

  void say(Statement& each) {
    Instruction& out = emit(each.any ? Op::bot_any : Op::bot, each.place);
    out.name = std::move(each.name);
    out.said_variable = only_variable(each.text);
    out.text = std::move(each.text);
    out.said = std::move(each.said);
  }

  void assign(const Place& place, std::string variable, Expression value) {
    Instruction& out = emit(Op::assign, place);
    out.variable = std::move(variable);
    out.expression = std::move(value);
  }

  void call(Statement& each) {
    Instruction& out = emit(Op::call, each.place);
    out.name = std::move(each.name);
    out.expression = std::move(each.expression);
    if (each.variable.empty()) return;
    const Line line{.text = concat({"$", returned_variable}),
                    .parts = {{0, static_cast<std::uint32_t>(report_.offset(each.place))}}};
    auto value =
        compile_expression({.file = each.place.file, .line = &line, .begin = 0, .end = line.text.size()}, report_);
    if (value) assign(each.place, std::move(each.variable), *std::move(value));
  }

  void condition(Statement& each) {
    std::vector<std::size_t> ends;
    for (Branch& branch : each.branches) {
      const bool last = &branch == &each.branches.back();
      std::size_t test = code_.size();
      const bool tested = branch.condition.has_value();
      if (tested) emit(Op::branch, branch.place).expression = std::move(branch.condition);
      block(branch.body);
      if (!last) ends.push_back(jump(branch.place));
      if (tested) code_[test].target = here();
    }
    here_from(ends);
  }

  void loop(Statement& each) {
    Branch& branch = each.branches.front();
    const std::size_t test = code_.size();
    emit(Op::branch, each.place).expression = std::move(branch.condition);
    loops_.push_back({.again = static_cast<std::uint32_t>(test)});
    block(branch.body);
    code_[jump(each.place)].target = static_cast<std::uint32_t>(test);
    code_[test].target = here();
    here_from(loops_.back().leaving);
    loops_.pop_back();
  }

  void choice(Statement& each) {
    const std::size_t wait = code_.size();
    emit(Op::wait_any, each.place);
    std::vector<std::size_t> ends;
    for (Branch& branch : each.branches) {
      for (EventPattern& pattern : branch.patterns)
        code_[wait].branches.push_back({resolved(std::move(pattern)), here()});
      ++choices_;
      block(branch.body);
      --choices_;
      if (&branch != &each.branches.back()) ends.push_back(jump(branch.place));
    }
    here_from(ends);
  }

  void leave(const Statement& each) {
    if (loops_.empty()) {
      report_.error(rule::syntax, each.place, "\"break\" stands outside of a \"while\"",
                    "write return to end the flow");
      return;
    }
    loops_.back().leaving.push_back(jump(each.place));
  }

  // In a branch of `when` without a loop it goes on behind the branches, as the end of its block does.
  void repeat(const Statement& each) {
    if (!loops_.empty()) {
      code_[jump(each.place)].target = loops_.back().again;
    } else if (choices_ == 0) {
      report_.error(rule::syntax, each.place, "\"continue\" stands outside of a \"while\"", "write pass to do nothing");
    }
  }

  void label(Statement& each) {
    if (!labels_.emplace(each.name, here()).second)
      report_.error(rule::label, each.place, concat({"this flow has another label ", shown(each.name)}),
                    "rename one of them");
  }

  const Flow& flow_;
  const IntentNames& intents_;
  Report& report_;
  std::vector<Instruction> code_;
  std::vector<Loop> loops_;
  int choices_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::vector<Jump> jumps_;
};

}  // namespace

std::vector<Instruction> lower(const Flow& flow, std::vector<Statement> body, const IntentNames& intents,
                               Report& report) {
  return Lowering(flow, intents, report).lower(std::move(body));
}

}  // namespace stackgate::guardrail::colang
