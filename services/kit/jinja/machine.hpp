// One rendering: the tree is walked, names are looked up in frames, output grows.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/jinja/ast.hpp"
#include "services/kit/jinja/budget.hpp"
#include "services/kit/jinja/nested.hpp"

namespace stackgate::jinja {

/// The names of a scope. Macros keep the frame in which they were made.
struct Frame {
  std::shared_ptr<Frame> parent;
  std::vector<std::pair<Symbol, Value>> names;

  const Value* find(Symbol symbol) const;
  void set(Symbol symbol, Value value);
};
using FramePtr = std::shared_ptr<Frame>;

enum class Flow : std::uint8_t { on, leave, next };

class Machine : public Budget {
 public:
  using Ran = std::expected<Flow, Fault>;

  /// All of them outlive it.
  Machine(const Program& program, const Dict& context, const Limits& limits, const LateFilter& late);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  std::expected<Rendering, Fault> render();
  Result evaluate_formula() { return eval(*program_.formula); }

  const Program& program() const { return program_; }
  const Environment& environment() const { return *program_.environment; }

  /// bool(value); strict environments refuse undefined values.
  std::expected<bool, Fault> truth(const Value& value) const;
  /// What a loop walks: the items of a list, the keys of a dict, the characters of a text.
  std::expected<ListPtr, Fault> items_of(const Value& value);
  Result call(const Value& callee, Arguments& arguments);
  Result apply(const Callee& callee, const Value& subject, Arguments& arguments);
  /// `arguments` begin with the subject.
  Result apply_late(std::string_view filter, const Arguments& arguments);
  /// A filter or test by its name in a text: map("upper").
  Result filter(std::string_view name, const Value& subject, Arguments& arguments);
  std::expected<bool, Fault> test(std::string_view name, const Value& subject, Arguments& arguments);
  Result call_macro(const MacroCode& code, const FramePtr& closure, Arguments& arguments);
  /// Parted from others at the end.
  void keep(ObjectPtr object) { objects_.push_back(std::move(object)); }

  Result eval(const Expr& expr);
  Status assign(const Target& target, Value value);
  const FramePtr& frame() const { return frame_; }

 private:
  friend class FrameScope;
  friend class Loop;

  // evaluate.cpp
  Result eval_kind(const Expr& expr);
  Result eval_name(const Expr& expr);
  Result eval_sequence(const Expr& expr);
  Result eval_dict(const Expr& expr);
  Result eval_attribute(const Expr& expr);
  Result eval_item(const Expr& expr);
  Result eval_slice(const Value& subject, const Expr& slice);
  Result eval_call(const Expr& expr, const Value* caller = nullptr);
  Result eval_filter(const Expr& expr, const Value* subject = nullptr);
  Result eval_test(const Expr& expr);
  Result eval_condition(const Expr& expr);
  Result eval_logical(const Expr& expr);
  Result eval_compare(const Expr& expr);
  Result eval_concat(const Expr& expr);
  std::expected<bool, Fault> holds(const Expr& expr);
  Status arguments_of(const Expr& expr, Arguments& out);

  // execute.cpp
  Ran run(const Body& body);
  Ran run_one(const Stmt& stmt);
  Ran run_scoped(const Body& body);
  Ran run_branch(const Stmt& stmt);
  Ran run_loop(const Stmt& stmt);
  Ran run_set_block(const Stmt& stmt);
  Ran run_filter_block(const Stmt& stmt);
  Ran run_with(const Stmt& stmt);
  Ran run_generation(const Stmt& stmt);
  Status run_call_block(const Stmt& stmt);
  Result run_macro(const MacroCode& code);
  Value macro(const std::shared_ptr<const MacroCode>& code);
  Status put(std::string_view text);
  Status put_value(const Value& value);
  /// The body's output instead of writing it.
  Ran capture(const Body& body, std::string& out);

  /// What others made, paid for.
  Result taken(std::expected<Value, std::string> made);

  const Program& program_;
  const LateFilter& late_;
  std::vector<Value> globals_;  // by symbol; undefined: there is none
  FramePtr frame_;
  std::string* out_ = nullptr;
  std::vector<Span> generated_;
  std::vector<ObjectPtr> objects_;
  std::vector<FramePtr> kept_frames_;
  std::size_t nesting_ = 0;
  std::size_t calls_ = 0;
  std::size_t captures_ = 0;
};

/// A frame until the end of the block.
class FrameScope {
 public:
  explicit FrameScope(Machine& machine) : FrameScope(machine, machine.frame_) {}
  FrameScope(Machine& machine, FramePtr parent)
      : machine_(machine), before_(std::exchange(machine.frame_, std::make_shared<Frame>(std::move(parent)))) {}
  ~FrameScope() { machine_.frame_ = std::move(before_); }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Machine& machine_;
  FramePtr before_;
};

}  // namespace stackgate::jinja
