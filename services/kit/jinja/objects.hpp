// Namespaces, macros, functions and bound methods.
#pragma once
#include <array>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

class Namespace : public Object {
 public:
  explicit Namespace(Dict items) : items_(std::move(items)) {}
  std::string_view type_name() const override { return "Namespace"; }
  Result attribute(Machine& machine, std::string_view name) override;
  void set(std::string_view name, Value value) { items_.set(Value(name), std::move(value)); }
  void clear() override { items_ = {}; }

 private:
  Dict items_;
};

class Macro : public Object {
 public:
  Macro(std::shared_ptr<const MacroCode> code, FramePtr closure)
      : code_(std::move(code)), closure_(std::move(closure)) {}
  std::string_view type_name() const override { return "Macro"; }
  bool is_callable() const override { return true; }
  Result call(Machine& machine, Arguments& arguments) override {
    return machine.call_macro(*code_, closure_, arguments);
  }
  Result attribute(Machine& machine, std::string_view name) override;
  void clear() override { closure_.reset(); }

 private:
  std::shared_ptr<const MacroCode> code_;
  FramePtr closure_;
};

/// range(), and what a service registered.
class NamedFunction : public Object {
 public:
  explicit NamedFunction(Callee callee) : callee_(callee) {}
  std::string_view type_name() const override { return "function"; }
  bool is_callable() const override { return true; }
  Result call(Machine& machine, Arguments& arguments) override { return machine.apply(callee_, {}, arguments); }

 private:
  Callee callee_;
};

/// "text".upper before it is called.
Result bound_method(Machine& machine, const Value& subject, std::string_view name, Builtin method);

/// Parameters by position or name, as Python matches them. Parameters that were not given are nullptr.
class Given {
 public:
  static std::expected<Given, Fault> match(std::string_view callee, const Arguments& arguments,
                                           std::initializer_list<std::string_view> names, std::size_t required = 0);
  const Value* operator[](std::size_t i) const { return at_[i]; }
  /// `otherwise` when it was not given.
  const Value& get(std::size_t i, const Value& otherwise) const { return at_[i] == nullptr ? otherwise : *at_[i]; }
  bool flag(std::size_t i, bool otherwise = false) const { return at_[i] == nullptr ? otherwise : at_[i]->truth(); }
  /// A fault when it is no integer.
  std::expected<std::int64_t, Fault> integer(std::size_t i, std::int64_t otherwise) const;
  /// A fault when it is no text.
  std::expected<std::string_view, Fault> text(std::size_t i, std::string_view otherwise = {}) const;

 private:
  static constexpr std::size_t most = 6;
  std::array<const Value*, most> at_{};
  std::string_view callee_;
};

}  // namespace stackgate::jinja
