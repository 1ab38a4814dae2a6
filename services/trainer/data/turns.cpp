#include "services/trainer/data/turns.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "services/kit/base/try.hpp"

namespace stackgate::trainer {
namespace turns_detail {

using model::ChatTemplates;
using Rendered = std::expected<jinja::Rendering, std::string>;

class Renderer {
 public:
  Renderer(const ChatTemplates& templates, const json::Value& messages, const json::Value& tools)
      : templates_(templates), messages_(messages), tools_(tools) {}
  /// The first `count` messages, with what asks for an answer or without.
  Rendered operator()(std::size_t count, bool prompt) const {
    auto out = templates_.render({.messages = json::Value::make_array(messages_.items().first(count), 0),
                                  .tools = tools_,
                                  .documents = {},
                                  .kwargs = {},
                                  .add_generation_prompt = prompt});
    if (!out) return std::unexpected(fmt::format("{}: {}", out.error().param, out.error().message));
    return std::move(*out);
  }

 private:
  const ChatTemplates& templates_;
  const json::Value &messages_, &tools_;
};

/// Where a turn that begins at `begin` ends: behind its last end token, or where it is cut off.
std::size_t end_of_turn(std::string_view text, std::size_t begin, std::size_t end, std::span<const std::string> ends) {
  std::size_t out = 0;
  for (const std::string& each : ends) {
    if (each.empty()) continue;
    const std::size_t found = text.substr(begin, end - begin).rfind(each);
    if (found != std::string_view::npos) out = std::max(out, begin + found + each.size());
  }
  if (out != 0) return out;
  for (const std::string& each : ends)
    if (!each.empty() && text.substr(end).starts_with(each)) return end + each.size();
  return end;
}

/// Where the answer `messages[i]` stands in `whole`; nothing where the template writes it otherwise there.
std::expected<std::optional<jinja::Span>, std::string> place_of_answer(const Renderer& render, std::size_t i,
                                                                       const std::string& whole) {
  const jinja::Rendering before = TRY(render(i, true)), after = TRY(render(i + 1, false));
  if (!after.text.starts_with(before.text) || before.text.size() == after.text.size()) return std::nullopt;
  return whole.starts_with(after.text) ? std::optional<jinja::Span>({before.text.size(), after.text.size()})
                                       : std::nullopt;
}

}  // namespace turns_detail

std::vector<Segment> split_at_marks(const std::string& text, std::span<const jinja::Span> marks,
                                    std::span<const std::string> end_texts) {
  std::vector<Segment> out;
  std::size_t at = 0;
  for (const jinja::Span& mark : marks) {
    const std::size_t begin = std::max(at, mark.begin);
    const std::size_t end = turns_detail::end_of_turn(text, begin, std::max(begin, mark.end), end_texts);
    if (begin == end) continue;
    if (begin > at) out.push_back({text.substr(at, begin - at), false});
    out.push_back({text.substr(begin, end - begin), true});
    at = end;
  }
  return out;
}

std::expected<Turns, std::string> turns_of(const model::ChatTemplates& templates, const json::Value& messages,
                                           const json::Value& tools, std::span<const std::string> end_texts) {
  using namespace turns_detail;
  const Renderer render(templates, messages, tools);
  const std::size_t count = messages.items().size();
  const jinja::Rendering whole = TRY(render(count, false));
  if (!whole.generated.empty()) return Turns{split_at_marks(whole.text, whole.generated, end_texts), false};

  Turns out;
  std::vector<jinja::Span> answers;
  std::size_t last = 0;
  // A conversation that begins with an answer: what asked for it is not known, so it is not trained.
  for (std::size_t i = 1; i < count; ++i) {
    if (json::text_at(messages.items()[i], "role") != "assistant") continue;
    last = i;
    if (out.last_only) continue;
    const auto place = TRY(place_of_answer(render, i, whole.text));
    if (place)
      answers.push_back(*place);
    else
      out.last_only = true;
  }
  std::string text = whole.text;
  if (out.last_only) {
    text = TRY(render(last + 1, false)).text;
    const auto place = TRY(place_of_answer(render, last, text));
    if (!place)
      return std::unexpected(
          "the chat template writes an answer otherwise than where it asks for one: mark answers in it with "
          "{% generation %}, and give it with --chat-template");
    answers = {*place};
  }
  out.segments = split_at_marks(text, answers, end_texts);
  return out;
}

}  // namespace stackgate::trainer
