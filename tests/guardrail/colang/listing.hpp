// A program as text: one line for each instruction.
#pragma once
#include <string>

#include <fmt/format.h>

#include "services/guardrail/colang/compile.hpp"

namespace stackgate::guardrail::colang::test {

inline std::string list_arguments(const std::vector<Argument>& arguments) {
  std::string out;
  for (const Argument& each : arguments)
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", each.name.empty() ? "" : each.name + "=", each.value.source);
  return "(" + out + ")";
}

inline std::string list_pattern(const EventPattern& pattern) {
  switch (pattern.kind) {
    case EventKind::user_intent:
      return "user " + pattern.name;
    case EventKind::any_user_intent:
      return "user ...";
    case EventKind::bot_intent:
      return "bot " + pattern.name;
    case EventKind::any_bot_intent:
      return "bot ...";
    case EventKind::named:
      return "event " + pattern.name + list_arguments(pattern.arguments);
  }
  return "?";
}

inline std::string list_instruction(const Instruction& each) {
  const std::string into = each.variable.empty() ? "" : "$" + each.variable + " = ";
  switch (each.op) {
    case Op::wait:
      return "wait " + list_pattern(each.pattern);
    case Op::wait_any: {
      std::string out = "wait any";
      for (const WaitBranch& branch : each.branches)
        out += fmt::format(" [{} -> {}]", list_pattern(branch.pattern), branch.target);
      return out;
    }
    case Op::bot:
      return fmt::format("bot {}{}", each.name, each.said ? " '" + each.text + "'" : "");
    case Op::bot_any:
      return "bot ...";
    case Op::execute:
      return into + "execute " + each.name + list_arguments(each.arguments);
    case Op::assign:
      return into + each.expression->source;
    case Op::generate:
      return into + "... '" + each.text + "'";
    case Op::call:
      return each.name.empty() ? "do " + each.expression->source : fmt::format("do {}", each.name);
    case Op::branch:
      return fmt::format("if {} else -> {}", each.expression->source, each.target);
    case Op::jump:
      return fmt::format("-> {}", each.target);
    case Op::create_event:
      return "create " + each.name + list_arguments(each.arguments);
    case Op::stop:
      return "stop";
    case Op::end:
      return "end";
  }
  return "?";
}

inline std::string list_code(const Flow& flow) {
  std::string out;
  for (std::size_t i = 0; i < flow.code.size(); ++i) out += fmt::format("{} {}\n", i, list_instruction(flow.code[i]));
  return out;
}

/// "rails.co:2:3 colang-syntax: problem", one line each; warnings with "(warning)".
inline std::string list_findings(const validate::Findings& findings, bool warnings = true) {
  std::string out;
  for (const auto& each : findings) {
    const bool error = each.severity == validate::Severity::error;
    if (error || warnings)
      out += fmt::format("{} {}{}: {}\n", each.path, each.rule, error ? "" : " (warning)", each.problem);
  }
  return out;
}

inline Compiled compile_one(std::string text, const KnownNames& names = {}) {
  const std::vector<Source> sources = {{.name = "rails.co", .text = std::move(text)}};
  return compile(sources, names);
}

}  // namespace stackgate::guardrail::colang::test
