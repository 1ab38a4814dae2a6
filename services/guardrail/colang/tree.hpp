// What the parser makes of a file: definitions and statements as they are written, expressions compiled.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "services/guardrail/colang/program.hpp"

namespace stackgate::guardrail::colang {

enum class StatementKind : std::uint8_t {
  wait,          // user …, event …, any
  say,           // bot …
  execute,       // with `variable`, if there is one
  assign,        // variable = expression
  generate,      // variable = ...
  call,          // do …
  condition,     // if: branches, the last one without `condition` for else
  loop,          // while: one branch
  choice,        // when, else when
  create_event,  //
  stop,          //
  give_back,     // return
  leave,         // break
  repeat,        // continue
  go_to,         // goto `name`
  label,         //
};

struct Branch;

struct Statement {
  StatementKind kind = StatementKind::stop;
  Place place;
  std::string name{};
  std::string variable{};
  std::string text{};  // of say
  bool any = false;    // `bot ...`
  std::vector<Argument> arguments{};
  std::optional<Expression> expression{};
  std::optional<jinja::Template> said{};
  std::vector<EventPattern> patterns{};  // of wait: any of them
  std::vector<Branch> branches;
};

struct Branch {
  Place place;
  std::optional<Expression> condition{};
  std::vector<EventPattern> patterns{};  // of choice: any of them
  std::vector<Statement> body{};
};

struct FlowTree {
  Flow flow;  // without its code
  std::vector<Statement> body;
};

/// Of one file.
struct FileTree {
  std::vector<UserIntent> user_intents;
  std::vector<BotMessage> bot_messages;
  std::vector<FlowTree> flows;
  /// What flows say on the way: `bot NAME "text"`; `user "text"`, whose name is its example.
  std::vector<BotMessage> inline_messages;
  std::vector<UserIntent> inline_intents;
};

}  // namespace stackgate::guardrail::colang
