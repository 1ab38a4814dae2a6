// The tables of filters, tests and functions, by name.
#pragma once
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/jinja/object.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::jinja {

struct Environment;

/// A filter or test: `subject` is what stands before it. A test's result is a boolean.
using Builtin = Result (*)(Machine& machine, const Value& subject, Arguments& arguments);
using Registered = std::function<std::expected<Value, std::string>(const Arguments& arguments)>;

struct Callee {
  Builtin builtin = nullptr;
  const Registered* registered = nullptr;  // of the environment
  bool late = false;                       // of the rendering
  explicit operator bool() const { return builtin != nullptr || registered != nullptr || late; }
};

struct NamedBuiltin {
  std::string_view name;
  Builtin call;
};

// One table for each file of filters.
std::span<const NamedBuiltin> text_filters();
std::span<const NamedBuiltin> number_filters();
std::span<const NamedBuiltin> sequence_filters();
std::span<const NamedBuiltin> mapping_filters();
std::span<const NamedBuiltin> choosing_filters();
std::span<const NamedBuiltin> all_tests();
std::span<const NamedBuiltin> functions();

Callee find_filter(std::string_view name, const Environment& environment);
Callee find_test(std::string_view name);
Callee find_function(std::string_view name, const Environment& environment);

/// `; did you mean "tojson"?` or nothing.
std::string suggest_filter(std::string_view name, const Environment& environment);
std::string suggest_test(std::string_view name);
std::string suggest_function(std::string_view name, const Environment& environment);
/// The nearest of `known` in the same form; nothing when none is near.
std::string suggest(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace stackgate::jinja
