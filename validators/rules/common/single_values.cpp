#include "validators/rules/common/single_values.hpp"

#include <fmt/format.h>

#include "services/kit/grammar/image.hpp"
#include "services/kit/grammar/names.hpp"
#include "validators/rules/common.hpp"
#include "validators/schemas.hpp"

namespace stackgate::validate {
namespace {

/// k8s.io/apimachinery/pkg/api/validation, TotalAnnotationSizeLimitB.
constexpr std::size_t annotations_limit = 256 * 1024;

std::optional<grammar::Problem> image_problem(std::string_view text) {
  const auto image = grammar::parse_image(text);
  if (!image) return image.error();
  return std::nullopt;
}

std::string cure_of_empty_name(const Context& context, const Field& name) {
  if (name.key().empty()) return "write a name, or take the item out";
  const schema::Property* property = schema::property_at(schema_of(context.request.kind).root(), nullptr, name.path());
  return property != nullptr && !property->must_be_written ? "write a name, or leave the field out" : "write a name";
}

}  // namespace

void check_text(Context& context, const Rule& rule, const Field& field, TextGrammar grammar) {
  if (field.absent() || !field.value()->is_string()) return;
  if (auto bad = grammar(field.value()->string()))
    context.report(rule, field, std::move(bad->problem), std::move(bad->fix));
}

void check_object_name(Context& context, Field name) {
  if (name.present() && name.value()->is_string() && name.value()->string().empty())
    return context.report(rule::object_name, name, "must not be empty", cure_of_empty_name(context, name));
  check_text(context, rule::object_name, name, grammar::check_dns_subdomain);
}

void check_secret_key(Context& context, Field key) {
  check_text(context, rule::secret_key_name, key, grammar::check_config_key);
}

void check_env_name(Context& context, Field name) {
  check_text(context, rule::env_name, name, grammar::check_env_name);
}

std::optional<grammar::Quantity> quantity_of(const Field& field) {
  if (field.absent()) return std::nullopt;
  if (field.value()->is_integer()) return grammar::Quantity::from_integer(field.value()->integer());
  if (!field.value()->is_string()) return std::nullopt;
  const auto parsed = grammar::parse_quantity(field.value()->string());
  if (!parsed) return std::nullopt;
  return *parsed;
}

std::optional<grammar::Quantity> checked_quantity(Context& context, const Field& quantity) {
  const auto amount = quantity_of(quantity);
  if (amount ? amount->sign() >= 0 : quantity.absent() || !quantity.value()->is_string()) return amount;
  grammar::Problem problem{"must not be negative", "write 0 or more, for example 10Gi"};
  if (!amount && quantity.key().find('/') != std::string_view::npos)  // devices have no units
    problem = {"must be a whole number", "write a whole number, for example 1"};
  else if (!amount)
    problem = grammar::parse_quantity(quantity.value()->string()).error();
  context.report(rule::quantity, quantity, std::move(problem.problem), std::move(problem.fix));
  return std::nullopt;
}

void check_image_reference(Context& context, Field image) {
  check_text(context, rule::image_reference, image, image_problem);
  if (image.absent() || !image.value()->is_string()) return;
  const auto parsed = grammar::parse_image(image.value()->string());
  if (!parsed || !parsed->digest.empty()) return;
  if (parsed->tag.empty() || parsed->tag == "latest")
    context.report(rule::image_latest, image,
                   parsed->tag.empty() ? "an image without a tag means latest, which moves"
                                       : "the tag latest moves: a restart may run other code",
                   "name a version, for example :1.4.2, or a digest");
}

void check_labels(Context& context, const Field& labels) {
  for (const Field label : labels.entries()) {
    if (auto bad = grammar::check_label_key(label.key()))
      context.report(rule::label_grammar, label, "the label's key " + bad->problem, std::move(bad->fix));
    else
      check_text(context, rule::label_grammar, label, grammar::check_label_value);
  }
}

void check_annotations(Context& context, const Field& annotations) {
  std::size_t bytes = 0;
  for (const Field annotation : annotations.entries()) {
    bytes += annotation.key().size();
    if (!annotation.absent()) bytes += annotation.value()->string().size();
    if (auto bad = grammar::check_annotation_key(annotation.key()))
      context.report(rule::annotation_grammar, annotation, "the annotation's key " + bad->problem, std::move(bad->fix));
  }
  if (bytes > annotations_limit)
    context.report(rule::annotation_grammar, annotations,
                   fmt::format("the annotations hold {} bytes together; the limit is {}", bytes, annotations_limit),
                   "keep large texts in a ConfigMap");
}

}  // namespace stackgate::validate
