#include "services/evaluator/suite/harness/templates.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/evaluator/suite/harness/patterns.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::evaluator::harness {
namespace {

/// regex_replace(text, pattern, replacement, count=0).
std::expected<jinja::Value, std::string> regex_replace(const jinja::Arguments& arguments) {
  const auto& given = arguments.positional;
  std::int64_t count = 0;
  for (const auto& [name, value] : arguments.named)
    if (name == "count" && value.integer() != nullptr) count = *value.integer();
  if (given.size() > 3 && given[3].integer() != nullptr) count = *given[3].integer();
  if (given.size() < 3 || given[0].text() == nullptr || given[1].text() == nullptr || given[2].text() == nullptr)
    return std::unexpected("regex_replace takes a pattern and a replacement");
  const auto pattern = Pattern::compile(given[1].bytes());
  if (!pattern) return std::unexpected(fmt::format("regex_replace: {}", pattern.error()));
  return jinja::Value(
      pattern->replace(given[0].bytes(), given[2].bytes(), static_cast<std::size_t>(std::max<std::int64_t>(count, 0))));
}

const jinja::Environment& environment() {
  static const jinja::Environment out{.trim_blocks = false,
                                      .lstrip_blocks = false,
                                      .keep_trailing_newline = true,
                                      .strict = true,
                                      .filters = {{"regex_replace", regex_replace}}};
  return out;
}

constexpr jinja::Limits limits{.steps = 200'000, .output = 4U << 20U, .allocation = 64U << 20U};

/// ast.literal_eval() of what a template wrote: lists, texts and numbers.
std::expected<jinja::Value, std::string> literal(std::string_view text) {
  const auto expression = jinja::Expression::parse(text, environment());
  if (!expression) return std::unexpected(expression.error().message);
  auto value = expression->evaluate(jinja::Value(std::make_shared<const jinja::Dict>()), limits);
  if (!value) return std::unexpected(value.error().message);
  return std::move(*value);
}

bool is_digits(std::string_view text) { return !text.empty() && std::ranges::all_of(text, ascii::is_digit); }

/// Where there are choices, digits name one of them.
jinja::Value number_or_text(const jinja::Value& value, bool has_choices) {
  if (has_choices && is_digits(value.bytes()))
    if (const auto number = to_number<std::int64_t>(value.bytes())) return {*number};
  return value;
}

jinja::Value target_of(const jinja::Value& value, bool has_choices) {
  const std::string_view text = value.bytes();
  if (text.size() >= 2 && text.starts_with('[') && text.ends_with(']')) {
    const auto list = literal(text);
    return list && list->list() != nullptr ? *list : value;
  }
  return number_or_text(value, has_choices);
}

std::expected<std::vector<std::string>, std::string> choices_of(const jinja::Value& value) {
  jinja::Value list = value;
  if (value.text() != nullptr) {
    auto read = literal(value.bytes());
    if (!read || read->list() == nullptr)
      return std::unexpected(
          fmt::format("doc_to_choice gives \"{}\", which is no list such as ['a', 'b']", value.bytes().substr(0, 60)));
    list = std::move(*read);
  }
  if (list.list() == nullptr) return std::unexpected("doc_to_choice gives no list");
  std::vector<std::string> out;
  for (const jinja::Value& each : (*list.list())->items) {
    if (each.text() == nullptr && each.integer() == nullptr)
      return std::unexpected(fmt::format("doc_to_choice gives a list with a {}", each.type_name()));
    out.push_back(python_text(each));
    if (out.back().empty()) return std::unexpected("doc_to_choice gives an empty choice");
  }
  if (out.empty()) return std::unexpected("doc_to_choice gives no choices");
  return out;
}

}  // namespace

std::string python_text(const jinja::Value& value) {
  if (value.text() != nullptr) return std::string(value.bytes());
  static const jinja::Template printed = jinja::Template::parse("{{ value }}", environment()).value();
  auto context = std::make_shared<jinja::Dict>();
  context->set(jinja::Value("value"), value);
  auto out = printed.render_marked(jinja::Value(jinja::DictPtr(std::move(context))), limits);
  return out ? std::move(out->text) : std::string();
}

std::expected<RowTemplate, std::string> RowTemplate::compile(const Source& source, const Columns& columns) {
  RowTemplate out;
  out.source_ = source;
  if (source.kind != Source::Kind::text) return out;
  out.is_column_ = columns.contains(source.text);
  if (out.is_column_) return out;
  auto parsed = jinja::Template::parse(source.text, environment());
  if (!parsed) return std::unexpected(jinja::describe(parsed.error()));
  out.template_ = std::move(*parsed);
  return out;
}

std::expected<jinja::Value, std::string> RowTemplate::of(const jinja::Value& row) const {
  if (is_column_) {
    const jinja::Value* found = row.dict() == nullptr ? nullptr : (*row.dict())->find(std::string_view(source_.text));
    if (found == nullptr) return std::unexpected(fmt::format("has no column \"{}\"", source_.text));
    return *found;
  }
  if (source_.kind == Source::Kind::number) return jinja::Value(source_.number);
  if (source_.kind == Source::Kind::list) {
    std::vector<jinja::Value> items;
    items.reserve(source_.list.size());
    for (const std::string& each : source_.list) items.emplace_back(each);
    return jinja::Value(jinja::ListPtr(std::make_shared<const jinja::List>(std::move(items))));
  }
  if (!template_) return jinja::Value("");
  auto text = template_->render_marked(row, limits);
  if (!text) return std::unexpected(fmt::format("cannot be rendered: {}", jinja::describe(text.error())));
  return jinja::Value(std::move(text->text));
}

std::expected<Doc, std::string> DocTemplates::of(const jinja::Value& row) const {
  Doc out;
  if (choice.is_set()) out.choices = TRY(choices_of(TRY(choice.of(row))));
  out.text = TRY(text.of(row));
  out.target = TRY(target.of(row));
  if (text.is_template()) out.text = number_or_text(out.text, choice.is_set());
  if (target.is_template()) out.target = target_of(out.target, choice.is_set());
  return out;
}

}  // namespace stackgate::evaluator::harness
