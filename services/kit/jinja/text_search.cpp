// Methods of texts that look for parts: find, split, replace.
#include <algorithm>
#include <limits>

#include "services/kit/base/try.hpp"
#include "services/kit/jinja/text_work.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

std::int64_t points_before(std::string_view text, std::size_t offset) {
  return static_cast<std::int64_t>(count_points(text.substr(0, offset)));
}

// The part of a text between two positions that may count from the end, and the first one's offset.
std::expected<std::pair<std::string_view, std::size_t>, Fault> between(const Value& subject, const Given& given) {
  const auto length = static_cast<std::int64_t>((*subject.text())->length());
  const auto clip = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + length : at, 0, length); };
  const bool has_end = given[2] != nullptr && !given[2]->is_none();
  const bool has_begin = given[1] != nullptr && !given[1]->is_none();
  const std::int64_t begin = has_begin ? TRY(given.integer(1, 0)) : 0;
  const std::int64_t end = has_end ? TRY(given.integer(2, length)) : length;
  const std::string_view text = subject.bytes();
  const std::size_t first = point_offset(text, static_cast<std::size_t>(clip(begin)));
  const std::size_t last = point_offset(text, static_cast<std::size_t>(clip(end)));
  if (begin > length) return std::pair(std::string_view(), std::string_view::npos);
  return std::pair(text.substr(first, last > first ? last - first : 0), first);
}

std::size_t count_parts(std::string_view text, std::string_view part) {
  if (part.empty()) return count_points(text) + 1;
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

Result count(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("count", arguments, {"sub", "start", "end"}, 1));
  TRY(machine.spend_on(subject.bytes().size()));
  const auto [text, offset] = TRY(between(subject, given));
  return Value(static_cast<std::int64_t>(count_parts(text, TRY(given.text(0)))));
}

template <bool from_end, bool must_be>
Result find(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("find", arguments, {"sub", "start", "end"}, 1));
  const std::string_view part = TRY(given.text(0));
  TRY(machine.spend_on(subject.bytes().size()));
  const auto [text, offset] = TRY(between(subject, given));
  const std::size_t at = offset == std::string_view::npos ? offset : from_end ? text.rfind(part) : text.find(part);
  if (at != std::string_view::npos) return Value(points_before(subject.bytes(), offset + at));
  if (must_be) return type_fault("the text has no such part");
  return Value(std::int64_t{-1});
}

template <bool at_end>
Result affix(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match(at_end ? "endswith" : "startswith", arguments, {"prefix", "start", "end"}, 1));
  TRY(machine.spend_on(given[1] == nullptr ? 0 : subject.bytes().size()));
  std::string_view text = subject.bytes();
  if (given[1] != nullptr) text = TRY(between(subject, given)).first;
  const auto has = [&](const Value& part) {
    return at_end ? text.ends_with(part.bytes()) : text.starts_with(part.bytes());
  };
  if (const auto* list = given[0]->list(); list != nullptr && (*list)->form == Form::tuple) {
    TRY(machine.spend((*list)->items.size()));
    return Value(
        std::ranges::any_of((*list)->items, [&](const Value& each) { return each.text() != nullptr && has(each); }));
  }
  (void)TRY(given.text(0));
  return Value(has(*given[0]));
}

template <bool at_end>
Result remove_affix(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("removeprefix", arguments, {"prefix"}, 1));
  const std::string_view part = TRY(given.text(0));
  std::string_view text = subject.bytes();
  if (at_end ? !text.ends_with(part) : !text.starts_with(part)) return subject;
  return machine.text(std::string(at_end ? text.substr(0, text.size() - part.size()) : text.substr(part.size())));
}

Result replace_method(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("replace", arguments, {"old", "new", "count"}, 2));
  const std::string_view part = TRY(given.text(0));
  const std::string_view by = TRY(given.text(1));
  return replaced(machine, subject.bytes(), part, by, TRY(given.integer(2, -1)));
}

// White space between words; at most `most` cuts.
std::vector<std::string_view> words(std::string_view text, std::int64_t most) {
  std::vector<std::string_view> out;
  for (text = strip_left(text); !text.empty(); text = strip_left(text)) {
    std::size_t size = 0;
    while (size < text.size() && !is_space(point_at(text.substr(size)))) size += point_size(text.substr(size));
    if (std::ssize(out) == most) size = text.size();
    out.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

std::vector<std::string_view> words_from_end(std::string_view text, std::int64_t most) {
  std::vector<std::string_view> out;
  for (text = strip_right(text); !text.empty(); text = strip_right(text)) {
    if (std::ssize(out) == most) {
      out.push_back(text);
      break;
    }
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = point_size(text.substr(at));
      if (is_space(point_at(text.substr(at)))) begin = at + size;
      at += size;
    }
    out.push_back(text.substr(begin));
    text = text.substr(0, begin);
  }
  std::ranges::reverse(out);
  return out;
}

std::vector<std::string_view> parts(std::string_view text, std::string_view by, std::int64_t most, bool from_end) {
  std::vector<std::string_view> out;
  while (std::ssize(out) < most) {
    const std::size_t at = from_end ? text.rfind(by) : text.find(by);
    if (at == std::string_view::npos) break;
    out.push_back(from_end ? text.substr(at + by.size()) : text.substr(0, at));
    text = from_end ? text.substr(0, at) : text.substr(at + by.size());
  }
  out.push_back(text);
  if (from_end) std::ranges::reverse(out);
  return out;
}

template <bool from_end>
Result split(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("split", arguments, {"sep", "maxsplit"}));
  const bool at_space = given[0] == nullptr || given[0]->is_none();
  const std::string_view by = at_space ? std::string_view() : TRY(given.text(0));
  const std::int64_t wanted = TRY(given.integer(1, -1));
  const std::int64_t most = wanted < 0 ? no_limit : wanted;
  if (!at_space && by.empty()) return type_fault("split() by an empty text");
  const std::string_view text = subject.bytes();
  TRY(machine.spend_on(text.size() * (at_space ? 8 : 1)));
  if (!at_space) {
    TRY(machine.has_room(count_parts(text, by) * sizeof(Value) * 5));
    return text_list(machine, parts(text, by, most, from_end));
  }
  TRY(machine.has_room(text.size() * 60));
  if (!from_end || most == no_limit) return text_list(machine, words(text, most));
  TRY(machine.spend_on(text.size() * static_cast<std::size_t>(std::min<std::int64_t>(most, 1000))));
  return text_list(machine, words_from_end(text, std::min<std::int64_t>(most, 1000)));
}

template <bool from_end>
Result partition(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("partition", arguments, {"sep"}, 1));
  const std::string_view by = TRY(given.text(0));
  const std::string_view text = subject.bytes();
  if (by.empty()) return type_fault("partition() by an empty text");
  TRY(machine.spend_on(text.size()));
  const std::size_t at = from_end ? text.rfind(by) : text.find(by);
  std::vector<std::string_view> out = {text.substr(0, at), by, at < text.size() ? text.substr(at + by.size()) : ""};
  if (at == std::string_view::npos)
    out = from_end ? std::vector<std::string_view>{"", "", text}
                   : std::vector{text, std::string_view(), std::string_view()};
  return text_list(machine, out, Form::tuple);
}

Result split_lines(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("splitlines", arguments, {"keepends"}));
  std::string_view text = subject.bytes();
  TRY(machine.spend_on(text.size() * 4));
  TRY(machine.has_room(text.size() * 60));
  return text_list(machine, lines_of(text, given.flag(0)));
}

Result join(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("join", arguments, {"iterable"}, 1));
  const ListPtr items = TRY(machine.items_of(*given[0]));
  std::string out;
  for (std::size_t i = 0; i < items->items.size(); ++i) {
    const Value& item = items->items[i];
    if (item.text() == nullptr) return type_fault("join() wants texts");
    TRY(machine.spend());
    TRY(machine.has_room(out.size() + item.bytes().size() + subject.bytes().size()));
    if (i > 0) out += subject.bytes();
    out += item.bytes();
  }
  return machine.text(std::move(out));
}

constexpr NamedBuiltin search_table[] = {
    {"count", count},
    {"find", find<false, false>},
    {"rfind", find<true, false>},
    {"index", find<false, true>},
    {"rindex", find<true, true>},
    {"startswith", affix<false>},
    {"endswith", affix<true>},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"replace", replace_method},
    {"split", split<false>},
    {"rsplit", split<true>},
    {"partition", partition<false>},
    {"rpartition", partition<true>},
    {"splitlines", split_lines},
    {"join", join},
};

}  // namespace

Result replaced(Machine& machine, std::string_view text, std::string_view part, std::string_view by,
                std::int64_t most) {
  TRY(machine.spend_on(text.size() * 2));
  auto left = std::min(count_parts(text, part), most < 0 ? SIZE_MAX : static_cast<std::size_t>(most));
  if (by.size() > part.size() && left > 0 && (by.size() - part.size()) > (std::size_t{1} << 40U) / left)
    return limit_fault("the text is too long");
  TRY(machine.has_room(text.size() + left * (by.size() > part.size() ? by.size() - part.size() : 0)));
  std::string out;
  if (part.empty()) {  // before each character, and at the end
    for (; left > 0; --left) {
      out += by;
      if (text.empty()) break;
      const std::size_t size = point_size(text);
      out += text.substr(0, size);
      text.remove_prefix(size);
    }
    return machine.text(out.append(text));
  }
  for (std::size_t at = text.find(part); left > 0; at = text.find(part), --left) {
    out.append(text.substr(0, at)).append(by);
    text.remove_prefix(at + part.size());
  }
  return machine.text(out.append(text));
}

std::vector<std::string_view> lines_of(std::string_view text, bool keep_ends) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    std::size_t end = 0;
    std::size_t size = 0;
    while (end < text.size() && size == 0) {
      const char32_t point = point_at(text.substr(end));
      const bool breaks = (point >= 0x0A && point <= 0x0D) || (point >= 0x1C && point <= 0x1E) || point == 0x85 ||
                          point == 0x2028 || point == 0x2029;
      const std::size_t width = text.substr(end).starts_with("\r\n") ? 2 : point_size(text.substr(end));
      (breaks ? size : end) += width;
    }
    out.push_back(text.substr(0, keep_ends ? end + size : end));
    text.remove_prefix(end + size);
  }
  return out;
}

Result text_list(Machine& machine, const std::vector<std::string_view>& parts, Form form) {
  TRY(machine.spend(1 + parts.size() / 4));
  std::vector<Value> out;
  out.reserve(parts.size());
  for (const std::string_view part : parts) {
    TRY(machine.allocate(sizeof(Text) + part.size()));
    out.emplace_back(part);
  }
  return machine.list(std::move(out), form);
}

std::span<const NamedBuiltin> search_methods() { return search_table; }

}  // namespace stackgate::jinja
