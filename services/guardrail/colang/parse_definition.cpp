// define user, bot, flow: and what stands outside of them.
#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "services/guardrail/colang/parser.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail::colang {
namespace {

constexpr std::array<std::string_view, 8> kinds = {"user",      "bot",      "flow",      "subflow",
                                                   "extension", "parallel", "recursive", "continuous"};

bool first_word_is(std::string_view text, std::string_view word) {
  return text.starts_with(word) && (text.size() == word.size() || text[word.size()] == ' ');
}

}  // namespace

Parser::Parser(std::uint32_t file, const Source& source, const CompileLimits& limits, Report& report)
    : file_(file), limits_(limits), report_(report), lines_(lines_of(file, source, report)) {}

FileTree Parser::parse() {
  if (is_second_generation()) return {};
  while (next_ < lines_.size()) {
    const Line& line = lines_[next_];
    if (line.is_docstring)
      ++next_;
    else if (first_word_is(line.text, "define") || first_word_is(line.text, "def"))
      definition();
    else
      outside();
  }
  return std::move(tree_);
}

// What only Colang 2 has: `flow NAME` and `@decorator` at the margin, and its statements anywhere.
bool Parser::is_second_generation() {
  for (Size i = 0; i < lines_.size(); ++i) {
    const std::string_view text = lines_[i].text;
    if (lines_[i].is_docstring) continue;
    bool found = false;
    if (lines_[i].indent == 0) {
      found = first_word_is(text, "flow") || first_word_is(text, "import core") || text.starts_with("@active") ||
              text.starts_with("@loop") || text.starts_with("@meta") || first_word_is(text, "import guardrails") ||
              first_word_is(text, "import llm") || first_word_is(text, "import timing");
    } else {
      constexpr std::array<std::string_view, 6> statements = {"await", "match", "send", "start", "activate", "or when"};
      found = std::ranges::any_of(statements, [&](std::string_view word) { return first_word_is(text, word); }) ||
              (text.starts_with('$') && text.find("= await ") != std::string_view::npos);
    }
    if (!found) continue;
    error(rule::version, place_of(i),
          concat({shown(text.substr(0, text.find(' ', text.find(' ') + 1))),
                  " is Colang 2; this service reads Colang 1.0"}),
          "write flows as \"define flow NAME\" with user, bot and execute; in config.yml: colang_version: \"1.0\"");
    return true;
  }
  return false;
}

void Parser::outside() {
  const Size first = next_;
  const std::string_view text = lines_[first].text;
  if (first_word_is(text, "import") || first_word_is(text, "include") || first_word_is(text, "use")) {
    error(rule::syntax, place_of(first), concat({"\"", cursor_at(first).word(), "\" is not supported"}),
          "remove the line: every .co file of the configuration is read, and the built-in rails are always there");
    ++next_;
    return;
  }
  error(rule::syntax, place_of(first), "this stands outside of a definition",
        text.ends_with(':') ? "begin with \"define flow NAME\"" : "write it below a \"define …\", indented");
  while (next_ < lines_.size() && !first_word_is(lines_[next_].text, "define")) ++next_;
}

Parser::Size Parser::end_of_block(Size header) const {
  Size end = header + 1;
  while (end < lines_.size() && lines_[end].indent > lines_[header].indent) ++end;
  return end;
}

void Parser::definition() {
  const Size header = next_;
  const Size end = end_of_block(header);
  const Place at = place_of(header);
  Cursor cursor = cursor_at(header);
  cursor.skip(cursor.word().size());  // define
  Flow flow{.place = at};
  std::string_view kind = cursor.word();
  while (true) {
    if (cursor.take("parallel") || cursor.take("recursive")) {
      flow.parallel = flow.allow_multiple = true;
    } else if (cursor.take("extension")) {
      flow.kind = FlowKind::extension;
    } else if (cursor.take("continuous") || cursor.take("non-interruptable") || cursor.take("noninterruptable")) {
      // Nothing here interrupts a flow but an extension.
    } else {
      break;
    }
  }
  const bool modified = kind != cursor.word();
  kind = cursor.word();
  next_ = header + 1;
  if (kind == "flow" || kind == "subflow") {
    define_flow(cursor, std::move(flow), kind, end);
  } else if (kind == "user" && !modified) {
    define_user(cursor, at);
  } else if (kind == "bot" && !modified) {
    define_bot(cursor, at);
  } else if (kind.empty()) {
    error(rule::syntax, at, "what is defined is missing",
          "write \"define user NAME\", \"define bot NAME\" or \"define flow NAME\"");
  } else {
    error(rule::syntax, place(cursor), concat({shown(kind), " cannot be defined", report_.did_you_mean(kind, kinds)}),
          "define user, bot, flow, subflow, extension flow or parallel flow");
  }
  next_ = end;
}

// A line that is one text. What has no quotation marks is taken as it is.
std::string Parser::quoted_or_plain(const Line& line, bool& plain) {
  const Place at = report_.place(file_, line.offset(0));
  plain = false;
  if (line.text.front() != '"' && line.text.front() != '\'') {
    for (const std::string_view mark : {"\u201C", "\u201D", "\u2018", "\u2019", "\u00AB"})
      if (line.text.starts_with(mark))
        error(rule::syntax, at, concat({"the text is in ", mark, ", which is no quotation mark of Colang"}),
              "write the text between \" and \"");
    plain = true;
    return line.text;
  }
  const std::size_t end = end_of_quoted(line.text, 0);
  if (end == std::string_view::npos) {
    error(rule::syntax, at, "the text has no closing quotation mark on its line",
          fmt::format("write {} at its end; a text stands on one line", line.text.front()));
    return {};
  }
  if (end != line.text.size()) {
    error(rule::syntax, report_.place(file_, line.offset(end)),
          concat({shown(trim(std::string_view(line.text).substr(end))), " stands behind the text"}),
          "write each text on a line of its own; quotation marks inside a text as \\\"");
  }
  return unquoted(std::string_view(line.text).substr(0, end));
}

void Parser::define_user(Cursor& cursor, const Place& at) {
  (void)cursor.take("user");
  UserIntent intent{.name = plain_name(cursor.rest()), .examples = {}, .place = at};
  const Size end = end_of_block(next_ - 1);
  if (intent.name.empty() || intent.name.find_first_of("\"$(") != std::string::npos) {
    error(rule::syntax, place(cursor), "the name of the user's intent is missing or is no name",
          "write: define user ask about prices");
    return;
  }
  for (; next_ < end; ++next_) {
    if (lines_[next_].is_docstring) continue;
    bool plain = false;
    std::string example = quoted_or_plain(lines_[next_], plain);
    if (plain && first_word_is(example, "bot")) {
      error(rule::syntax, place_of(next_), "a definition of what users say holds texts only",
            "define a flow: define flow, below it user and bot");
      continue;
    }
    if (plain)
      report_.warning(rule::intent, place_of(next_), "this example is not in quotation marks; it is taken as it stands",
                      "write it between \" and \"");
    if (!example.empty()) intent.examples.push_back(std::move(example));
  }
  tree_.user_intents.push_back(std::move(intent));
}

void Parser::define_bot(Cursor& cursor, const Place& at) {
  (void)cursor.take("bot");
  BotMessage message{.name = plain_name(cursor.rest()), .texts = {}, .sources = {}, .place = at};
  const Size end = end_of_block(next_ - 1);
  if (message.name.empty() || message.name.find_first_of("\"$(") != std::string::npos) {
    error(rule::syntax, place(cursor), "the name of the bot's message is missing or is no name",
          "write: define bot express greeting");
    return;
  }
  for (; next_ < end; ++next_) {
    if (lines_[next_].is_docstring) continue;
    const Place here = place_of(next_);
    bool plain = false;
    std::string text = quoted_or_plain(lines_[next_], plain);
    if (plain) {
      error(rule::syntax, here, "a bot's message is a text", "write it between \" and \"; conditions stand in flows");
      continue;
    }
    auto compiled = compile_text(text, here, report_);
    if (!compiled) continue;
    message.texts.push_back(*std::move(compiled));
    message.sources.push_back(std::move(text));
  }
  if (message.texts.empty()) {
    report_.warning(rule::message, at,
                    concat({"bot message ", shown(message.name), " has no text: the model writes it"}),
                    "write its texts below it, indented, between \" and \"");
    return;
  }
  tree_.bot_messages.push_back(std::move(message));
}

void Parser::define_flow(Cursor& cursor, Flow flow, std::string_view kind, Size end) {
  if (kind == "subflow") flow.kind = FlowKind::subflow;
  cursor.skip(kind.size());
  flow.name = plain_name(cursor.rest());
  if (flow.name.find_first_of("\"$(") != std::string::npos)
    error(rule::syntax, place(cursor), concat({shown(flow.name), " is no name of a flow"}),
          "names are words; values are passed in variables");
  if (flow.name.empty() && flow.kind == FlowKind::subflow)
    error(rule::syntax, flow.place, "a subflow needs a name", "write: define subflow check the order");
  if (end == next_) {
    error(rule::syntax, flow.place, "the flow has no statements", "write them below it, indented");
    return;
  }
  flow_ = &flow;
  std::vector<Statement> body = block(end, 1);
  flow_ = nullptr;
  if (flow.name.empty())
    flow.name = "flow at " + report_.where(flow.place).substr(0, report_.where(flow.place).rfind(':'));
  tree_.flows.push_back({std::move(flow), std::move(body)});
}

void Parser::priority(Cursor& cursor) {
  const Place at = place(cursor);
  const std::string_view text = cursor.rest();
  double value = 0;
  const auto [stop, wrong] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (wrong != std::errc() || stop != text.data() + text.size() || !(value >= 0 && value <= 1e6)) {
    error(rule::syntax, at, "a flow's priority is a number from 0 to 1000000", "write: priority 0.9; 1 is usual");
    return;
  }
  flow_->priority = value;
}

// meta {"priority": 2}, or one `name: value` on each line below.
void Parser::meta(Cursor& cursor) {
  const Size end = end_of_block(next_ - 1);
  std::string text(cursor.rest());
  for (; next_ < end; ++next_) text += concat({", ", lines_[next_].text});
  std::string_view rest = text;
  for (std::size_t at = rest.find("priority"); at != std::string_view::npos; at = std::string_view::npos) {
    rest.remove_prefix(at + std::string_view("priority").size());
    const std::size_t digit = rest.find_first_not_of("\"': =");
    rest.remove_prefix(std::min(digit, rest.size()));
    double value = 0;
    const auto [stop, wrong] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (wrong == std::errc() && value >= 0 && value <= 1e6)
      flow_->priority = value;
    else
      error(rule::syntax, place_of(next_ - 1), "a flow's priority is a number from 0 to 1000000",
            "write: priority 0.9");
  }
  if (text.find("allow_multiple") != std::string::npos && text.find("rue") != std::string::npos)
    flow_->allow_multiple = true;
  if (text.find("is_extension") != std::string::npos && text.find("rue") != std::string::npos)
    flow_->kind = FlowKind::extension;
}

}  // namespace stackgate::guardrail::colang
