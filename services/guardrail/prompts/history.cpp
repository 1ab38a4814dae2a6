#include "services/guardrail/prompts/history.hpp"

#include <algorithm>
#include <array>

#include "services/guardrail/prompts/lines.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

std::string on_one_line(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '\n', ' ');
  std::ranges::replace(out, '\r', ' ');
  return out;
}

std::string quoted(std::string_view text) { return concat({"\"", escaped(text), "\""}); }

const jinja::Dict* event_of(const jinja::Value& value) {
  return value.dict() == nullptr ? nullptr : value.dict()->get();
}

std::string_view text_of(const jinja::Dict& event, std::string_view key) {
  const jinja::Value* found = event.find(key);
  return found == nullptr ? std::string_view() : found->bytes();
}

std::vector<const jinja::Dict*> events_of(const jinja::Value& value) {
  std::vector<const jinja::Dict*> out;
  if (value.list() == nullptr) return out;
  for (const jinja::Value& each : (*value.list())->items)
    if (const jinja::Dict* event = event_of(each)) out.push_back(event);
  return out;
}

enum class Said : std::uint8_t { nothing, user, bot, system };
struct Saying {
  Said who = Said::nothing;
  std::string_view text;
};

/// Who said what with each event: user messages are told twice in a history, before and after the input rails.
class Sayings {
 public:
  explicit Sayings(const std::vector<const jinja::Dict*>& events)
      : has_messages_(std::ranges::any_of(events, [](auto* e) { return text_of(*e, "type") == "UserMessage"; })) {}

  Saying of(const jinja::Dict& event) const {
    const std::string_view type = text_of(event, "type");
    if (type == "UserMessage") return {Said::user, text_of(event, "text")};
    if (type == "UtteranceUserActionFinished" && !has_messages_)
      return {Said::user, text_of(event, "final_transcript")};
    if (type == "StartUtteranceBotAction") return {Said::bot, text_of(event, "script")};
    if (type == "SystemMessage") return {Said::system, text_of(event, "content")};
    return {};
  }

 private:
  bool has_messages_;
};

/// As a template prints it; "…" for what is too large.
std::string printed(const jinja::Value& value) {
  static const auto print = jinja::Template::parse("{{ value }}");
  auto context = std::make_shared<jinja::Dict>();
  context->set(jinja::Value("value"), value);
  auto text = print->render_marked(jinja::Value(jinja::DictPtr(std::move(context))), {.output = 1U << 16U});
  return text ? std::move(text->text) : "…";
}

void append_step(std::string& out, const jinja::Dict& event) {
  const std::string_view type = text_of(event, "type");
  const jinja::Value* system = event.find(std::string_view("is_system_action"));
  const bool shown = system == nullptr || !system->truth();
  if (type == "UserIntent") out += concat({"  ", on_one_line(text_of(event, "intent")), "\n"});
  if (type == "BotIntent") out += concat({"bot ", on_one_line(text_of(event, "intent")), "\n"});
  if (type == "StartInternalSystemAction" && shown)
    out += concat({"execute ", on_one_line(text_of(event, "action_name")), "\n"});
  const jinja::Value* result = event.find(std::string_view("return_value"));
  if (type == "InternalSystemActionFinished" && shown && result != nullptr)
    out += concat({"# The result was ", on_one_line(printed(*result)), "\n"});
}

bool has_role_marker(std::string_view line) {
  const std::string_view begin = trimmed(line);
  return std::ranges::any_of(
      std::array<std::string_view, 4>{"user:", "assistant:", "system:", "bot:"},
      [&](auto marker) { return ascii::equal_ignoring_case(begin.substr(0, marker.size()), marker); });
}

/// Lines behind the first that look like a new turn are set in.
std::string without_turns(std::string_view text) {
  std::string out;
  bool first = true;
  for (const std::string_view line : lines_of(text)) {
    if (!first) out += '\n';
    if (!first && has_role_marker(line)) out += "  ";
    out += line;
    first = false;
  }
  return out;
}

void neutralise(std::string& text, std::string_view marker, std::string_view instead) {
  for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + instead.size()))
    text.replace(at, marker.size(), instead);
}

/// How long what could be taken for `<tag` or `</tag` is at the beginning of `text`; 0: it is nothing such.
bool begins_tag(std::string_view text, std::string_view tag) {
  std::size_t at = 1;
  while (at < text.size() && (text[at] == ' ' || text[at] == '/' || text[at] == '\t')) ++at;
  return ascii::equal_ignoring_case(text.substr(at, tag.size()), tag);
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      default:
        out += c;
    }
  return out;
}

std::string unquoted(std::string_view text) {
  text = trimmed(text);
  const std::size_t first = text.find('"');
  const std::size_t last = text.rfind('"');
  if (first == 0 && last > first) text = text.substr(1, last - 1);
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      out += text[at];
      continue;
    }
    const char next = text[++at];
    if (next == 'n')
      out += '\n';
    else if (next == 'r')
      out += '\r';
    else if (next == '"' || next == '\\')
      out += next;
    else
      (out += '\\') += next;
  }
  return out;
}

std::string colang_history(const jinja::Value& value) {
  const auto events = events_of(value);
  const Sayings sayings(events);
  std::string out;
  for (const jinja::Dict* event : events) {
    const Saying saying = sayings.of(*event);
    if (saying.who == Said::user)
      out += concat({"user ", quoted(saying.text), "\n"});
    else if (saying.who == Said::bot)
      out += concat({"  ", quoted(saying.text), "\n"});
    else
      append_step(out, *event);
  }
  return out;
}

std::string colang_v2_history(const jinja::Value& value) {
  const auto events = events_of(value);
  const Sayings sayings(events);
  std::string out;
  for (const jinja::Dict* event : events) {
    const Saying saying = sayings.of(*event);
    if (saying.who == Said::user) out += concat({"  user said ", quoted(saying.text), "\n"});
    if (saying.who == Said::bot) out += concat({"  bot say ", quoted(saying.text), "\n"});
  }
  return out;
}

std::string user_assistant_sequence(const jinja::Value& value, bool nemo_markers) {
  const auto events = events_of(value);
  const Sayings sayings(events);
  std::string out;
  for (const jinja::Dict* event : events) {
    const Saying saying = sayings.of(*event);
    if (saying.who != Said::user && saying.who != Said::bot) continue;
    if (!out.empty()) out += '\n';
    const std::string_view who = saying.who == Said::user ? "User" : "Assistant";
    if (nemo_markers) {
      std::string text(saying.text);
      neutralise(text, "<extra_id_", "< extra_id_");
      out += concat({"<extra_id_1>", who, "\n", text});
    } else {
      out += concat({who, ": ", without_turns(saying.text)});
    }
  }
  return out;
}

std::vector<Message> chat_messages(const jinja::Value& value) {
  const auto events = events_of(value);
  const Sayings sayings(events);
  std::vector<Message> out;
  for (const jinja::Dict* event : events) {
    const Saying saying = sayings.of(*event);
    if (saying.who == Said::nothing) continue;
    const std::string_view role = saying.who == Said::user ? "user" : saying.who == Said::bot ? "assistant" : "system";
    out.push_back({std::string(role), std::string(saying.text)});
  }
  return out;
}

std::string delimited(std::string_view text, std::string_view tag) {
  std::string out = concat({"<", tag, ">\n"});
  for (std::size_t at = 0; at < text.size(); ++at)
    if (text[at] == '<' && begins_tag(text.substr(at), tag))
      out += "&lt;";
    else
      out += text[at];
  return out += concat({"\n</", tag, ">"});
}

}  // namespace stackgate::guardrail
