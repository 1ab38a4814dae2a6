#include "services/kit/jinja/loop.hpp"

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/operators.hpp"

namespace stackgate::jinja {
namespace {

/// loop.cycle and loop.changed before they are called. Keeps the loop.
class LoopMethod : public Object {
 public:
  LoopMethod(std::shared_ptr<Loop> loop, bool cycles) : loop_(std::move(loop)), cycles_(cycles) {}
  std::string_view type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  Result call(Machine& machine, Arguments& arguments) override {
    return cycles_ ? loop_->cycle(arguments) : loop_->changed(machine, arguments);
  }

 private:
  std::shared_ptr<Loop> loop_;
  bool cycles_;
};

}  // namespace

std::expected<std::optional<std::size_t>, Fault> Loop::look(Machine& machine) {
  while (behind_ < items_->items.size()) {
    const std::size_t at = behind_++;
    if (!stmt_.condition) return at;
    TRY(machine.spend());
    const FrameScope scope(machine, outside_);
    TRY(machine.assign(stmt_.target, items_->items[at]));
    const Value passes = TRY(machine.eval(*stmt_.condition));
    if (TRY(machine.truth(passes))) return at;
  }
  return std::nullopt;
}

std::expected<bool, Fault> Loop::advance(Machine& machine) {
  TRY(machine.spend());
  if (ahead_.empty()) TRY(look_ahead(machine));
  if (ahead_.empty()) return false;
  before_ = current_;
  current_ = ahead_.front();
  ahead_.pop_front();
  ++count_;
  return true;
}

Status Loop::look_ahead(Machine& machine) {
  const auto found = TRY(look(machine));
  if (found) ahead_.push_back(*found);
  return {};
}

std::expected<std::size_t, Fault> Loop::length(Machine& machine) {
  if (!stmt_.condition) return items_->items.size();
  while (behind_ < items_->items.size()) TRY(look_ahead(machine));
  return count_ + ahead_.size();
}

Result Loop::neighbour(Machine& machine, bool is_next) {
  if (!is_next) return before_ ? items_->items[*before_] : Value();
  if (ahead_.empty()) TRY(look_ahead(machine));
  return ahead_.empty() ? Value() : items_->items[ahead_.front()];
}

Result Loop::attribute(Machine& machine, std::string_view name) {
  const auto integer = [](std::size_t value) { return Value(static_cast<std::int64_t>(value)); };
  if (name == "index") return integer(count_);
  if (name == "index0") return Value(static_cast<std::int64_t>(count_) - 1);
  if (name == "first") return Value(count_ == 1);
  if (name == "previtem") return neighbour(machine, false);
  if (name == "nextitem") return neighbour(machine, true);
  if (name == "depth") return integer(1);  // deeper only in recursive loops
  if (name == "depth0") return integer(0);
  if (name == "last") {
    if (ahead_.empty()) TRY(look_ahead(machine));
    return Value(ahead_.empty());
  }
  if (name == "length") return integer(TRY(length(machine)));
  if (name == "revindex") return integer(TRY(length(machine)) + 1 - count_);
  if (name == "revindex0") return integer(TRY(length(machine)) - count_);
  if (name != "cycle" && name != "changed") return Value();
  TRY(machine.allocate(sizeof(LoopMethod) + sizeof(Loop)));
  return Value(ObjectPtr(std::make_shared<LoopMethod>(shared_from_this(), name == "cycle")));
}

Result Loop::cycle(Arguments& arguments) const {
  if (arguments.positional.empty()) return type_fault("\"cycle\" needs values to cycle through");
  return arguments.positional[(count_ - 1) % arguments.positional.size()];
}

Result Loop::changed(Machine& machine, Arguments& arguments) {
  Value now = TRY(machine.list(std::move(arguments.positional), Form::tuple));
  if (last_changed_ && TRY(same(machine, *last_changed_, now))) return Value(false);
  last_changed_ = std::move(now);
  return Value(true);
}

void Loop::clear() {
  outside_.reset();
  last_changed_.reset();
}

}  // namespace stackgate::jinja
