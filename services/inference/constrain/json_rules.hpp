// The rules of JSON (RFC 8259) that every grammar has. White space is bounded, so that no answer consists of it;
// numbers are bounded, so that every reader takes them.
#pragma once
#include "services/inference/constrain/grammar.hpp"

namespace stackgate::inference {

struct JsonRules {
  RuleId space;  // nothing, a blank, or a line end and up to 24 blanks or tabs
  RuleId string;
  RuleId rest;       // of a string, its last quote included
  RuleId character;  // of a string, as it is or escaped: one code point
  RuleId number;     // up to 15 digits before the point, 15 behind it, and an exponent of two
  RuleId integer;    // up to 15 digits
  RuleId value, object, array;
};

JsonRules add_json_rules(GrammarBuilder& builder);

/// `{` members of these values `}`, from a node to a node; with `[`, `]` a list of at least `least` and at most `most`
/// values.
void add_map(GrammarBuilder& builder, const JsonRules& json, NodeId from, RuleId value, NodeId to);
void add_list(GrammarBuilder& builder, const JsonRules& json, NodeId from, RuleId value, std::uint32_t least,
              std::uint32_t most, NodeId to);
inline constexpr std::uint32_t any_length = 0xFFFF'FFFF;

}  // namespace stackgate::inference
