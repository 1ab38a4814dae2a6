#include "services/kit/jinja/template.hpp"

#include <algorithm>

#include "services/kit/base/try.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/jinja/machine.hpp"
#include "services/kit/jinja/parser.hpp"

namespace stackgate::jinja {
namespace {

constexpr std::size_t longest_source = 1U << 20U;

std::expected<std::shared_ptr<Program>, Fault> program_of(std::string_view source, const Environment& environment) {
  if (source.size() > longest_source)
    return std::unexpected(Fault{FaultKind::limit, "the template has more than 1 MiB"});
  if (!utf8::is_valid(source)) return std::unexpected(Fault{FaultKind::syntax, "the template is no UTF-8"});
  auto program = std::make_shared<Program>();
  program->source = normal_line_ends(source);
  program->environment = std::make_shared<const Environment>(environment);
  return program;
}

std::expected<const Dict*, Fault> variables(const Value& context) {
  if (context.dict() == nullptr) return std::unexpected(Fault{FaultKind::type, "the context is no object"});
  return context.dict()->get();
}

}  // namespace

std::expected<Template, Fault> Template::parse(std::string_view source, const Environment& environment) {
  auto program = TRY(program_of(source, environment));
  if (!environment.keep_trailing_newline && program->source.ends_with('\n')) program->source.pop_back();
  auto tokens = TRY(tokens_of_template(program->source, environment));
  TRY(Parser(*program).template_body(std::move(tokens)));
  return Template(std::move(program));
}

std::expected<Rendering, Fault> Template::render_marked(const Value& context, const Limits& limits,
                                                        const LateFilter& late) const {
  const Dict* names = TRY(variables(context));
  return Machine(*program_, *names, limits, late).render();
}

bool Template::mentions(std::string_view variable) const {
  return std::ranges::find(program_->names, variable) != program_->names.end();
}

const std::vector<std::string>& Template::late_filters() const { return program_->late_filters; }

std::expected<Expression, Fault> Expression::parse(std::string_view source, const Environment& environment) {
  auto program = TRY(program_of(source, environment));
  auto tokens = TRY(tokens_of_expression(program->source));
  TRY(Parser(*program).formula(std::move(tokens)));
  return Expression(std::move(program));
}

std::expected<Value, Fault> Expression::evaluate(const Value& context, const Limits& limits,
                                                 const LateFilter& late) const {
  const Dict* names = TRY(variables(context));
  return Machine(*program_, *names, limits, late).evaluate_formula();
}

}  // namespace stackgate::jinja
