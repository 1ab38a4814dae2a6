#include "services/kit/jinja/machine.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {

const Value* Frame::find(Symbol symbol) const {
  for (const auto& [name, value] : names)
    if (name == symbol) return &value;
  return nullptr;
}

void Frame::set(Symbol symbol, Value value) {
  for (auto& [name, there] : names) {
    if (name != symbol) continue;
    there = std::move(value);
    return;
  }
  names.emplace_back(symbol, std::move(value));
}

Machine::Machine(const Program& program, const Dict& context, const Limits& limits, const LateFilter& late)
    : Budget(limits),
      program_(program),
      late_(late),
      globals_(program.names.size()),
      frame_(std::make_shared<Frame>()) {
  for (std::size_t i = 0; i < program.names.size(); ++i) {
    if (const Value* given = context.find(std::string_view(program.names[i]))) {
      globals_[i] = *given;
    } else if (const Callee function = find_function(program.names[i], *program.environment)) {
      globals_[i] = ObjectPtr(std::make_shared<NamedFunction>(function));
    }
  }
}

// Namespaces and frames may hold each other.
Machine::~Machine() {
  for (const ObjectPtr& object : objects_) object->clear();
  for (const FramePtr& frame : kept_frames_) frame->names.clear();
}

std::expected<Rendering, Fault> Machine::render() {
  Rendering out;
  out_ = &out.text;
  (void)TRY(run(program_.body));
  out.generated = std::move(generated_);
  return out;
}

std::expected<ListPtr, Fault> Machine::items_of(const Value& value) {
  if (const auto* list = value.list()) return *list;
  std::vector<Value> out;
  if (const auto* dict = value.dict()) {
    TRY(allocate((*dict)->items.size() * sizeof(Value)));
    for (const auto& item : (*dict)->items) out.push_back(item.first);
  } else if (const auto* text = value.text()) {
    TRY(allocate((*text)->length() * (sizeof(Value) + sizeof(Text))));
    TRY(spend((*text)->bytes.size() / 16));
    for (std::string_view rest = (*text)->bytes; !rest.empty(); rest.remove_prefix(point_size(rest)))
      out.emplace_back(rest.substr(0, point_size(rest)));
  } else if (!value.is_undefined()) {
    return type_fault(concat({"\"", value.type_name(), "\" cannot be walked"}));
  } else if (environment().strict) {
    return undefined_fault(value);
  }
  return std::make_shared<const List>(std::move(out));
}

Result Machine::filter(std::string_view name, const Value& subject, Arguments& arguments) {
  const Callee callee = find_filter(name, environment());
  if (!callee) return type_fault(concat({"there is no filter \"", name, "\"", suggest_filter(name, environment())}));
  if (callee.builtin != nullptr) return apply(callee, subject, arguments);
  Arguments all = arguments;
  all.positional.insert(all.positional.begin(), subject);
  return callee.late ? apply_late(name, all) : apply(callee, subject, all);
}

std::expected<bool, Fault> Machine::test(std::string_view name, const Value& subject, Arguments& arguments) {
  const Callee callee = find_test(name);
  if (!callee) return type_fault(concat({"there is no test \"", name, "\"", suggest_test(name)}));
  const Value out = TRY(apply(callee, subject, arguments));
  return out.truth();
}

Result Machine::call_macro(const MacroCode& code, const FramePtr& closure, Arguments& arguments) {
  if (calls_ >= limits().calls)
    return limit_fault(fmt::format("more than {} calls of macros inside each other", limits().calls));
  const Nested level(calls_);
  const FrameScope scope(*this, closure);
  std::vector<Value> rest;
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    if (i < code.parameters.size()) {
      frame_->set(code.parameters[i].symbol, arguments.positional[i]);
    } else {
      rest.push_back(arguments.positional[i]);
    }
  }
  if (!rest.empty() && !code.takes_rest)
    return type_fault(fmt::format("the macro \"{}\" takes at most {} arguments", code.name, code.parameters.size()));
  Dict named_rest;
  Value caller = Undefined{};
  for (auto& [name, value] : arguments.named) {
    const auto parameter = std::ranges::find(code.parameters, name, &Parameter::name);
    if (parameter != code.parameters.end()) {
      if (frame_->find(parameter->symbol) != nullptr)
        return type_fault(concat({"the macro \"", code.name, "\" is given \"", name, "\" twice"}));
      frame_->set(parameter->symbol, value);
    } else if (name == "caller" && code.takes_caller) {
      caller = value;
    } else if (code.takes_named_rest) {
      named_rest.set(Value(name), value);
    } else {
      return type_fault(concat({"the macro \"", code.name, "\" has no parameter \"", name, "\""}));
    }
  }
  if (code.takes_rest) frame_->set(static_cast<Symbol>(Fixed::varargs), TRY(list(std::move(rest), Form::tuple)));
  if (code.takes_named_rest) frame_->set(static_cast<Symbol>(Fixed::kwargs), TRY(dict(std::move(named_rest))));
  if (code.takes_caller) frame_->set(static_cast<Symbol>(Fixed::caller), std::move(caller));
  return run_macro(code);
}

// In the frame with the arguments.
Result Machine::run_macro(const MacroCode& code) {
  for (const Parameter& parameter : code.parameters) {
    if (frame_->find(parameter.symbol) != nullptr) continue;
    Value value = parameter.fallback ? TRY(eval(*parameter.fallback))
                                     : Value(Undefined{std::make_shared<const Text>(
                                           concat({"the parameter \"", parameter.name, "\" was not given"}))});
    frame_->set(parameter.symbol, std::move(value));
  }
  std::string out;
  (void)TRY(capture(code.body, out));
  return text(std::move(out));
}

}  // namespace stackgate::jinja
