// What works on the lines of a history.
#include <algorithm>
#include <span>

#include "services/guardrail/prompts/history.hpp"
#include "services/guardrail/prompts/lines.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

using Lines = std::vector<std::string_view>;

constexpr std::string_view user_text = "user \"";
constexpr std::string_view bot_text = "  \"";

bool begins_turn(std::string_view line) { return line.starts_with(user_text) || line.starts_with("user action: "); }

std::string joined(std::span<const std::string_view> lines) {
  std::string out;
  for (const std::string_view& line : lines) {
    if (&line != lines.data()) out += '\n';
    out += line;
  }
  return out;
}

/// "User intent: …", "Bot intent: …", "Bot message: …": what a line says in words; "" for what the user said.
std::string in_words(const Lines& lines, std::size_t at) {
  const std::string_view line = lines[at];
  if (line.starts_with(bot_text)) return concat({"Bot message: ", trimmed(line)});
  if (at > 0 && lines[at - 1].starts_with(user_text) && line.starts_with("  "))
    return concat({"User intent: ", trimmed(line)});
  if (line.starts_with("user ")) return concat({"User intent: ", trimmed(line.substr(5))});
  if (line.starts_with("bot ")) return concat({"Bot intent: ", trimmed(line.substr(4))});
  return std::string(line);
}

/// Where the text that begins with the quote at `at` ends: behind its closing quote; npos: it does not end.
std::size_t behind_quote(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return std::string_view::npos;
}

/// What users said goes; their intent takes its place.
std::string without_user_texts(std::string_view history) {
  const Lines lines = lines_of(history);
  std::string out;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const bool said = lines[at].starts_with(user_text) && at + 1 < lines.size();
    if (said && trimmed(lines[at + 1]).empty()) {
      ++at;  // one without an intent
      continue;
    }
    if (said && lines[at + 1].starts_with("  ") && !lines[at + 1].starts_with(bot_text))
      out += concat({"user ", trimmed(lines[++at])});
    else
      out += lines[at];
    if (at + 1 < lines.size()) out += '\n';
  }
  return out;
}

/// What bots said goes, up to its closing quote, which may be some lines below.
std::string without_bot_texts(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string_view line = text.substr(at, end - at);
    out += line;
    if (end == std::string_view::npos) break;
    at = end + 1;
    if (line.starts_with("bot ") && text.substr(at).starts_with(bot_text)) {
      const std::size_t behind = behind_quote(text, at + 2);
      if (behind != std::string_view::npos) {
        at = behind;
        continue;
      }
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string verbose(std::string_view history) {
  const Lines lines = lines_of(history);
  std::string out;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (at > 0) out += '\n';
    if (lines[at].starts_with(user_text))
      out += concat({"User message: ", lines[at].substr(5)});
    else
      out += in_words(lines, at);
  }
  return out;
}

std::vector<Message> messages_of(std::string_view history) {
  const Lines lines = lines_of(history);
  std::vector<Message> out;
  std::string bot;
  const auto flush = [&] {
    if (!bot.empty()) out.push_back({"assistant", std::move(bot)});
    bot.clear();
  };
  for (std::size_t at = 0; at < lines.size(); ++at) {
    if (lines[at].starts_with(user_text)) {
      flush();
      out.push_back({"user", unquoted(lines[at].substr(5))});
    } else if (trimmed(lines[at]).empty()) {
      flush();
    } else {
      if (!bot.empty()) bot += '\n';
      bot += in_words(lines, at);
    }
  }
  flush();
  return out;
}

std::vector<Message> intent_messages(std::string_view history, IntentMessages which) {
  const bool with_texts = which == IntentMessages::texts_and_bot_intents;
  const Lines lines = lines_of(history);
  std::vector<Message> out;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const std::string_view line = lines[at];
    const bool user_intent =
        !line.starts_with(bot_text) && ((at > 0 && lines[at - 1].starts_with(user_text) && line.starts_with("  ")) ||
                                        (line.starts_with("user ") && !line.starts_with(user_text)));
    if (line.starts_with(user_text)) {
      if (with_texts) out.push_back({"user", unquoted(line.substr(5))});
    } else if (user_intent) {
      if (!with_texts) out.push_back({"user", in_words(lines, at)});
    } else if (line.starts_with("bot ") || (with_texts && line.starts_with(bot_text))) {
      out.push_back({"assistant", in_words(lines, at)});
    }
  }
  return out;
}

std::string without_texts(std::string_view history) { return without_bot_texts(without_user_texts(history)); }

std::string first_turns(std::string_view history, std::int64_t turns) {
  const Lines lines = lines_of(history);
  std::int64_t count = 0;
  std::size_t end = 0;
  for (; end < lines.size(); ++end)
    if (begins_turn(lines[end]) && ++count > turns) break;
  return joined(std::span(lines).first(end));
}

std::string last_turns(std::string_view history, std::int64_t turns) {
  const Lines lines = lines_of(history);
  std::int64_t count = 0;
  std::size_t begin = lines.size();
  while (begin > 0 && count < turns) count += begins_turn(lines[--begin]) ? 1 : 0;
  return joined(std::span(lines).subspan(begin));
}

}  // namespace stackgate::guardrail
