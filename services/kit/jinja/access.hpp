// Attributes, items and slices: value.name, value[key], value[1:-1].
#pragma once
#include <optional>
#include <string_view>

#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

/// `missing` is what there is when there is none. Asking an undefined value is a fault.
Result attribute_of(Machine& machine, const Value& subject, std::string_view name, const Value& missing);
Result item_of(Machine& machine, const Value& subject, const Value& key);

struct Slice {
  std::optional<std::int64_t> begin;
  std::optional<std::int64_t> end;
  std::int64_t step = 1;  // not 0
};
Result slice_of(Machine& machine, const Value& subject, const Slice& slice);

/// A method of a text, list or dict; nullptr: there is none of this name.
Builtin find_method(const Value& subject, std::string_view name);
std::span<const NamedBuiltin> text_methods();
std::span<const NamedBuiltin> dict_methods();
std::span<const NamedBuiltin> list_methods();

/// "a.b.0" of map(attribute=) and its kin.
/// `fallback` stands for each part that there is not.
Result path_of(Machine& machine, const Value& subject, const Value& path, const Value* fallback = nullptr);

}  // namespace stackgate::jinja
