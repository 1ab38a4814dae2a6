#include "services/evaluator/suite/rows/row_template.hpp"

#include <algorithm>

#include "services/kit/jinja/from_value.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace {

constexpr jinja::Limits limits{.output = 4U << 20U, .allocation = 64U << 20U};

jinja::Environment environment() {
  return {.trim_blocks = false, .lstrip_blocks = false, .keep_trailing_newline = true, .strict = true};
}

/// What stands between the only braces of a template; "": it is more than one expression.
std::string_view only_expression(std::string_view source) {
  const auto begin = source.find_first_not_of(" \t\r\n"), end = source.find_last_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  source = source.substr(begin, end - begin + 1);
  if (!source.starts_with("{{") || !source.ends_with("}}") || source.size() < 4) return {};
  source = source.substr(2, source.size() - 4);
  return source.contains("}}") || source.contains("{{") ? std::string_view() : source;
}

using Items = std::vector<std::pair<std::string_view, jinja::Value>>;
jinja::Value dict(const Items& items) {
  auto out = std::make_shared<jinja::Dict>();
  for (const auto& [key, value] : items) out->set(jinja::Value(key), value);
  return {jinja::DictPtr(std::move(out))};
}

jinja::Value sample_of(const Answer& answer) {
  json::Document document;
  jinja::Value calls(jinja::None{});
  if (!answer.tool_calls.empty())
    if (const auto parsed = json::parse(answer.tool_calls, document, {.max_depth = 64}))
      if (auto value = jinja::from_json(*parsed)) calls = std::move(*value);
  const jinja::Value message =
      dict({{"role", jinja::Value("assistant")}, {"content", jinja::Value(answer.text)}, {"tool_calls", calls}});
  const jinja::Value choice = dict({{"index", jinja::Value(std::int64_t{0})},
                                    {"message", message},
                                    {"finish_reason", jinja::Value(answer.finish_reason)}});
  const jinja::Value choices(std::make_shared<const jinja::List>(std::vector<jinja::Value>{choice}));
  return dict({{"output_text", jinja::Value(answer.text)}, {"response", dict({{"choices", choices}})}});
}

}  // namespace

std::optional<RowTemplate> RowTemplate::parse(std::string_view path, std::string_view source,
                                              validate::Findings& findings) {
  auto parsed = jinja::Template::parse(source, environment());
  if (!parsed) {
    findings.push_back({.rule = "evaluation-template",
                        .path = std::string(path),
                        .problem = "is no template: " + jinja::describe(parsed.error()),
                        .fix = R"(write text with names in it, such as "{{ item.question }}")"});
    return std::nullopt;
  }
  RowTemplate out(std::move(*parsed));
  if (const std::string_view inside = only_expression(source); !inside.empty())
    if (auto expression = jinja::Expression::parse(inside, environment())) out.expression_ = std::move(*expression);
  return out;
}

std::expected<std::string, std::string> RowTemplate::text(const jinja::Value& context) const {
  auto rendered = whole_.render_marked(context, limits);
  if (!rendered) return std::unexpected(jinja::describe(rendered.error()));
  return std::move(rendered->text);
}

std::expected<std::vector<std::string>, std::string> RowTemplate::texts(const jinja::Value& context) const {
  if (expression_) {
    const auto value = expression_->evaluate(context, limits);
    const jinja::ListPtr* list = value ? value->list() : nullptr;
    if (list != nullptr && !(*list)->items.empty() &&
        std::ranges::all_of((*list)->items, [](const jinja::Value& each) { return each.text() != nullptr; })) {
      std::vector<std::string> out;
      for (const jinja::Value& each : (*list)->items) out.emplace_back(each.bytes());
      return out;
    }
  }
  auto one = text(context);
  if (!one) return std::unexpected(std::move(one.error()));
  return std::vector<std::string>{std::move(*one)};
}

std::expected<jinja::Value, std::string> row_context(const json::Value& item, const Answer* answer) {
  auto value = jinja::from_json(item);
  if (!value) return std::unexpected(jinja::describe(value.error()));
  Items items{{"item", std::move(*value)}};
  if (answer != nullptr) items.emplace_back("sample", sample_of(*answer));
  return dict(items);
}

}  // namespace stackgate::evaluator
