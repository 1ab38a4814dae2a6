// trim, upper, replace, indent, truncate, escape, format, …
#include <algorithm>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/escape_html.hpp"
#include "services/kit/base/percent.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/format.hpp"
#include "services/kit/jinja/format_field.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/text_work.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

// soft_str(): what is no text is printed first.
Result as_text(Machine& machine, const Value& value) {
  if (value.text() != nullptr) return value;
  std::string out = TRY(str(machine, value));
  return machine.text(std::move(out));
}

template <auto map>
Result mapped(Machine& machine, const Value& subject, Arguments& arguments) {
  const Value text = TRY(as_text(machine, subject));
  return text_method<map>(machine, text, arguments);
}

// Jinja2's title: words begin behind white space and brackets.
std::string title_words(std::string_view text) {
  std::string out;
  std::size_t begin = 0;
  const auto flush = [&](std::size_t end) {
    if (end > begin) out += capitalize(text.substr(begin, end - begin));
    begin = end;
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = point_size(text.substr(at));
    if (is_space(point_at(text.substr(at))) || std::string_view("-({[<").contains(text[at])) {
      flush(at);
      out += text.substr(at, size);
      begin = at + size;
    }
    at += size;
  }
  flush(text.size());
  return out;
}

Result escape(Machine& machine, const Value& subject, Arguments&) {
  const Value text = TRY(as_text(machine, subject));
  TRY(machine.spend_on(text.bytes().size() * 4));
  TRY(machine.has_room(text.bytes().size() * 5));
  return machine.text(escape_html(text.bytes(), "&#34;"));
}

Result trim(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("trim", arguments, {"chars"}));
  const Value text = TRY(as_text(machine, subject));
  const bool has_set = given[0] != nullptr && !given[0]->is_none();
  const std::string_view set = has_set ? TRY(given.text(0)) : std::string_view();
  TRY(machine.spend_on(text.bytes().size() * (1 + set.size() / 16)));
  const std::string_view* chars = has_set ? &set : nullptr;
  return machine.text(std::string(strip_right(strip_left(text.bytes(), chars), chars)));
}

Result replace(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("replace", arguments, {"old", "new", "count"}, 2));
  const Value text = TRY(as_text(machine, subject));
  const Value part = TRY(as_text(machine, *given[0]));
  const Value by = TRY(as_text(machine, *given[1]));
  const bool counts = given[2] != nullptr && !given[2]->is_none();
  return replaced(machine, text.bytes(), part.bytes(), by.bytes(), counts ? TRY(given.integer(2, -1)) : -1);
}

Result indent(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("indent", arguments, {"width", "first", "blank"}));
  const Value text = TRY(as_text(machine, subject));
  std::string margin;
  if (given[0] != nullptr && given[0]->text() != nullptr) {
    margin = given[0]->bytes();
  } else {
    const auto width = static_cast<std::size_t>(std::max<std::int64_t>(TRY(given.integer(0, 4)), 0));
    TRY(machine.fits(width));
    margin.assign(width, ' ');
  }
  std::string source(text.bytes());
  source += '\n';  // as Jinja2: a last empty line counts
  TRY(machine.spend_on(source.size() * 4));
  TRY(machine.has_room(source.size() * 60));
  const auto lines = lines_of(source);
  std::string out = given.flag(1) ? margin : "";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    TRY(machine.has_room(out.size() + margin.size() + lines[i].size()));
    if (i > 0) out += '\n';
    if (i > 0 && (given.flag(2) || !lines[i].empty())) out += margin;
    out += lines[i];
  }
  return machine.text(std::move(out));
}

Result truncate(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("truncate", arguments, {"length", "killwords", "end", "leeway"}));
  Value value = TRY(as_text(machine, subject));
  const std::int64_t length = TRY(given.integer(0, 255));
  const std::string_view end = TRY(given.text(2, "..."));
  const std::int64_t leeway = TRY(given.integer(3, 5));
  const auto mark = static_cast<std::int64_t>(count_points(end));
  if (length < mark) return type_fault("truncate() to fewer characters than its end has");
  if (leeway < 0) return type_fault("truncate() with a negative leeway");
  const std::string_view text = value.bytes();
  TRY(machine.spend_on(text.size()));
  if (static_cast<std::int64_t>((*value.text())->length()) - leeway <= length) return value;
  std::string_view kept = text.substr(0, point_offset(text, static_cast<std::size_t>(length - mark)));
  if (!given.flag(1)) kept = kept.substr(0, kept.rfind(' '));
  return machine.text(concat({kept, end}));
}

Result center(Machine& machine, const Value& subject, Arguments& arguments) {
  const Given given = TRY(Given::match("center", arguments, {"width"}));
  const Value text = TRY(as_text(machine, subject));
  Arguments width;
  width.positional.emplace_back(TRY(given.integer(0, 80)));
  return find_method(text, "center")(machine, text, width);
}

Result format(Machine& machine, const Value& subject, Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty())
    return type_fault("format() takes values by position or by name, not both");
  const Value text = TRY(as_text(machine, subject));
  Dict named;
  for (auto& [name, value] : arguments.named) named.set(Value(name), value);
  const bool is_named = !arguments.named.empty();
  const Value values =
      TRY(is_named ? machine.dict(std::move(named)) : machine.list(std::move(arguments.positional), Form::tuple));
  return percent_format(machine, text.bytes(), values);
}

Result word_count(Machine& machine, const Value& subject, Arguments&) {
  const Value text = TRY(as_text(machine, subject));
  TRY(machine.spend_on(text.bytes().size() * 8));
  std::int64_t count = 0;
  bool inside = false;
  for (std::string_view rest = text.bytes(); !rest.empty(); rest.remove_prefix(point_size(rest))) {
    const char32_t point = point_at(rest);
    const bool is_word = is_alpha(point) || is_decimal(point) || point == '_';
    count += is_word && !inside ? 1 : 0;
    inside = is_word;
  }
  return Value(count);
}

Result url_encode(Machine& machine, const Value& subject, Arguments&) {
  if (subject.dict() != nullptr || subject.list() != nullptr) return type_fault("urlencode() is for texts here");
  const Value text = TRY(as_text(machine, subject));
  TRY(machine.spend_on(text.bytes().size() * 4));
  TRY(machine.has_room(text.bytes().size() * 3));
  return machine.text(percent_encode(text.bytes(), "/"));
}

Result string(Machine& machine, const Value& subject, Arguments&) { return as_text(machine, subject); }
Result unchanged(Machine& machine, const Value& subject, Arguments&) { return as_text(machine, subject); }

Result pretty(Machine& machine, const Value& subject, Arguments&) {
  std::string out;
  TRY(append_repr(machine, out, subject));
  return machine.text(std::move(out));
}

constexpr NamedBuiltin text_table[] = {
    {"trim", trim},
    {"upper", mapped<upper>},
    {"lower", mapped<lower>},
    {"capitalize", mapped<capitalize>},
    {"title", mapped<title_words>},
    {"replace", replace},
    {"indent", indent},
    {"truncate", truncate},
    {"center", center},
    {"format", format},
    {"wordcount", word_count},
    {"urlencode", url_encode},
    {"string", string},
    {"safe", unchanged},
    {"e", escape},
    {"escape", escape},
    {"forceescape", escape},
    {"pprint", pretty},
};

}  // namespace

std::span<const NamedBuiltin> text_filters() { return text_table; }

}  // namespace stackgate::jinja
