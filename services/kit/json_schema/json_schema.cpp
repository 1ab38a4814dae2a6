#include "services/kit/json_schema/json_schema.hpp"

#if !defined(VALIJSON_USE_EXCEPTIONS) || VALIJSON_USE_EXCEPTIONS != 1
#error "valijson aborts the process on a wrong schema unless VALIJSON_USE_EXCEPTIONS=1: link the CMake target valijson"
#endif

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>
#pragma GCC diagnostic pop

#include "services/kit/json_schema/explain.hpp"

namespace stackgate::validate {

struct JsonSchema::Compiled {
  nlohmann::json text;  // for the words of a fault
  valijson::Schema schema;
};

namespace {

constexpr int deepest_body = 128;

nlohmann::json to_nlohmann(const json::Value& value) {
  switch (value.type()) {
    case json::Type::null:
      return nullptr;
    case json::Type::boolean:
      return value.boolean();
    case json::Type::integer:
      return value.integer();
    case json::Type::number:
      return value.number();
    case json::Type::string:
      return std::string(value.string());
    case json::Type::array: {
      nlohmann::json out = nlohmann::json::array();
      for (const json::Value& each : value.items()) out.push_back(to_nlohmann(each));
      return out;
    }
    case json::Type::object: {
      nlohmann::json out = nlohmann::json::object();
      for (const json::Member& each : value.members()) out.emplace(std::string(each.key), to_nlohmann(each.value));
      return out;
    }
  }
  return nullptr;
}

// What the checker cannot be given: too deep for its recursion, or a text too long for its regular expressions.
bool find_excess(const json::Value& value, const Path* at, int depth, std::size_t longest_string,
                 std::vector<schema::SchemaFault>& faults) {
  using schema::Fault;
  if (depth > deepest_body) {
    faults.push_back({Fault::length, to_string(at), value.offset(), &value, "is nested too deeply",
                      fmt::format("nest at most {} lists and objects", deepest_body)});
    return true;
  }
  if (value.string().size() > longest_string) {
    faults.push_back({Fault::length, to_string(at), value.offset(), &value,
                      fmt::format("has {} bytes", value.string().size()),
                      fmt::format("write at most {} bytes", longest_string)});
    return true;
  }
  for (const json::Member& each : value.members()) {
    const Path here{at, each.key};
    if (find_excess(each.value, &here, depth + 1, longest_string, faults)) return true;
  }
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    const Path here{at, {}, static_cast<std::int64_t>(i)};
    if (find_excess(value.items()[i], &here, depth + 1, longest_string, faults)) return true;
  }
  return false;
}

struct Wording {
  std::string_view begins;
  schema::Fault fault;
  std::string_view problem, fix;
};
// valijson's sentences; those of parents, which repeat a fault of a child, are left out.
constexpr std::array<Wording, 22> wordings{{
    {"Value type not permitted", schema::Fault::type, "has the wrong type", "write a value of the documented type"},
    {"Missing required property", schema::Fault::required, "is required, but missing", "add it"},
    {"Object contains a property", schema::Fault::unknown, "unknown field", "remove it"},
    {"Failed to match against any enum", schema::Fault::enumeration, "is none of the allowed values",
     "write one of the documented values"},
    {"Failed to match expected value set by 'const'", schema::Fault::enumeration, "is not the one allowed value",
     "write the documented value"},
    {"Failed to match regex", schema::Fault::pattern, "does not have the form that is needed here",
     "write it in the documented form"},
    {"Expected number", schema::Fault::range, "is out of range", "write a number in the documented range"},
    {"Value should be a multiple", schema::Fault::range, "is not a multiple of the documented step",
     "write a multiple of it"},
    {"Value could not be converted", schema::Fault::range, "is not a multiple of the documented step",
     "write a multiple of it"},
    {"String should be no more", schema::Fault::length, "is too long", "write a shorter text"},
    {"String should be no fewer", schema::Fault::length, "is too short", "write a longer text"},
    {"String should be a valid", schema::Fault::format, "does not have the format that is needed here",
     "write it in the documented format"},
    {"Array should contain no", schema::Fault::length, "has too many or too few items",
     "write the documented number of items"},
    {"Array contains more items", schema::Fault::length, "has too many items", "remove some"},
    {"Object should have no", schema::Fault::length, "has too many or too few fields",
     "write the documented number of fields"},
    {"Elements at indexes", schema::Fault::duplicate, "has the same item twice", "remove one of them"},
    {"Failed to validate against any", schema::Fault::combination, "fits none of the allowed forms",
     "write one of the documented forms"},
    {"Failed to validate against exactly", schema::Fault::combination, "fits none or several of the allowed forms",
     "write one of the documented forms"},
    {"Target should not validate", schema::Fault::combination, "has a form that is not allowed",
     "write one of the documented forms"},
    {"Failed to validate against a conditional", schema::Fault::combination,
     "does not fit the form that its other fields ask for", "write one of the documented forms"},
    {"Missing dependency", schema::Fault::combination, "lacks a field that another one needs", "add it"},
    {"Failed to any values against subschema in 'contains'", schema::Fault::combination, "lacks an item that is needed",
     "add it"},
}};

const Wording* wording_of(std::string_view sentence) {
  for (const Wording& each : wordings)
    if (sentence.starts_with(each.begins)) return &each;
  return nullptr;
}

// The text between the first pair of single quotes.
std::string_view quoted_name(std::string_view sentence) {
  const std::size_t begin = sentence.find('\'');
  const std::size_t end = sentence.rfind('\'');
  return begin == std::string_view::npos || end <= begin ? std::string_view()
                                                         : sentence.substr(begin + 1, end - begin - 1);
}

schema::SchemaFault to_fault(const valijson::ValidationResults::Error& error, const Wording& wording,
                             const json::Value& root, const nlohmann::json& text) {
  const nlohmann::json* node = &text;
  std::vector<Path> links;
  links.reserve(error.context.size() + 1);
  const auto step = [&](std::string_view key, std::int64_t index) {
    links.push_back({links.empty() ? nullptr : &links.back(), key, index});
  };
  const json::Value* value = &root;
  for (std::string_view part : error.context) {
    if (!part.starts_with('[') || !part.ends_with(']')) continue;  // "<root>"
    part = part.substr(1, part.size() - 2);
    if (value != nullptr && value->is_array()) {
      std::size_t index = 0;
      std::from_chars(part.data(), part.data() + part.size(), index);
      step({}, static_cast<std::int64_t>(index));
      value = index < value->items().size() ? &value->items()[index] : nullptr;
      node = json_schema::schema_of_item(text, node, index);
    } else {
      step(part, -1);
      value = value == nullptr ? nullptr : value->find(part);
      node = json_schema::schema_of_member(text, node, part);
    }
  }
  std::uint32_t offset = value == nullptr ? root.offset() : value->offset();
  // These name a field of the object they stand at.
  std::string_view name;
  if (wording.fault == schema::Fault::required) name = quoted_name(error.description);
  if (wording.fault == schema::Fault::unknown) {
    const std::size_t colon = error.description.rfind(": '");
    if (colon != std::string::npos)
      name = std::string_view(error.description).substr(colon + 3, error.description.rfind('\'') - colon - 3);
  }
  if (!name.empty()) {
    step(name, -1);
    const json::Member* member = value == nullptr ? nullptr : value->find_member(name);
    value = member == nullptr ? nullptr : &member->value;
    if (member != nullptr) offset = member->key_offset;
  }
  schema::SchemaFault out{wording.fault,
                          to_string(links.empty() ? nullptr : &links.back()),
                          offset,
                          value,
                          std::string(wording.problem),
                          std::string(wording.fix)};
  json_schema::explain(out, text, node, name);
  return out;
}

// valijson reports the first unknown field of an object only.
void add_unknown_fields(const json::Value& value, const nlohmann::json& text, const nlohmann::json* node,
                        const Path* at, std::vector<schema::SchemaFault>& faults, std::size_t max_faults) {
  for (const json::Member& each : value.members()) {
    const Path here{at, each.key};
    if (json_schema::allows_member(text, node, each.key)) {
      if (const auto* below = json_schema::schema_of_member(text, node, each.key))
        add_unknown_fields(each.value, text, below, &here, faults, max_faults);
      continue;
    }
    if (faults.size() >= max_faults) return;
    const std::string path = to_string(&here);
    const bool known = std::ranges::any_of(faults, [&](const schema::SchemaFault& fault) {
      return fault.fault == schema::Fault::unknown && fault.path == path;
    });
    if (known) continue;
    faults.push_back({schema::Fault::unknown, path, each.key_offset, &each.value, "unknown field", "remove it"});
    json_schema::explain(faults.back(), text, node, each.key);
  }
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    const Path here{at, {}, static_cast<std::int64_t>(i)};
    if (const auto* below = json_schema::schema_of_item(text, node, i))
      add_unknown_fields(value.items()[i], text, below, &here, faults, max_faults);
  }
}

// The regular expressions that a Validator keeps are not locked and dear to make: one for each thread.
valijson::Validator& thread_validator() {
  thread_local valijson::Validator validator;
  return validator;
}

}  // namespace

std::expected<JsonSchema, std::string> JsonSchema::compile(std::string_view schema_text, Draft draft) {
  try {
    auto compiled = std::make_shared<Compiled>();
    compiled->text = nlohmann::json::parse(schema_text);
    valijson::SchemaParser parser(draft == Draft::v4 ? valijson::SchemaParser::kDraft4
                                                     : valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(compiled->text), compiled->schema);
    return JsonSchema(std::move(compiled));
  } catch (const std::exception& error) {
    return std::unexpected(std::string(error.what()));
  }
}

std::vector<schema::SchemaFault> JsonSchema::check(const json::Value& value, std::size_t max_faults,
                                                   std::size_t longest_string) const {
  std::vector<schema::SchemaFault> faults;
  if (find_excess(value, nullptr, 0, longest_string, faults)) return faults;
  const nlohmann::json document = to_nlohmann(value);
  valijson::ValidationResults results;
  try {
    if (thread_validator().validate(compiled_->schema, valijson::adapters::NlohmannJsonAdapter(document), &results))
      return faults;
  } catch (const std::exception& error) {  // std::regex gives up on some texts
    faults.push_back({schema::Fault::pattern, "", value.offset(), &value,
                      "could not be checked: a text is too complex for a pattern", "write shorter texts"});
    return faults;
  }
  for (const auto& error : results) {
    if (faults.size() >= max_faults) break;
    const Wording* wording = wording_of(error.description);
    if (wording == nullptr) continue;
    schema::SchemaFault fault = to_fault(error, *wording, value, compiled_->text);
    const bool known = std::ranges::any_of(
        faults, [&](const schema::SchemaFault& each) { return each.fault == fault.fault && each.path == fault.path; });
    if (!known) faults.push_back(std::move(fault));
  }
  add_unknown_fields(value, compiled_->text, &compiled_->text, nullptr, faults, max_faults);
  // A refusal must say something, whatever words valijson found for it.
  if (faults.empty())
    faults.push_back({schema::Fault::combination, "", value.offset(), &value, "does not fit the schema",
                      "write it in the documented form"});
  std::ranges::stable_sort(faults, {}, &schema::SchemaFault::offset);
  return faults;
}

JsonSchema::JsonSchema(std::shared_ptr<const Compiled> compiled) : compiled_(std::move(compiled)) {}
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;
JsonSchema::~JsonSchema() = default;

}  // namespace stackgate::validate
