#include "services/kit/jinja/objects.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/operators.hpp"

namespace stackgate::jinja {

Result Object::call(Machine&, Arguments&) { return type_fault(concat({"\"", type_name(), "\" cannot be called"})); }

Result Object::attribute(Machine&, std::string_view) { return Value(); }

Result Namespace::attribute(Machine&, std::string_view name) {
  const Value* found = items_.find(name);
  return found == nullptr ? Value() : *found;
}

Result Macro::attribute(Machine& machine, std::string_view name) {
  if (name == "name") return Value(code_->name);
  if (name != "arguments") return Value();
  std::vector<Value> names;
  for (const Parameter& parameter : code_->parameters) names.emplace_back(parameter.name);
  return machine.list(std::move(names), Form::tuple);
}

namespace {

class BoundMethod : public Object {
 public:
  BoundMethod(Value subject, std::string_view name, Builtin method)
      : subject_(std::move(subject)), name_(name), method_(method) {}
  std::string_view type_name() const override { return "builtin_function_or_method"; }
  std::string print() const override {
    return concat({"<built-in method ", name_, " of ", subject_.type_name(), " object>"});
  }
  std::uint32_t depth() const override { return subject_.depth() + 1; }
  bool is_callable() const override { return true; }
  Result call(Machine& machine, Arguments& arguments) override { return method_(machine, subject_, arguments); }

 private:
  Value subject_;
  std::string name_;
  Builtin method_;
};

}  // namespace

Result bound_method(Machine& machine, const Value& subject, std::string_view name, Builtin method) {
  TRY(machine.allocate(sizeof(BoundMethod)));
  if (subject.depth() >= machine.limits().value_depth) return limit_fault("values are nested too deeply");
  return Value(ObjectPtr(std::make_shared<BoundMethod>(subject, name, method)));
}

std::expected<Given, Fault> Given::match(std::string_view callee, const Arguments& arguments,
                                         std::initializer_list<std::string_view> names, std::size_t required) {
  Given out;
  out.callee_ = callee;
  if (arguments.positional.size() > names.size())
    return type_fault(
        fmt::format("\"{}\" takes at most {} arguments, not {}", callee, names.size(), arguments.positional.size()));
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) out.at_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (at == names.size()) return type_fault(concat({"\"", callee, "\" has no argument \"", name, "\""}));
    if (out.at_[at] != nullptr) return type_fault(concat({"\"", callee, "\" is given \"", name, "\" twice"}));
    out.at_[at] = &value;
  }
  for (std::size_t i = 0; i < required; ++i)
    if (out.at_[i] == nullptr) return type_fault(concat({"\"", callee, "\" needs \"", *(names.begin() + i), "\""}));
  return out;
}

std::expected<std::int64_t, Fault> Given::integer(std::size_t i, std::int64_t otherwise) const {
  if (at_[i] == nullptr) return otherwise;
  if (at_[i]->is_undefined()) return undefined_fault(*at_[i]);
  if (const auto value = whole(*at_[i])) return *value;
  return type_fault(concat({"\"", callee_, "\" wants an integer, not \"", at_[i]->type_name(), "\""}));
}

std::expected<std::string_view, Fault> Given::text(std::size_t i, std::string_view otherwise) const {
  if (at_[i] == nullptr) return otherwise;
  if (at_[i]->is_undefined()) return undefined_fault(*at_[i]);
  if (at_[i]->text() != nullptr) return at_[i]->bytes();
  return type_fault(concat({"\"", callee_, "\" wants a text, not \"", at_[i]->type_name(), "\""}));
}

}  // namespace stackgate::jinja
