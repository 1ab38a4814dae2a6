// Variables of flows, expressions and prompts, by name without `$`.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail {

using Variables = std::map<std::string, jinja::Value, std::less<>>;

/// Variables of which a copy is cheap while few have changed: those of the beginning are shared. Not thread-safe; a
/// copy is another's.
class SharedVariables {
 public:
  SharedVariables() = default;
  SharedVariables(std::shared_ptr<const Variables> beginning) : beginning_(std::move(beginning)) {}

  /// nullptr: there is none of that name.
  const jinja::Value* find(std::string_view name) const {
    if (const auto found = changed_.find(name); found != changed_.end()) return &found->second;
    if (!beginning_) return nullptr;
    const auto found = beginning_->find(name);
    return found == beginning_->end() ? nullptr : &found->second;
  }
  /// Of a text; empty when it is none.
  std::string_view bytes(std::string_view name) const {
    const jinja::Value* const found = find(name);
    return found == nullptr ? std::string_view() : found->bytes();
  }
  void set(std::string_view name, jinja::Value value) {
    if (const auto found = changed_.find(name); found != changed_.end())
      found->second = std::move(value);
    else
      changed_.emplace(name, std::move(value));
  }

  /// Calls take(name, value) for each, by name.
  void each(const auto& take) const {
    static const Variables none;
    const Variables& first = beginning_ ? *beginning_ : none;
    auto change = changed_.begin();
    for (const auto& [name, value] : first) {
      for (; change != changed_.end() && change->first < name; ++change) take(change->first, change->second);
      if (change != changed_.end() && change->first == name) {
        take(change->first, change->second);
        ++change;
      } else {
        take(name, value);
      }
    }
    for (; change != changed_.end(); ++change) take(change->first, change->second);
  }
  Variables all() const {
    Variables out;
    each([&](const std::string& name, const jinja::Value& value) { out.emplace_hint(out.end(), name, value); });
    return out;
  }

 private:
  std::shared_ptr<const Variables> beginning_{};
  Variables changed_{};  // hide those
};

}  // namespace stackgate::guardrail
