// Chat templates and prompts: Jinja2 as Python's sandbox runs it for Hugging Face's transformers (trim_blocks,
// lstrip_blocks, loop controls, `{% generation %}`, tojson without HTML escapes, raise_exception, strftime_now).
// Source: https://jinja.palletsprojects.com/en/stable/templates/ and transformers' utils/chat_template_utils.py.
//
// Pure: no files, no clock but the environment's. A template is a stranger's code: rendering is bounded by Limits.
// A const Template or Expression may be used by any number of threads at once.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "services/kit/jinja/fault.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::jinja {

struct Program;

/// What a service adds: values in, a value or what is wrong with them out. Called by whichever thread renders; owns
/// what it refers to. A filter's subject is its first argument.
using Function = std::function<std::expected<Value, std::string>(const Arguments&)>;
/// A filter that one rendering brings; called by the thread that renders. Its subject is its first argument.
using LateFilter = std::function<std::expected<Value, std::string>(std::string_view name, const Arguments&)>;

/// What transformers sets up; Jinja2's own defaults are all false.
struct Environment {
  bool trim_blocks = true;             // a line end behind a block is dropped
  bool lstrip_blocks = true;           // white space before a block that begins a line is dropped
  bool keep_trailing_newline = false;  // one line end at the template's end
  bool strict = false;                 // printing, testing or walking an undefined value is a fault
  std::map<std::string, Function, std::less<>> functions{};  // in addition to the built-in ones, or instead
  std::map<std::string, Function, std::less<>> filters{};
  /// Filters that each rendering brings, before all others of their names.
  std::set<std::string, std::less<>> late_filters{};
  bool unknown_filters_are_late = false;
  /// The local time that strftime_now() prints; without it there is no such function.
  std::function<std::chrono::local_seconds()> clock{};
};

/// Of one rendering.
struct Limits {
  std::uint64_t steps = 1'000'000;         // evaluated expressions, and 256 bytes looked at
  std::size_t output = 16U << 20U;         // bytes, also of each captured block
  std::uint64_t allocation = 256U << 20U;  // bytes of all values made; never given back
  std::size_t calls = 64;                  // macros inside of macros
  std::uint32_t value_depth = 100;         // containers inside of containers, also in the context
};

/// A part of the output, in bytes: begin inclusive, end exclusive.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Rendering {
  std::string text;
  std::vector<Span> generated;  // by `{% generation %}`, in order; blocks inside of macros are not among them
};

class Template {
 public:
  /// At most 1 MiB of UTF-8. Every name of a filter, test, tag or function is known afterwards.
  static std::expected<Template, Fault> parse(std::string_view source, const Environment& environment = {});

  /// `context` is an object: the variables.
  std::expected<std::string, Fault> render(const nlohmann::ordered_json& context, const Limits& limits = {}) const;
  std::expected<Rendering, Fault> render_marked(const nlohmann::ordered_json& context, const Limits& limits = {}) const;
  /// `context` is a dict.
  std::expected<Rendering, Fault> render_marked(const Value& context, const Limits& limits = {},
                                                const LateFilter& late = {}) const;

  /// Whether the template names this variable at all: "tools".
  bool mentions(std::string_view variable) const;
  /// Late filters that it names; "map" where that may call one.
  const std::vector<std::string>& late_filters() const;

 private:
  explicit Template(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

/// One expression: `len(messages) > 2 and user is defined` without the braces.
class Expression {
 public:
  static std::expected<Expression, Fault> parse(std::string_view source, const Environment& environment = {});
  std::expected<Value, Fault> evaluate(const nlohmann::ordered_json& context, const Limits& limits = {}) const;
  std::expected<Value, Fault> evaluate(const Value& context, const Limits& limits = {},
                                       const LateFilter& late = {}) const;

 private:
  explicit Expression(std::shared_ptr<const Program> program) : program_(std::move(program)) {}
  std::shared_ptr<const Program> program_;
};

/// A fault for what is nested more than `depth` times, and for integers above 64 bits.
std::expected<Value, Fault> from_json(const nlohmann::ordered_json& json, std::uint32_t depth = Limits{}.value_depth);

}  // namespace stackgate::jinja
