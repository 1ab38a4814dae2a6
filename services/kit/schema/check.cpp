#include "services/kit/schema/check.hpp"

#include <algorithm>
#include <cmath>

#include "services/kit/schema/duplicates.hpp"
#include "services/kit/schema/formats.hpp"
#include "services/kit/schema/pattern.hpp"
#include "services/kit/schema/walker.hpp"
#include "services/kit/schema/wording.hpp"

namespace stackgate::validate::schema {
namespace {

using json::Type;

// The largest whole number that a JSON reader may hold as a double without loss.
constexpr double largest_exact = 9007199254740991.0;

bool is_whole(double value) { return std::abs(value) <= largest_exact && std::trunc(value) == value; }

// Code points of well-formed UTF-8.
std::uint64_t count_code_points(std::string_view text) {
  std::uint64_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U ? 1U : 0U;
  return count;
}

bool is_meta_key(std::string_view key) { return key == "metadata" || key == "apiVersion" || key == "kind"; }

// The API server drops a null field that is not nullable before it looks at the object.
bool is_dropped(const Node* node, const json::Value& value) {
  return value.is_null() && node != nullptr && !node->nullable;
}

const Node* child_of(const Node* node, std::string_view key) {
  if (node == nullptr) return nullptr;
  const Node* found = node->property(key);
  return found != nullptr ? found : node->additional;
}

Without cure_of_empty(const Node* root, const Path* base, const Path* at) {
  if (root == nullptr || at == base) return Without::nothing;
  if (at->index >= 0) return Without::item;
  const Property* property = property_at(*root, base, at);
  return property != nullptr && !property->must_be_written ? Without::field : Without::nothing;
}

}  // namespace

void Walker::report(Fault fault, const Path* at, std::uint32_t offset, const json::Value* value,
                    grammar::Problem problem) {
  ++faults_;
  if (out_ == nullptr || full()) return;
  if (out_->empty()) out_->reserve(8);  // who errs at all seldom errs once
  out_->push_back({fault, to_string(at), offset, value, std::move(problem.problem), std::move(problem.fix)});
}

void Walker::mismatch(const Pattern& pattern, const json::Value& value, const Path* at) {
  const bool explain = out_ != nullptr && options_.explain_mismatches;
  const std::size_t before = out_ == nullptr ? 0 : out_->size();
  report(Fault::pattern, at, value.offset(), &value,
         explain ? explain_mismatch(pattern, value.string()) : grammar::Problem{});
  if (out_ != nullptr && out_->size() > before) out_->back().pattern = &pattern;
}

void Walker::walk(const Node& node, const Node* base, const json::Value& value, const Path* at) {
  if (stopped()) return;
  const Type type = value.type();
  if ((node.accepts >> static_cast<unsigned>(type) & 1U) == 0 &&
      !(type == Type::number && (node.accepts >> static_cast<unsigned>(Type::integer) & 1U) != 0 &&
        is_whole(value.number()))) {
    wrong_type(node, value, at);
    return;
  }
  const std::size_t before = faults_;
  if (!node.enumeration.empty() &&
      std::ranges::none_of(node.enumeration, [&](const json::Value& each) { return json::equal(each, value); })) {
    if (out_ == nullptr)
      ++faults_;
    else
      report(Fault::enumeration, at, value.offset(), &value, describe_not_allowed(node, value));
    return;
  }
  switch (type) {
    case Type::object:
      walk_object(node, base, value, at);
      break;
    case Type::array:
      walk_array(node, base, value, at);
      break;
    case Type::string:
      if (node.limits != nullptr || node.pattern != nullptr || node.format != Format::none)
        walk_string(node, value, at);
      break;
    case Type::integer:
    case Type::number:
      if (node.limits != nullptr || node.format == Format::int32) walk_number(node, value, at);
      break;
    case Type::boolean:
    case Type::null:
      break;
  }
  if (node.combined && faults_ == before) walk_combinations(*this, node, base, value, at);
}

void Walker::wrong_type(const Node& node, const json::Value& value, const Path* at) {
  if (out_ == nullptr) {
    ++faults_;
    return;
  }
  const bool repeat = at == nullptr || may_repeat(at->parent, at->key);
  const bool null = value.is_null();
  report(null ? Fault::null_value : Fault::type, at, value.offset(), &value,
         null ? describe_null(node)
              : describe_wrong_type(node, value, repeat, at == nullptr ? std::string_view() : at->key));
}

void Walker::report_unknown(const Node& node, const json::Member& member, const Path* at) {
  // {NAME=value} without a ':' is a key; what stands behind '=' may be a password.
  const std::size_t sign = std::min(member.key.find('='), member.key.size());
  const Path here{at, member.key.substr(0, sign + 1)};
  report(Fault::unknown, &here, member.key_offset, &member.value, describe_unknown(node, member.key));
}

void Walker::walk_object(const Node& node, const Node* base, const json::Value& value, const Path* at) {
  std::uint32_t written = 0;  // of those that must be
  std::uint64_t present = 0;
  bool has_version = false, has_kind = false;
  for (const json::Member& member : value.members()) {
    const Path here{at, member.key};
    if (node.embedded_resource && is_meta_key(member.key)) {
      has_version = has_version || member.key == "apiVersion";
      has_kind = has_kind || member.key == "kind";
    }
    const Property* property = node.find(member.key);
    if (property != nullptr) {
      const Node* structure = node.value_only ? child_of(base, member.key) : property->node;
      if (is_dropped(structure, member.value)) {
        if (property->must_be_written && !node.value_only) {
          ++written;
          report(Fault::null_value, &here, member.value.offset(), &member.value,
                 describe_missing(property->node, member.key, true));
        }
        continue;
      }
      ++present;
      if (property->must_be_written) ++written;
      const std::size_t before = faults_;
      if (node.embedded_resource && member.key == "metadata") walk(object_meta(), &object_meta(), member.value, &here);
      // What a schema adds about metadata is looked at when the rest is right: else a fault would be reported twice.
      if (faults_ == before) walk(*property->node, structure, member.value, &here);
      continue;
    }
    if (node.embedded_resource && is_meta_key(member.key)) {
      ++present;
      const Node& own = member.key == "metadata" ? object_meta() : type_meta_text();
      walk(own, &own, member.value, &here);
      continue;
    }
    if (node.additional != nullptr) {
      const Node* structure = node.value_only ? child_of(base, member.key) : node.additional;
      if (is_dropped(structure, member.value)) continue;
      ++present;
      walk(*node.additional, structure, member.value, &here);
      continue;
    }
    if (node.value_only) {
      if (!is_dropped(child_of(base, member.key), member.value)) ++present;
      continue;
    }
    if (node.preserve_unknown) {
      ++present;
      continue;
    }
    if (options_.unknown_fields) {
      if (out_ == nullptr)
        ++faults_;
      else
        report_unknown(node, member, at);
    }
  }
  if (written != node.must_be_written || node.requires_unknown || node.value_only) walk_required(node, base, value, at);
  if (node.embedded_resource && (!has_version || !has_kind)) {
    for (const std::string_view name : {"apiVersion", "kind"}) {
      if (name == "kind" ? has_kind : has_version) continue;
      const Property* property = node.find(name);
      if (property != nullptr && property->must_be_written) continue;  // said already
      const Path here{at, name};
      report(Fault::required, &here, value.offset(), nullptr,
             describe_missing(property == nullptr ? nullptr : property->node, name, false));
    }
  }
  if (node.limits != nullptr && (node.limits->min_properties || node.limits->max_properties)) {
    const Node* structure = node.value_only ? base : &node;
    for (const Property& each : structure == nullptr ? std::span<const Property>() : structure->properties) {
      if (each.node->default_value == nullptr) continue;
      const json::Value* given = value.find(each.name);
      if (given == nullptr || (given->is_null() && !each.node->nullable)) ++present;
    }
    const Limits& limits = *node.limits;
    if (limits.min_properties && present < *limits.min_properties)
      report(Fault::length, at, value.offset(), &value, describe_too_few(*limits.min_properties, present, "entry"));
    else if (limits.max_properties && present > *limits.max_properties)
      report(Fault::length, at, value.offset(), &value, describe_too_many(*limits.max_properties, present, "entry"));
  }
}

void Walker::walk_required(const Node& node, const Node* base, const json::Value& value, const Path* at) {
  for (const std::string_view name : node.required) {
    const Node* structure = node.value_only ? child_of(base, name) : child_of(&node, name);
    const json::Value* given = value.find(name);
    if (given != nullptr && !is_dropped(structure, *given)) continue;
    const Node* owner = node.value_only ? base : &node;
    const Property* property = owner == nullptr ? nullptr : owner->find(name);
    if (property != nullptr && property->node->default_value != nullptr) continue;
    if (given != nullptr && !node.value_only && node.find(name) != nullptr) continue;  // said where the null stands
    if (options_.unknown_fields && given == nullptr && is_misspelt(node, value, name))
      continue;  // said at the misspelling
    const Path here{at, name};
    if (out_ == nullptr)
      ++faults_;
    else
      report(Fault::required, &here, value.offset(), nullptr,
             describe_missing(structure != nullptr ? structure : node.property(name), name, given != nullptr));
  }
}

void Walker::walk_array(const Node& node, const Node* base, const json::Value& value, const Path* at) {
  const auto items = value.items();
  if (const Limits* limits = node.limits; limits != nullptr) {
    if (limits->min_items && items.size() < *limits->min_items)
      report(Fault::length, at, value.offset(), &value, describe_too_few(*limits->min_items, items.size(), "item"));
    else if (limits->max_items && items.size() > *limits->max_items)
      report(Fault::length, at, value.offset(), &value, describe_too_many(*limits->max_items, items.size(), "item"));
  }
  if (node.items != nullptr) {
    const Node* structure = node.value_only ? (base == nullptr ? nullptr : base->items) : node.items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      // A null item with a default becomes it.
      if (is_dropped(structure, items[i]) && structure->default_value != nullptr) continue;
      const Path here{at, {}, static_cast<std::int64_t>(i)};
      walk(*node.items, structure, items[i], &here);
    }
  }
  if (node.list_type == ListType::map)
    walk_map_keys(node, items, at);
  else if (node.list_type == ListType::set || (node.limits != nullptr && node.limits->unique_items))
    walk_set(items, at);
}

void Walker::walk_set(std::span<const json::Value> items, const Path* at) {
  const std::uint64_t seed = hash_seed();
  each_duplicate(
      items.size(), [](std::size_t) { return false; }, [&](std::size_t i) { return hash_value(items[i], seed); },
      [&](std::size_t i, std::size_t j) { return json::equal(items[i], items[j]); },
      [&](std::size_t i, std::size_t first) {
        const Path here{at, {}, static_cast<std::int64_t>(i)};
        report(Fault::duplicate, &here, items[i].offset(), &items[i], describe_duplicate({}, first));
      });
}

void Walker::walk_map_keys(const Node& node, std::span<const json::Value> items, const Path* at) {
  const std::uint64_t seed = hash_seed();
  const auto key_value = [&](std::size_t i, std::string_view key) -> const json::Value* {
    const json::Value* found = items[i].find(key);
    // compile() has seen to it that the items have such a property.
    return found != nullptr && !found->is_null() ? found : node.items->find(key)->node->default_value;
  };
  each_duplicate(
      items.size(),
      // Without its key an item is faulty already.
      [&](std::size_t i) {
        return !items[i].is_object() ||
               std::ranges::any_of(node.list_keys, [&](std::string_view key) { return key_value(i, key) == nullptr; });
      },
      [&](std::size_t i) {
        std::uint64_t hash = seed;
        for (const std::string_view key : node.list_keys) hash = hash * 31 + hash_value(*key_value(i, key), seed);
        return hash;
      },
      [&](std::size_t i, std::size_t j) {
        return std::ranges::all_of(
            node.list_keys, [&](std::string_view key) { return json::equal(*key_value(i, key), *key_value(j, key)); });
      },
      [&](std::size_t i, std::size_t first) {
        const Path here{at, {}, static_cast<std::int64_t>(i)};
        report(Fault::duplicate, &here, items[i].offset(), &items[i], describe_duplicate(node.list_keys, first));
      });
}

void Walker::walk_string(const Node& node, const json::Value& value, const Path* at) {
  const std::string_view text = value.string();
  if (const Limits* limits = node.limits; limits != nullptr && (limits->min_length || limits->max_length)) {
    // A code point takes one to four bytes: mostly the byte count decides.
    const bool surely_enough = !limits->min_length || text.size() / 4 >= *limits->min_length;
    const bool surely_short = !limits->max_length || text.size() <= *limits->max_length;
    if (!surely_enough || !surely_short) {
      const std::uint64_t length = count_code_points(text);
      if (limits->min_length && length < *limits->min_length)
        return report(Fault::length, at, value.offset(), &value,
                      describe_too_few(*limits->min_length, length, "character", cure_of_empty(root_, base_, at)));
      if (limits->max_length && length > *limits->max_length)
        return report(Fault::length, at, value.offset(), &value,
                      describe_too_many(*limits->max_length, length, "character"));
    }
  }
  if (node.pattern != nullptr && !node.pattern->matches(text)) return mismatch(*node.pattern, value, at);
  if (node.format > Format::int64 && !has_format(node.format, text))
    report(Fault::format, at, value.offset(), &value, describe_wrong_format(node.format));
}

void Walker::walk_number(const Node& node, const json::Value& value, const Path* at) {
  const double number = value.number();
  const auto check_width = [&] {
    if (node.format == Format::int32 && (number < -2147483648.0 || number > 2147483647.0))
      report(Fault::format, at, value.offset(), &value, describe_format_range(node));
  };
  if (node.limits == nullptr) return check_width();
  const Limits& limits = *node.limits;
  // Bounds are doubles in the API server too.
  if ((limits.minimum && (limits.exclusive_minimum ? number <= *limits.minimum : number < *limits.minimum)) ||
      (limits.maximum && (limits.exclusive_maximum ? number >= *limits.maximum : number > *limits.maximum)))
    return report(Fault::range, at, value.offset(), &value, describe_out_of_range(node));
  if (limits.multiple_of) {
    const double step = *limits.multiple_of;
    const bool exact = value.is_integer() && is_whole(step) && step >= 1;
    const bool good = exact ? value.integer() % static_cast<std::int64_t>(step) == 0
                            : is_whole(step < 1 ? 1 / step * number : number / step);
    if (!good) return report(Fault::range, at, value.offset(), &value, describe_multiple(node));
  }
  check_width();
}

std::vector<SchemaFault> check(const Node& node, const json::Value& value, const Path* at,
                               const CheckOptions& options) {
  std::vector<SchemaFault> faults;
  Walker walker(&faults, options, &node, at);
  walker.walk(node, &node, value, at);
  // Mostly it is: only what is missing is said late.
  if (!std::ranges::is_sorted(faults, {}, &SchemaFault::offset))
    std::ranges::stable_sort(faults, {}, &SchemaFault::offset);
  return faults;
}

}  // namespace stackgate::validate::schema
