#include "services/evaluator/metrics/tool_calls.hpp"

#include <algorithm>
#include <list>

#include <fmt/format.h>

#include "services/kit/base/ascii.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace {

struct Call {
  std::string_view name{};
  json::Value arguments{};  // an object
};

/// The arguments' texts and trees live as long as this.
class Calls {
 public:
  explicit Calls(const json::Value& list) {
    for (const json::Value& each : list.items()) {
      const json::Value* function = each.find("function");
      if (function == nullptr) function = &each;
      Call call{.name = json::text(function, {"name"}), .arguments = json::value_at(function, {"arguments"})};
      if (call.arguments.is_string()) {
        texts_.emplace_back(call.arguments.string().empty() ? "{}" : call.arguments.string());
        const auto parsed = json::parse(texts_.back(), documents_.emplace_back(), {.max_depth = 64});
        call.arguments = parsed ? *parsed : json::Value();
      }
      sound_ = sound_ && !call.name.empty() && call.arguments.is_object();
      all_.push_back(call);
    }
    sound_ = sound_ && (list.is_array() || list.is_null());
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  const std::vector<Call>& all() const { return all_; }
  bool sound() const { return sound_; }

 private:
  std::list<std::string> texts_;
  std::list<json::Document> documents_;
  std::vector<Call> all_;
  bool sound_ = true;
};

/// Whether each of `a` has one of `b` of its own; first come, first served, which is enough for an equivalence.
template <class Same>
bool pair_up(const std::vector<Call>& a, const std::vector<Call>& b, const Same& same) {
  if (a.size() != b.size()) return false;
  std::vector<bool> taken(b.size(), false);
  return std::ranges::all_of(a, [&](const Call& each) {
    for (std::size_t i = 0; i < b.size(); ++i)
      if (!taken[i] && same(each, b[i])) {
        taken[i] = true;
        return true;
      }
    return false;
  });
}

/// BFCL compares texts without case, blanks and , . / - _ * ^.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text)
    if (!std::string_view(" ,./-_*^").contains(c)) out += ascii::to_lower(c == '\'' ? '"' : c);
  return out;
}

bool same_value(const json::Value& value, const json::Value& right) {
  if (value.is_string() && right.is_string()) return plain(value.string()) == plain(right.string());
  if (value.is_array() && right.is_array()) return std::ranges::equal(value.items(), right.items(), same_value);
  if (value.is_object() && right.is_object()) {
    if (value.members().size() > right.members().size()) return false;
    // A member of what is right is a list of what is right there.
    for (const json::Member& each : right.members()) {
      const json::Value* own = value.find(each.key);
      const auto& choices = each.value.items();
      if (!each.value.is_array()) {
        if (own == nullptr || !same_value(*own, each.value)) return false;
      } else if (own == nullptr) {
        if (std::ranges::none_of(choices,
                                 [](const json::Value& one) { return one.is_string() && one.string().empty(); }))
          return false;
      } else if (std::ranges::none_of(choices, [&](const json::Value& one) { return same_value(*own, one); })) {
        return false;
      }
    }
    return std::ranges::all_of(value.members(),
                               [&](const json::Member& each) { return right.find(each.key) != nullptr; });
  }
  return json::equal(value, right);
}

bool may_be_left_out(const json::Value& choices) {
  return std::ranges::any_of(choices.items(),
                             [](const json::Value& each) { return each.is_string() && each.string().empty(); });
}

/// Whether a value has the type that a schema names; an integer is a number, too. 1.0 is no integer, as in Python.
bool has_type(const json::Value& value, std::string_view type) {
  if (type == "integer") return value.is_integer();
  if (type == "number" || type == "float") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "array" || type == "tuple") return value.is_array();
  if (type == "object" || type == "dict") return value.is_object();
  return true;
}

json::Value description_of(const json::Value& functions, std::string_view name) {
  for (const json::Value& each : functions.items()) {
    const json::Value* function = each.find("function");
    if (function == nullptr) function = &each;
    if (json::text(function, {"name"}) == name) return *function;
  }
  return {};
}

/// "" when the call is the expected one.
std::string fault_of(const Call& call, const json::Member& expected, const json::Value& functions) {
  if (call.name != expected.key) return fmt::format("calls {} instead of {}", call.name, expected.key);
  const json::Value function = description_of(functions, call.name);
  const json::Value properties = json::value_at(&function, {"parameters", "properties"});
  for (const json::Value& each : json::items(&function, {"parameters", "required"}))
    if (call.arguments.find(each.string()) == nullptr)
      return fmt::format("{}: the required parameter {} is missing", call.name, each.string());
  for (const json::Member& each : call.arguments.members()) {
    const json::Value* choices = expected.value.find(each.key);
    if (choices == nullptr) return fmt::format("{}: the parameter {} is not expected", call.name, each.key);
    const json::Value schema = json::value_at(&properties, {each.key});
    if (const std::string_view type = json::text(&schema, {"type"}); !type.empty() && !has_type(each.value, type))
      return fmt::format("{}: {} is no {}", call.name, each.key, type);
    const bool right =
        choices->is_array()
            ? std::ranges::any_of(choices->items(), [&](const json::Value& one) { return same_value(each.value, one); })
            : same_value(each.value, *choices);
    if (!right) return fmt::format("{}: {} has another value than expected", call.name, each.key);
  }
  for (const json::Member& each : expected.value.members())
    if (call.arguments.find(each.key) == nullptr && !may_be_left_out(each.value))
      return fmt::format("{}: the parameter {} is missing", call.name, each.key);
  return {};
}

}  // namespace

CallAccuracy call_accuracy(const json::Value& calls, const json::Value& expected) {
  const Calls own(calls), right(expected);
  const auto same_name = [](const Call& a, const Call& b) { return a.name == b.name; };
  const auto same = [](const Call& a, const Call& b) {
    return a.name == b.name && json::equal(a.arguments, b.arguments);
  };
  return {.names = pair_up(own.all(), right.all(), same_name),
          .names_and_arguments = own.sound() && right.sound() && pair_up(own.all(), right.all(), same)};
}

std::string match_calls(const json::Value& calls, const json::Value& expected, const json::Value& functions) {
  const Calls own(calls);
  if (!own.sound()) return "the answer holds a call that is none";
  const auto wanted = expected.items();
  if (own.all().size() != wanted.size()) return fmt::format("{} calls instead of {}", own.all().size(), wanted.size());
  std::vector<bool> taken(own.all().size(), false);
  for (const json::Value& each : wanted) {
    if (each.members().size() != 1) return "what is expected is no call";
    std::string why;
    bool found = false;
    for (std::size_t i = 0; i < own.all().size() && !found; ++i) {
      if (taken[i]) continue;
      std::string fault = fault_of(own.all()[i], each.members().front(), functions);
      found = taken[i] = fault.empty();
      if (why.empty()) why = std::move(fault);
    }
    if (!found) return why;
  }
  return {};
}

}  // namespace stackgate::evaluator
