// range(), dict(), namespace(), cycler(), joiner(), raise_exception(), strftime_now().
#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/builtins.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/strftime.hpp"

namespace stackgate::jinja {
namespace {

constexpr std::int64_t longest_range = 100'000;  // Jinja2's sandbox has the same

Result range(Machine& machine, const Value&, Arguments& arguments) {
  if (arguments.positional.empty() || !arguments.named.empty()) return type_fault("range() takes 1 to 3 integers");
  const Given given = TRY(Given::match("range", arguments, {"start", "stop", "step"}));
  const bool only_end = arguments.positional.size() == 1;
  const std::int64_t first = TRY(given.integer(0, 0));
  const std::int64_t begin = only_end ? 0 : first;
  const std::int64_t end = only_end ? first : TRY(given.integer(1, 0));
  const std::int64_t step = TRY(given.integer(2, 1));
  if (step == 0) return type_fault("range() with a step of 0");
  std::vector<Value> out;
  for (std::int64_t at = begin; step > 0 ? at < end : at > end;) {
    if (std::ssize(out) >= longest_range) return limit_fault("range() gives at most 100000 numbers");
    out.emplace_back(at);
    if (__builtin_add_overflow(at, step, &at)) break;
  }
  TRY(machine.spend(1 + out.size() / 16));
  return machine.list(std::move(out), Form::range);
}

// dict(pairs, name=value)
Result make_dict(Machine& machine, Arguments& arguments, Dict& out) {
  if (arguments.positional.size() > 1) return type_fault("at most one value without a name");
  if (!arguments.positional.empty()) {
    const Value& from = arguments.positional[0];
    if (from.dict() != nullptr) {
      TRY(machine.allocate((*from.dict())->items.size() * 2 * sizeof(Dict::Item)));
      TRY(machine.spend((*from.dict())->items.size()));
      out = **from.dict();
    } else {
      const ListPtr pairs = TRY(machine.items_of(from));
      for (const Value& pair : pairs->items) {
        const ListPtr parts = TRY(machine.items_of(pair));
        if (parts->items.size() != 2) return type_fault("a dict is made of pairs");
        if (parts->items[0].list() != nullptr || parts->items[0].dict() != nullptr)
          return type_fault("a list or dict cannot be a key");
        TRY(machine.spend(parts->items[0].text() != nullptr ? 1 : 1 + out.items.size()));
        TRY(machine.allocate(2 * sizeof(Dict::Item)));
        out.set(parts->items[0], parts->items[1]);
      }
    }
  }
  for (auto& [name, value] : arguments.named) out.set(Value(name), value);
  return Value();
}

Result dict(Machine& machine, const Value&, Arguments& arguments) {
  Dict out;
  (void)TRY(make_dict(machine, arguments, out));
  return machine.dict(std::move(out));
}

Result new_namespace(Machine& machine, const Value&, Arguments& arguments) {
  Dict items;
  (void)TRY(make_dict(machine, arguments, items));
  TRY(machine.allocate(sizeof(Namespace) + items.items.size() * sizeof(Dict::Item)));
  auto out = std::make_shared<Namespace>(std::move(items));
  machine.keep(out);
  return Value(ObjectPtr(std::move(out)));
}

class Cycler : public Object {
 public:
  explicit Cycler(std::vector<Value> items) : items_(std::move(items)) {}
  std::string_view type_name() const override { return "Cycler"; }
  Result attribute(Machine& machine, std::string_view name) override;
  void clear() override { items_.clear(); }
  Value next() {
    const Value out = current();
    at_ = (at_ + 1) % items_.size();
    return out;
  }
  void reset() { at_ = 0; }

 private:
  Value current() const { return items_[at_]; }
  std::vector<Value> items_;
  std::size_t at_ = 0;
};

class CyclerMethod : public Object {
 public:
  CyclerMethod(Cycler& cycler, bool resets) : cycler_(cycler), resets_(resets) {}
  std::string_view type_name() const override { return "method"; }
  bool is_callable() const override { return true; }
  Result call(Machine&, Arguments&) override {
    if (!resets_) return cycler_.next();
    cycler_.reset();
    return Value(None{});
  }

 private:
  Cycler& cycler_;  // kept by the machine
  bool resets_;
};

Result Cycler::attribute(Machine& machine, std::string_view name) {
  if (name == "current") return current();
  if (name != "next" && name != "reset") return Value();
  TRY(machine.allocate(sizeof(CyclerMethod)));
  return Value(ObjectPtr(std::make_shared<CyclerMethod>(*this, name == "reset")));
}

Result cycler(Machine& machine, const Value&, Arguments& arguments) {
  if (arguments.positional.empty()) return type_fault("cycler() needs values");
  TRY(machine.allocate(sizeof(Cycler) + arguments.positional.size() * sizeof(Value)));
  auto out = std::make_shared<Cycler>(std::move(arguments.positional));
  machine.keep(out);
  return Value(ObjectPtr(std::move(out)));
}

class Joiner : public Object {
 public:
  explicit Joiner(std::string separator) : separator_(std::move(separator)) {}
  std::string_view type_name() const override { return "Joiner"; }
  bool is_callable() const override { return true; }
  Result call(Machine& machine, Arguments&) override {
    if (!std::exchange(used_, true)) return Value("");
    return machine.text(separator_);
  }

 private:
  std::string separator_;
  bool used_ = false;
};

Result joiner(Machine& machine, const Value&, Arguments& arguments) {
  const Given given = TRY(Given::match("joiner", arguments, {"sep"}));
  const std::string_view separator = TRY(given.text(0, ", "));
  TRY(machine.allocate(sizeof(Joiner) + separator.size()));
  return Value(ObjectPtr(std::make_shared<Joiner>(std::string(separator))));
}

Result raise_exception(Machine& machine, const Value&, Arguments& arguments) {
  const Given given = TRY(Given::match("raise_exception", arguments, {"message"}, 1));
  std::string message = TRY(str(machine, *given[0]));
  return std::unexpected(Fault{FaultKind::raised, std::move(message)});
}

Result strftime_now(Machine& machine, const Value&, Arguments& arguments) {
  const Given given = TRY(Given::match("strftime_now", arguments, {"format"}, 1));
  const std::string_view format = TRY(given.text(0));
  TRY(machine.spend_on(format.size() * 16));
  TRY(machine.has_room(format.size() * 16));
  return machine.text(strftime(machine.environment().clock(), format));
}

constexpr NamedBuiltin function_table[] = {
    {"range", range},
    {"dict", dict},
    {"namespace", new_namespace},
    {"cycler", cycler},
    {"joiner", joiner},
    {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
};

}  // namespace

std::span<const NamedBuiltin> functions() { return function_table; }

}  // namespace stackgate::jinja
