#include "reconcile/plan/parts/canonical.hpp"

#include <algorithm>
#include <vector>

#include "services/kit/grammar/canonical_quantity.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::reconcile::parts {
namespace {

bool is_map(const Field& field) { return field.node() != nullptr && field.node()->additional != nullptr; }

bool is_quantity(const Field& field) {
  return field.node() != nullptr && field.node()->int_or_string &&
         (field.value()->is_integer() || field.value()->is_string());
}

/// A null in a map of texts is "", as Kubernetes reads it; in any other map (of quantities) it is no entry.
bool is_entry(const Field& entry) { return entry.present() || (entry.node() != nullptr && entry.node()->nullable); }

/// As a member of an object: Go leaves these out. An empty object (a selector that selects everything) is kept.
bool is_left_out(const Field& field) {
  if (field.absent()) return true;
  const json::Value& value = *field.value();
  if (value.is_string()) return value.string().empty();
  if (value.is_array()) return value.items().empty();
  return value.is_object() && is_map(field) && std::ranges::none_of(field.entries(), is_entry);
}

void write_object(json::Writer& out, const Field& field) {
  std::vector<Field> members;
  for (const Field& member : field.entries()) members.push_back(member);
  std::ranges::sort(members, {}, &Field::key);
  const bool map = is_map(field);
  out.object([&] {
    for (const Field& member : members) {
      if (!map) {
        member_canonical(out, member.key(), member);
        continue;
      }
      if (!is_entry(member)) continue;
      out.key(member.key());
      if (member.present() && is_quantity(member))  // a map of quantities is one of requests or limits
        out.value(std::string_view(amount_text(json::scalar_text(*member.value()))));
      else if (member.present())
        write_canonical(out, member);
      else
        out.value("");
    }
  });
}

}  // namespace

std::string amount_text(std::string_view amount) {
  return validate::grammar::canonical_resource_amount(amount).value_or(std::string(amount));
}

void write_canonical(json::Writer& out, const Field& field) {
  const json::Value& value = *field.value();
  if (is_quantity(field)) {
    const std::string text = json::scalar_text(value);
    return out.value(std::string_view(validate::grammar::canonical_quantity(text).value_or(text)));
  }
  if (value.is_object()) return write_object(out, field);
  if (!value.is_array()) return out.value(value);
  out.array([&] {
    for (const Field& item : field.items())
      if (item.present()) write_canonical(out, item);
  });
}

void member_canonical(json::Writer& out, std::string_view key, const Field& field) {
  if (is_left_out(field)) return;
  out.key(key);
  write_canonical(out, field);
}

void members_canonical(json::Writer& out, const Field& from, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) member_canonical(out, key, from[key]);
}

std::string canonical_json(const Field& field) {
  std::string text;
  json::Writer out(text);
  write_canonical(out, field);
  return text;
}

std::string optional_json(const Field& field) { return is_left_out(field) ? std::string() : canonical_json(field); }

pods::TextMap read_map(const Field& field) {
  pods::TextMap out;
  for (const Field& entry : field.entries()) out.emplace(entry.key(), entry.text().value_or(""));
  return out;
}

}  // namespace stackgate::reconcile::parts
