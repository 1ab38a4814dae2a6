// Texts that rails kept from the user, taken out of what a log shows. Pure.
#pragma once
#include <string>
#include <string_view>

#include "services/guardrail/dialog/turn.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::guardrail {

/// What stands instead of a hidden text: as NeMo Guardrails' prompts have it.
inline constexpr std::string_view hidden_text =
    "<<<This text is hidden because the assistant should not talk about this.>>>";

/// Of one turn, which it refers to.
class Hiding {
 public:
  explicit Hiding(const TurnResult& turn) : turn_(turn) {}

  /// Without the hidden texts.
  std::string text(std::string_view text) const;
  jinja::Value value(const jinja::Value& value) const;
  /// A variable of the turn; "generated_message" and the like hold a hidden answer in other forms.
  jinja::Value variable(std::string_view name, const jinja::Value& value) const;
  /// What the next turn gets, and whoever keeps it.
  DialogState state() const;
  std::string prompt(const ModelCall& call, RailType rail) const;
  std::string completion(const ModelCall& call) const;

 private:
  const TurnResult& turn_;
};

}  // namespace stackgate::guardrail
