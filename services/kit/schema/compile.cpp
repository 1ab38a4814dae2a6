#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "services/kit/schema/formats.hpp"
#include "services/kit/schema/pattern.hpp"
#include "services/kit/schema/property_index.hpp"
#include "services/kit/schema/schema.hpp"

namespace stackgate::validate::schema {

struct Schema::Storage {
  json::Arena arena;
  std::vector<std::shared_ptr<const Pattern>> patterns;
  const Node* root = nullptr;
};

namespace {

constexpr int deepest_schema = 200;

std::uint8_t bit(json::Type type) { return static_cast<std::uint8_t>(1U << static_cast<unsigned>(type)); }
constexpr std::uint8_t any_type = 0x7F;

// Thrown inside compile() only, and caught at its door.
struct CompileError {
  std::string message;
};

// Where the compiler stands, for its errors.
struct SchemaPlace {
  const SchemaPlace* parent = nullptr;
  std::string_view key;

  std::string text() const {
    const std::string above = parent == nullptr ? std::string() : parent->text();
    return above.empty() ? std::string(key) : above + "." + std::string(key);
  }
};

[[noreturn]] void refuse(const SchemaPlace& at, std::string_view problem) {
  const std::string place = at.text();
  throw CompileError{fmt::format("{}: {}", place.empty() ? "schema" : place, problem)};
}

class Compiler {
 public:
  Compiler(json::Arena& arena, std::vector<std::shared_ptr<const Pattern>>& patterns, GrammarOf grammar_of)
      : arena_(arena), patterns_(patterns), grammar_of_(grammar_of) {}

  const Node* compile_root(const json::Value& schema, Root root) {
    const SchemaPlace at;
    resource_ = root == Root::resource;
    Node& node = node_of(schema, at, {}, 0);
    if (root == Root::resource) {
      if (node.type != json::Type::object) refuse(at, "the schema of a resource must have type object");
      node.embedded_resource = true;
    }
    return &node;
  }

 private:
  struct Inside {
    bool value_only = false;  // below anyOf, oneOf, allOf, not
    bool metadata = false;    // the metadata of a resource: its fields are known elsewhere
  };

  Node& node_of(const json::Value& schema, const SchemaPlace& at, Inside inside, int depth) {
    if (depth > deepest_schema) refuse(at, "is nested too deeply");
    if (!schema.is_object()) refuse(at, "must be an object");
    Node& node = *arena_.make<Node>();
    node.value_only = inside.value_only || inside.metadata;
    Limits limits;
    bool limited = false;
    std::string_view type;
    std::string_view format;
    const json::Value* required = nullptr;
    for (const json::Member& member : schema.members()) {
      const SchemaPlace here{&at, member.key};
      const json::Value& value = member.value;
      const std::string_view key = member.key;
      if (key == "type")
        type = text(value, here);
      else if (key == "description")
        node.description = text(value, here);
      else if (key == "format")
        format = text(value, here);
      else if (key == "nullable")
        node.nullable = flag(value, here);
      else if (key == "default") {
        if (!value.is_null()) node.default_value = &value;
      } else if (key == "required")
        required = &value;
      else if (key == "enum")
        enumeration(node, value, here);
      else if (key == "properties")
        properties(node, value, here, inside, depth);
      else if (key == "additionalProperties")
        additional(node, value, here, inside, depth);
      else if (key == "items")
        node.items = &node_of(value, here, inside, depth + 1);
      else if (key == "pattern")
        pattern(node, value, here);
      else if (key == "allOf")
        node.all_of = combination(value, here, depth);
      else if (key == "anyOf")
        node.any_of = combination(value, here, depth);
      else if (key == "oneOf")
        node.one_of = combination(value, here, depth);
      else if (key == "not")
        node.not_ = &node_of(value, here, {.value_only = true}, depth + 1);
      else if (key == "x-kubernetes-preserve-unknown-fields")
        node.preserve_unknown = flag(value, here);
      else if (key == "x-kubernetes-embedded-resource")
        node.embedded_resource = flag(value, here);
      else if (key == "x-kubernetes-int-or-string")
        node.int_or_string = flag(value, here);
      else if (key == "x-kubernetes-list-type")
        node.list_type = list_type(value, here);
      else if (key == "x-kubernetes-list-map-keys")
        node.list_keys = names(value, here);
      else if (limit(limits, key, value, here))
        limited = true;
      else if (!is_annotation(key))
        refuse(here, "is a keyword that this checker does not enforce");
    }
    if (limited) node.limits = arena_.make<Limits>(limits);
    finish_type(node, type, at);
    finish_format(node, format, type, at);
    finish_required(node, required, at);
    finish_lists(node, at);
    drop_int_or_string_form(node);
    node.combined = !node.all_of.empty() || !node.any_of.empty() || !node.one_of.empty() || node.not_ != nullptr;
    if (node.embedded_resource && !inside.value_only && type != "object" && !type.empty())
      refuse(at, "an embedded resource must have type object");
    return node;
  }

  static bool is_annotation(std::string_view key) {
    static constexpr std::array<std::string_view, 7> words{
        "title", "example", "externalDocs", "x-kubernetes-validations", "x-kubernetes-map-type", "$schema", "id"};
    return std::ranges::find(words, key) != words.end();
  }

  std::string_view text(const json::Value& value, const SchemaPlace& at) const {
    if (!value.is_string()) refuse(at, "must be a string");
    return value.string();
  }
  bool flag(const json::Value& value, const SchemaPlace& at) const {
    if (!value.is_boolean()) refuse(at, "must be true or false");
    return value.boolean();
  }
  std::uint64_t count(const json::Value& value, const SchemaPlace& at) const {
    if (!value.is_integer() || value.integer() < 0) refuse(at, "must be a whole number of at least 0");
    return static_cast<std::uint64_t>(value.integer());
  }
  std::span<const std::string_view> names(const json::Value& value, const SchemaPlace& at) {
    if (!value.is_array()) refuse(at, "must be a list of strings");
    std::vector<std::string_view> out;
    for (const json::Value& each : value.items()) out.push_back(text(each, at));
    return arena_.copy(std::span<const std::string_view>(out));
  }

  bool limit(Limits& limits, std::string_view key, const json::Value& value, const SchemaPlace& at) const {
    using Count = std::pair<std::string_view, std::optional<std::uint64_t> Limits::*>;
    static constexpr std::array<Count, 6> counts{{{"minLength", &Limits::min_length},
                                                  {"maxLength", &Limits::max_length},
                                                  {"minItems", &Limits::min_items},
                                                  {"maxItems", &Limits::max_items},
                                                  {"minProperties", &Limits::min_properties},
                                                  {"maxProperties", &Limits::max_properties}}};
    const auto number = [&] {
      if (!value.is_number()) refuse(at, "must be a number");
      return value.number();
    };
    if (key == "minimum")
      limits.minimum = number();
    else if (key == "maximum")
      limits.maximum = number();
    else if (key == "exclusiveMinimum")
      limits.exclusive_minimum = flag(value, at);
    else if (key == "exclusiveMaximum")
      limits.exclusive_maximum = flag(value, at);
    else if (key == "multipleOf") {
      limits.multiple_of = number();
      if (!(*limits.multiple_of > 0)) refuse(at, "must be larger than 0");
    } else if (const auto* const found = std::ranges::find(counts, key, &Count::first); found != counts.end())
      limits.*found->second = count(value, at);
    else if (key == "uniqueItems")
      limits.unique_items = flag(value, at);
    else
      return false;
    return true;
  }

  void enumeration(Node& node, const json::Value& value, const SchemaPlace& at) const {
    if (!value.is_array() || value.items().empty()) refuse(at, "must be a list with at least one value");
    node.enumeration = value.items();
  }

  void pattern(Node& node, const json::Value& value, const SchemaPlace& at) {
    std::string error;
    const std::string_view source = text(value, at);
    auto compiled = Pattern::compile(source, error, grammar_of_ == nullptr ? std::string_view{} : grammar_of_(source));
    if (compiled == nullptr) refuse(at, "is no regular expression: " + error);
    node.pattern = compiled.get();
    if (std::ranges::find(patterns_, compiled) == patterns_.end()) patterns_.push_back(std::move(compiled));
  }

  static ListType list_type(const json::Value& value, const SchemaPlace& at) {
    if (value.string() == "atomic") return ListType::atomic;
    if (value.string() == "set") return ListType::set;
    if (value.string() == "map") return ListType::map;
    refuse(at, "must be atomic, set or map");
  }

  void properties(Node& node, const json::Value& value, const SchemaPlace& at, Inside inside, int depth) {
    if (!value.is_object()) refuse(at, "must be an object");
    std::vector<Property> all;
    const bool of_resource = resource_ && depth == 0;
    for (const json::Member& member : value.members()) {
      const SchemaPlace here{&at, member.key};
      Inside below = inside;
      if (of_resource && member.key == "metadata") below.metadata = true;
      all.push_back({.name = member.key, .node = &node_of(member.value, here, below, depth + 1)});
    }
    if (all.size() > 0xFFFE) refuse(at, "has too many fields");
    std::ranges::sort(all, {}, &Property::name);
    node.properties = arena_.copy(std::span<const Property>(all));
    // At most half full, so that a search ends soon.
    std::vector<std::uint16_t> slots(std::bit_ceil(all.size() * 2 + 2));
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::size_t slot = property_hash(all[i].name) & (slots.size() - 1);
      while (slots[slot] != 0) slot = (slot + 1) & (slots.size() - 1);
      slots[slot] = static_cast<std::uint16_t>(i + 1);
    }
    node.slots = arena_.copy(std::span<const std::uint16_t>(slots));
  }

  void additional(Node& node, const json::Value& value, const SchemaPlace& at, Inside inside, int depth) {
    if (value.is_boolean()) {
      if (!value.boolean()) refuse(at, "must not be false: fields that are not named are unknown anyway");
      Node& anything = *arena_.make<Node>();
      anything.accepts = any_type;
      anything.nullable = true;
      node.additional = &anything;
      return;
    }
    node.additional = &node_of(value, at, inside, depth + 1);
  }

  std::span<const Node* const> combination(const json::Value& value, const SchemaPlace& at, int depth) {
    if (!value.is_array() || value.items().empty()) refuse(at, "must be a list with at least one schema");
    std::vector<const Node*> out;
    for (const json::Value& each : value.items()) out.push_back(&node_of(each, at, {.value_only = true}, depth + 1));
    return arena_.copy(std::span<const Node* const>(out));
  }

  void finish_type(Node& node, std::string_view type, const SchemaPlace& at) const {
    using json::Type;
    static constexpr std::array<std::pair<std::string_view, Type>, 6> types{{{"object", Type::object},
                                                                             {"array", Type::array},
                                                                             {"string", Type::string},
                                                                             {"integer", Type::integer},
                                                                             {"number", Type::number},
                                                                             {"boolean", Type::boolean}}};
    if (type.empty()) {
      // Without a type null passes too, but only where nothing is pruned: the walk looks at `nullable` for fields.
      node.accepts = node.int_or_string ? static_cast<std::uint8_t>(bit(Type::integer) | bit(Type::string)) : any_type;
    } else {
      const auto found = std::ranges::find(types, type, &std::pair<std::string_view, Type>::first);
      if (found == types.end())
        refuse(SchemaPlace{&at, "type"}, "must be object, array, string, integer, number or boolean");
      if (node.int_or_string) refuse(at, "x-kubernetes-int-or-string stands beside a type");
      node.type = found->second;
      node.accepts = bit(found->second);
      if (found->second == Type::number) node.accepts |= bit(Type::integer);
    }
    if (node.nullable) node.accepts |= bit(Type::null);
  }

  void finish_format(Node& node, std::string_view format, std::string_view type, const SchemaPlace& at) const {
    if (format.empty()) return;
    const auto known = format_named(format, type);
    if (!known) refuse(SchemaPlace{&at, "format"}, "is a format that this checker does not enforce");
    node.format = *known;
  }

  void finish_required(Node& node, const json::Value* required, const SchemaPlace& at) {
    if (required == nullptr) return;
    node.required = names(*required, SchemaPlace{&at, "required"});
    // The properties are this compiler's own, made a moment ago.
    const std::span<Property> own(const_cast<Property*>(node.properties.data()), node.properties.size());
    for (const std::string_view name : node.required) {
      const auto found = std::ranges::find(own, name, &Property::name);
      if (found == own.end()) {
        node.requires_unknown = true;
      } else if (!found->required) {
        found->required = true;
        found->must_be_written = found->node->default_value == nullptr;
        node.must_be_written += found->must_be_written ? 1U : 0U;
      }
    }
  }

  void finish_lists(Node& node, const SchemaPlace& at) const {
    if (node.list_type == ListType::map && node.list_keys.empty())
      refuse(at, "a list of type map needs x-kubernetes-list-map-keys");
    if (node.list_type != ListType::map && !node.list_keys.empty())
      refuse(at, "x-kubernetes-list-map-keys needs a list of type map");
    if (node.list_type == ListType::map && (node.items == nullptr || node.items->type != json::Type::object))
      refuse(at, "a list of type map needs items of type object");
    for (const std::string_view key : node.list_keys)
      if (node.items->property(key) == nullptr)
        refuse(at, "x-kubernetes-list-map-keys names a field that the items do not have");
    if (node.type == json::Type::array && node.items == nullptr && !node.value_only && !node.preserve_unknown)
      refuse(at, "an array needs items");
    if (node.type == json::Type::object && node.additional != nullptr && !node.properties.empty())
      refuse(at, "properties and additionalProperties exclude each other");
  }

  // anyOf of integer and string, which people write beside x-kubernetes-int-or-string, says nothing new.
  static void drop_int_or_string_form(Node& node) {
    if (!node.int_or_string || node.any_of.size() != 2) return;
    const auto plain = [](const Node* each, json::Type type) {
      return each->type == type && each->limits == nullptr && each->pattern == nullptr && each->enumeration.empty() &&
             !each->combined && each->format == Format::none;
    };
    if (plain(node.any_of[0], json::Type::integer) && plain(node.any_of[1], json::Type::string)) node.any_of = {};
  }

  json::Arena& arena_;
  std::vector<std::shared_ptr<const Pattern>>& patterns_;
  const GrammarOf grammar_of_;
  bool resource_ = false;
};

}  // namespace

const Property* Node::find(std::string_view name) const {
  if (slots.empty()) return nullptr;
  const std::size_t mask = slots.size() - 1;
  for (std::size_t slot = property_hash(name) & mask; slots[slot] != 0; slot = (slot + 1) & mask) {
    const Property& each = properties[slots[slot] - 1U];
    if (each.name.size() == name.size() && std::memcmp(each.name.data(), name.data(), name.size()) == 0) return &each;
  }
  return nullptr;
}

std::expected<Schema, std::string> Schema::compile(const json::Value& open_api_v3_schema, Root root,
                                                   GrammarOf grammar_of) {
  auto storage = std::make_unique<Storage>();
  try {
    storage->root = Compiler(storage->arena, storage->patterns, grammar_of).compile_root(open_api_v3_schema, root);
  } catch (const CompileError& error) {
    return std::unexpected(error.message);
  }
  return Schema(std::move(storage));
}

Schema::Schema(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
Schema::Schema(Schema&&) noexcept = default;
Schema& Schema::operator=(Schema&&) noexcept = default;
Schema::~Schema() = default;

const Node& Schema::root() const { return *storage_->root; }

}  // namespace stackgate::validate::schema
