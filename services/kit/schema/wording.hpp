// What a fault is called, and what to write instead. Only faulty objects come here: clarity before speed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/path.hpp"
#include "services/kit/grammar/problem.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/schema/schema.hpp"

namespace stackgate::validate::schema {

using grammar::Problem;

/// Whether the value at `at` may be repeated in a message: not the value of an environment variable or an annotation,
/// nor anything under a name such as password, token or apiKey.
bool may_repeat(const Path* at, std::string_view key);

/// `key` is the field's name, empty for an item.
Problem describe_wrong_type(const Node& node, const json::Value& value, bool repeat, std::string_view key);
Problem describe_null(const Node& node);
Problem describe_missing(const Node* node, std::string_view name, bool is_null);
/// The names of the members that an object of this kind may have.
std::vector<std::string_view> known_names(const Node& node);
Problem describe_unknown(const Node& parent, std::string_view name);
/// Whether `name` is a container's resource (cpu, nvidia.com/gpu) that stands beside limits and requests in place of
/// inside them.
bool is_resource_without_side(const Node& parent, std::string_view name);
Problem describe_not_allowed(const Node& node, const json::Value& value);
Problem describe_out_of_range(const Node& node);
Problem describe_format_range(const Node& node);
Problem describe_multiple(const Node& node);
/// How one does without an empty value: by leaving its field out, or the item; or not at all, as it is needed.
enum class Without : std::uint8_t { nothing, field, item };
/// `what` is "character", "item" or "entry".
Problem describe_too_few(std::uint64_t least, std::uint64_t have, std::string_view what,
                         Without without = Without::nothing);
Problem describe_too_many(std::uint64_t most, std::uint64_t have, std::string_view what);
Problem describe_wrong_format(Format format);
/// `key` names the list-map keys that are equal, empty for whole items.
Problem describe_duplicate(std::span<const std::string_view> keys, std::size_t first);

/// "a string", "an integer between 1 and 65535", "one of a, b": what a place holds.
std::string describe(const Node& node);
/// "a string", "true or false".
std::string_view with_article(json::Type type);
/// "a, b and c": the members that an object of this kind may have, those first that it must have.
std::string field_names(const Node& node);

}  // namespace stackgate::validate::schema
