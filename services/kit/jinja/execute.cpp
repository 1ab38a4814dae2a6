#include <memory>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/loop.hpp"
#include "services/kit/jinja/machine.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/token.hpp"

namespace stackgate::jinja {
namespace {

/// At a loop's end: whoever still holds it may also be held by what it holds.
struct LoopRelease {
  Machine& machine;
  const std::shared_ptr<Loop>& loop;
  ~LoopRelease() {
    if (loop.use_count() > 1) machine.keep(loop);
  }
};

}  // namespace

Status Machine::put(std::string_view text) {
  TRY(fits(out_->size() + text.size()));
  if (captures_ > 0) TRY(allocate(text.size()));
  out_->append(text);
  return {};
}

Status Machine::put_value(const Value& value) {
  if (value.text() != nullptr) return put(value.bytes());
  return append_str(*this, *out_, value);
}

Machine::Ran Machine::run(const Body& body) {
  for (const Stmt& stmt : body) {
    if (stmt.kind == StmtKind::text) {
      TRY(put(stmt.text));
      continue;
    }
    const Nested level(nesting_);
    Ran ran = run_one(stmt);
    if (!ran && ran.error().line == 0) place(ran.error(), program_.source, stmt.at);
    if (!ran || *ran != Flow::on) return ran;
  }
  return Flow::on;
}

Machine::Ran Machine::run_one(const Stmt& stmt) {
  TRY(spend());
  switch (stmt.kind) {
    case StmtKind::text:
      break;
    case StmtKind::output: {
      const Value value = TRY(eval(*stmt.expr));
      TRY(put_value(value));
      break;
    }
    case StmtKind::branch:
      return run_branch(stmt);
    case StmtKind::loop:
      return run_loop(stmt);
    case StmtKind::set: {
      Value value = TRY(eval(*stmt.expr));
      TRY(assign(stmt.target, std::move(value)));
      break;
    }
    case StmtKind::set_block:
      return run_set_block(stmt);
    case StmtKind::macro: {
      TRY(allocate(sizeof(Macro) + sizeof(Frame)));
      frame_->set(stmt.target.symbol, macro(stmt.macro));
      break;
    }
    case StmtKind::call_block:
      TRY(run_call_block(stmt));
      break;
    case StmtKind::filter_block:
      return run_filter_block(stmt);
    case StmtKind::with:
      return run_with(stmt);
    case StmtKind::generation:
      return run_generation(stmt);
    case StmtKind::leave:
      return Flow::leave;
    case StmtKind::next:
      return Flow::next;
  }
  return Flow::on;
}

Status Machine::assign(const Target& target, Value value) {
  if (target.is_tuple) {
    const ListPtr items = TRY(items_of(value));
    if (items->items.size() != target.parts.size())
      return type_fault(
          concat({std::to_string(items->items.size()), " values for ", std::to_string(target.parts.size()), " names"}));
    for (std::size_t i = 0; i < target.parts.size(); ++i) TRY(assign(target.parts[i], items->items[i]));
    return {};
  }
  if (target.attribute.empty()) {
    frame_->set(target.symbol, std::move(value));
    return {};
  }
  const Value* there = nullptr;
  for (const Frame* frame = frame_.get(); frame != nullptr && there == nullptr; frame = frame->parent.get())
    there = frame->find(target.symbol);
  if (there == nullptr) there = &globals_[target.symbol];
  auto* space = there->object() == nullptr ? nullptr : dynamic_cast<Namespace*>(there->object()->get());
  if (space == nullptr)
    return type_fault(concat({"\"", program_.names[target.symbol],
                              "\" is no namespace(); only those have attributes "
                              "that can be set"}));
  TRY(allocate(sizeof(Dict::Item)));
  space->set(target.attribute, std::move(value));
  return {};
}

Machine::Ran Machine::run_branch(const Stmt& stmt) {
  for (const auto& [condition, body] : stmt.branches)
    if (!condition || TRY(holds(*condition))) return run(body);
  return Flow::on;
}

Machine::Ran Machine::run_scoped(const Body& body) {
  const FrameScope scope(*this);
  return run(body);
}

Machine::Ran Machine::run_loop(const Stmt& stmt) {
  const Value over = TRY(eval(*stmt.expr));
  ListPtr items = TRY(items_of(over));
  auto loop = std::make_shared<Loop>(stmt, std::move(items), frame_);
  const LoopRelease at_end{*this, loop};
  bool was_empty = true;
  while (TRY(loop->advance(*this))) {
    was_empty = false;
    const FrameScope scope(*this);
    frame_->set(static_cast<Symbol>(Fixed::loop), Value(ObjectPtr(loop)));
    TRY(assign(stmt.target, loop->current()));
    if (TRY(run(stmt.body)) == Flow::leave) break;
  }
  return was_empty && !stmt.otherwise.empty() ? run_scoped(stmt.otherwise) : Ran(Flow::on);
}

Machine::Ran Machine::capture(const Body& body, std::string& out) {
  const Nested level(captures_);
  std::string* before = std::exchange(out_, &out);
  Ran ran = run(body);
  out_ = before;
  return ran;
}

Machine::Ran Machine::run_set_block(const Stmt& stmt) {
  std::string out;
  {
    const FrameScope scope(*this);
    const Flow flow = TRY(capture(stmt.body, out));
    if (flow != Flow::on) return flow;
  }
  Value value = TRY(text(std::move(out)));
  if (stmt.expr) value = TRY(eval_filter(*stmt.expr, &value));
  TRY(assign(stmt.target, std::move(value)));
  return Flow::on;
}

Machine::Ran Machine::run_filter_block(const Stmt& stmt) {
  std::string out;
  const FrameScope scope(*this);
  const Flow flow = TRY(capture(stmt.body, out));
  if (flow != Flow::on) return flow;
  const Value value = TRY(text(std::move(out)));
  const Value filtered = TRY(eval_filter(*stmt.expr, &value));
  TRY(put_value(filtered));
  return Flow::on;
}

Machine::Ran Machine::run_with(const Stmt& stmt) {
  std::vector<Value> values;
  values.reserve(stmt.assignments.size());
  for (const auto& assignment : stmt.assignments) values.push_back(TRY(eval(*assignment.second)));
  const FrameScope scope(*this);
  for (std::size_t i = 0; i < values.size(); ++i) TRY(assign(stmt.assignments[i].first, std::move(values[i])));
  return run(stmt.body);
}

Machine::Ran Machine::run_generation(const Stmt& stmt) {
  const std::size_t begin = out_->size();
  Ran ran = run_scoped(stmt.body);
  if (captures_ == 0) generated_.push_back({begin, out_->size()});
  return ran;
}

Value Machine::macro(const std::shared_ptr<const MacroCode>& code) {
  if (kept_frames_.empty() || kept_frames_.back() != frame_) kept_frames_.push_back(frame_);
  return ObjectPtr(std::make_shared<Macro>(code, frame_));
}

Status Machine::run_call_block(const Stmt& stmt) {
  TRY(allocate(sizeof(Macro) + sizeof(Frame)));
  const Value caller = macro(stmt.macro);
  const Value out = TRY(eval_call(*stmt.expr, &caller));
  return put_value(out);
}

}  // namespace stackgate::jinja
