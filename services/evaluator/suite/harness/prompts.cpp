#include "services/evaluator/suite/harness/prompts.hpp"

#include <fmt/format.h>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::evaluator::harness {
namespace {

bool ends_with_space(std::string_view text) { return jinja::strip_right(text).size() < text.size(); }
bool begins_with_space(std::string_view text) { return jinja::strip_left(text).size() < text.size(); }

/// What stands between two texts where neither brings white space.
std::string_view between(std::string_view before, std::string_view after, std::string_view delimiter) {
  if (before.empty() || after.empty() || ends_with_space(before) || begins_with_space(after)) return {};
  return delimiter;
}

/// A choice, or the text itself.
std::expected<std::string, std::string> chosen_text(const jinja::Value& value,
                                                    const std::vector<std::string>& choices) {
  if (value.integer() == nullptr || choices.empty()) return python_text(value);
  if (*value.integer() < 0 || *value.integer() >= std::ssize(choices))
    return std::unexpected(fmt::format("names choice {} of {}", *value.integer(), choices.size()));
  return choices[static_cast<std::size_t>(*value.integer())];
}

}  // namespace

std::vector<ChatMessage> Prompt::chat() const {
  std::vector<ChatMessage> out;
  if (!description.empty()) out.push_back({"system", description});
  const std::size_t behind = prefix.empty() ? 0 : separator.size() + prefix.size();
  out.push_back({"user", contexts.front().substr(0, contexts.front().size() - behind)});
  if (!prefix.empty()) out.push_back({"assistant", prefix});
  return out;
}

std::expected<std::string, std::string> example_text(const Doc& doc, const Joints& joints, std::string_view prefix) {
  std::string out = TRY(chosen_text(doc.text, doc.choices));
  const bool several = doc.target.list() != nullptr;
  if (several && (*doc.target.list())->items.empty()) return out;
  std::string answer =
      several ? python_text((*doc.target.list())->items.front())
              : TRY(chosen_text(doc.target, doc.has_many_contexts() ? std::vector<std::string>() : doc.choices));
  if (answer.empty() || doc.target.is_none()) return out;
  out += prefix.empty() ? std::string_view(joints.target) : between(out, prefix, joints.target);
  out += prefix;
  out += between(prefix, answer, " ");
  return out += answer + joints.fewshot;
}

std::expected<Prompt, std::string> prompt_of(const Doc& doc, std::string description,
                                             std::span<const std::string> examples, const Joints& joints,
                                             std::string prefix) {
  Prompt out{.description = std::move(description), .prefix = std::move(prefix)};
  std::string before;
  for (const std::string& each : examples) before += each;
  if (doc.has_many_contexts()) {
    for (const std::string& choice : doc.choices) out.contexts.push_back(before + choice + out.prefix);
    return out;
  }
  if (doc.text.list() != nullptr || doc.text.dict() != nullptr)
    return std::unexpected(fmt::format("doc_to_text gives a {}", doc.text.type_name()));
  const std::string question = TRY(chosen_text(doc.text, doc.choices));
  out.separator = between(question, out.prefix, joints.target);
  out.contexts.push_back(before + question + out.separator + out.prefix);
  return out;
}

Continued continued(std::string context, std::string_view continuation) {
  const std::size_t length = jinja::strip_right(context).size();
  Continued out{.continuation = context.substr(length).append(continuation)};
  context.resize(length);
  out.context = std::move(context);
  return out;
}

}  // namespace stackgate::evaluator::harness
