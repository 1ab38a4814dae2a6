#include "services/evaluator/suite/retrieval/rag_prompt.hpp"

#include <fmt/format.h>

#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator {
namespace {

std::string joined(std::span<const std::string> contexts) {
  std::string out;
  for (const std::string& each : contexts) out += (out.empty() ? "" : "\n\n") + each;
  return out;
}

std::string own_prompt(std::string_view question, std::span<const std::string> contexts) {
  std::string out =
      "Answer the question by what the contexts say, briefly. If they do not say it, answer that you do not know.\n\n"
      "Contexts:\n";
  for (std::size_t i = 0; i < contexts.size(); ++i) out += fmt::format("[{}] {}\n\n", i + 1, contexts[i]);
  return out + fmt::format("Question: {}\nAnswer:", question);
}

}  // namespace

std::expected<RagPrompt, std::string> RagPrompt::parse(std::string_view source) {
  RagPrompt out;
  if (source.empty()) return out;
  auto read = jinja::Template::parse(source);
  if (!read) return std::unexpected(jinja::describe(read.error()));
  out.template_.emplace(std::move(*read));
  return out;
}

std::expected<std::string, std::string> RagPrompt::render(std::string_view row, std::string_view question,
                                                          std::span<const std::string> contexts) const {
  if (!template_) return own_prompt(question, contexts);
  const std::string context = json::object_text([&](json::Writer& w) {
    w.key("item");
    w.raw(row.empty() ? "{}" : row);
    w.member("question", question);
    w.array("contexts", [&] {
      for (const std::string& each : contexts) w.value(each);
    });
    w.member("context", joined(contexts));
  });
  json::Document document;
  const auto root = json::parse(context, document);
  if (!root) return std::unexpected("the row cannot be given to the template");
  const auto values = jinja::from_json(*root);
  if (!values) return std::unexpected(jinja::describe(values.error()));
  auto rendered = template_->render_marked(*values);
  if (!rendered) return std::unexpected(jinja::describe(rendered.error()));
  return std::move(rendered->text);
}

}  // namespace stackgate::evaluator
