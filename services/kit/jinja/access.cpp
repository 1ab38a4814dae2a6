#include "services/kit/jinja/access.hpp"

#include <algorithm>
#include <charconv>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/objects.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

bool has_index(Form form) { return form == Form::list || form == Form::tuple || form == Form::range; }

Builtin find_in(std::span<const NamedBuiltin> table, std::string_view name) {
  const auto at = std::ranges::find(table, name, &NamedBuiltin::name);
  return at == table.end() ? nullptr : at->call;
}

Value no_item(const Value& key) {
  if (key.text() == nullptr || key.bytes().size() > 100) return {};
  return Undefined{std::make_shared<const Text>(concat({"there is nothing named \"", key.bytes(), "\" here"}))};
}

// The item of an index that may count from the end; nothing when there is none.
std::optional<std::size_t> position(std::int64_t index, std::size_t size) {
  const auto length = static_cast<std::int64_t>(size);
  if (index < 0) index += length;
  if (index < 0 || index >= length) return std::nullopt;
  return static_cast<std::size_t>(index);
}

Result character(Machine& machine, const Text& text, std::int64_t index) {
  TRY(machine.spend_on(text.bytes.size()));
  const auto at = position(index, text.length());
  if (!at) return Value();
  const std::size_t offset = text.is_ascii() ? *at : point_offset(text.bytes, *at);
  const std::string_view rest = std::string_view(text.bytes).substr(offset);
  return machine.text(std::string(rest.substr(0, point_size(rest))));
}

Result method_or_nothing(Machine& machine, const Value& subject, std::string_view name, const Value& missing) {
  if (const Builtin method = find_method(subject, name)) return bound_method(machine, subject, name, method);
  return missing;
}

// Python's slice.indices().
struct Range {
  std::int64_t begin;
  std::int64_t end;
};
Range clipped(const Slice& slice, std::int64_t size) {
  const bool forward = slice.step > 0;
  const auto clip = [&](std::optional<std::int64_t> given, std::int64_t otherwise) {
    if (!given) return otherwise;
    std::int64_t at = *given;
    if (at < 0) at = at < -size ? -1 : at + size;
    if (at < 0) return forward ? std::int64_t{0} : std::int64_t{-1};
    return std::min(at, forward ? size : size - 1);
  };
  return {clip(slice.begin, forward ? 0 : size - 1), clip(slice.end, forward ? size : -1)};
}

// Calls add(index) for each index of the slice.
template <class Add>
void walk(const Slice& slice, std::size_t size, const Add& add) {
  const auto [begin, end] = clipped(slice, static_cast<std::int64_t>(size));
  const auto length = static_cast<std::int64_t>(size);
  if (slice.step > 0) {
    for (std::int64_t i = begin; i<end; i = slice.step> length ? end : i + slice.step) add(static_cast<std::size_t>(i));
  } else {
    for (std::int64_t i = begin; i > end; i = slice.step < -length ? end : i + slice.step)
      add(static_cast<std::size_t>(i));
  }
}

std::string sliced(const Text& text, const Slice& slice) {
  const std::string_view bytes = text.bytes;
  std::string out;
  if (text.is_ascii()) {
    walk(slice, bytes.size(), [&](std::size_t i) { out += bytes[i]; });
    return out;
  }
  std::vector<std::string_view> points;
  points.reserve(text.length());
  for (std::size_t at = 0; at < bytes.size(); at += points.back().size())
    points.push_back(bytes.substr(at, point_size(bytes.substr(at))));
  walk(slice, points.size(), [&](std::size_t i) { out += points[i]; });
  return out;
}

}  // namespace

Builtin find_method(const Value& subject, std::string_view name) {
  if (subject.text() != nullptr) return find_in(text_methods(), name);
  if (subject.dict() != nullptr) return find_in(dict_methods(), name);
  if (const auto* list = subject.list(); list != nullptr && has_index((*list)->form)) {
    if ((*list)->form == Form::list || name == "count" || name == "index") return find_in(list_methods(), name);
  }
  return nullptr;
}

Result attribute_of(Machine& machine, const Value& subject, std::string_view name, const Value& missing) {
  if (subject.is_undefined()) return undefined_fault(subject);
  if (const auto* object = subject.object()) {
    Value found = TRY((*object)->attribute(machine, name));
    return found.is_undefined() ? missing : found;
  }
  if (const auto* dict = subject.dict()) {
    if (const Builtin method = find_method(subject, name)) return bound_method(machine, subject, name, method);
    const Value* found = (*dict)->find(name);
    return found == nullptr ? missing : *found;
  }
  return method_or_nothing(machine, subject, name, missing);
}

Result item_of(Machine& machine, const Value& subject, const Value& key) {
  if (subject.is_undefined()) return undefined_fault(subject);
  if (const auto* dict = subject.dict()) {
    if (key.text() == nullptr) TRY(machine.spend((*dict)->items.size() * key.weight() / 4));
    if (const Value* found = (*dict)->find(key)) return *found;
  } else if (const auto index = whole(key)) {
    if (const auto* text = subject.text()) return character(machine, **text, *index);
    if (const auto* list = subject.list(); list != nullptr && has_index((*list)->form)) {
      const auto at = position(*index, (*list)->items.size());
      return at ? (*list)->items[*at] : Value();
    }
  }
  if (key.text() == nullptr) return no_item(key);
  if (const auto* object = subject.object()) return (*object)->attribute(machine, key.bytes());
  return method_or_nothing(machine, subject, key.bytes(), no_item(key));
}

Result slice_of(Machine& machine, const Value& subject, const Slice& slice) {
  if (subject.is_undefined()) return undefined_fault(subject);
  if (const auto* text = subject.text()) {
    TRY(machine.spend_on((*text)->bytes.size()));
    TRY(machine.has_room((*text)->bytes.size() * ((*text)->is_ascii() ? 1 : sizeof(std::string_view))));
    return machine.text(sliced(**text, slice));
  }
  const auto* list = subject.list();
  if (list == nullptr || !has_index((*list)->form)) return Value();
  TRY(machine.spend(1 + (*list)->items.size() / 16));
  std::vector<Value> out;
  walk(slice, (*list)->items.size(), [&](std::size_t i) { out.push_back((*list)->items[i]); });
  return machine.list(std::move(out), (*list)->form);
}

Result path_of(Machine& machine, const Value& subject, const Value& path, const Value* fallback) {
  if (path.text() == nullptr) return item_of(machine, subject, path);
  Value at = subject;
  std::string_view rest = path.bytes();
  while (true) {
    const auto point = rest.find('.');
    const std::string_view part = rest.substr(0, point);
    std::int64_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index = !part.empty() && part[0] != '-' && error == std::errc() && end == part.data() + part.size();
    TRY(machine.spend());
    at = TRY(item_of(machine, at, is_index ? Value(index) : Value(part)));
    if (fallback != nullptr && at.is_undefined()) at = *fallback;
    if (point == std::string_view::npos) return at;
    rest.remove_prefix(point + 1);
  }
}

}  // namespace stackgate::jinja
