#include "services/kit/jinja/format.hpp"

#include <algorithm>
#include <charconv>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/access.hpp"
#include "services/kit/jinja/format_field.hpp"
#include "services/kit/jinja/operators.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

class PercentFormat {
 public:
  PercentFormat(Machine& machine, std::string_view format, const Value& values)
      : machine_(machine), rest_(format), values_(values) {
    const auto* list = values.list();
    tuple_ = list != nullptr && (*list)->form == Form::tuple ? list->get() : nullptr;
  }

  Result run() {
    std::string out;
    while (!rest_.empty()) {
      const std::size_t plain = std::min(rest_.find('%'), rest_.size());
      out += rest_.substr(0, plain);
      rest_.remove_prefix(plain);
      if (!rest_.empty()) TRY(field(out));
      TRY(machine_.has_room(out.size()));
    }
    const bool used_all = tuple_ != nullptr ? next_ == tuple_->items.size() : next_ > 0 || values_.dict() != nullptr;
    if (!used_all) return type_fault("not all values are used by the format");
    return machine_.text(std::move(out));
  }

 private:
  Result next() {
    if (tuple_ == nullptr ? next_ > 0 : next_ >= tuple_->items.size())
      return type_fault("too few values for the format");
    return tuple_ == nullptr ? (++next_, values_) : tuple_->items[next_++];
  }

  Result named() {
    const std::size_t end = rest_.find(')');
    if (end == std::string_view::npos) return type_fault("a format without \")\"");
    if (values_.dict() == nullptr) return type_fault("a format with names wants a dict");
    const Value* found = (*values_.dict())->find(rest_.substr(1, end - 1));
    if (found == nullptr) return type_fault(concat({"the format's \"", rest_.substr(1, end - 1), "\" is missing"}));
    rest_.remove_prefix(end + 1);
    return *found;
  }

  char take() {
    if (rest_.empty()) return '\0';
    const char c = rest_[0];
    rest_.remove_prefix(1);
    return c;
  }

  std::expected<std::int64_t, Fault> count() {
    if (rest_.starts_with('*')) {
      take();
      const Value value = TRY(next());
      if (const auto held = whole(value)) return *held;
      return type_fault("\"*\" wants an integer");
    }
    std::int64_t out = 0;
    rest_.remove_prefix(
        static_cast<std::size_t>(std::from_chars(rest_.data(), rest_.data() + rest_.size(), out).ptr - rest_.data()));
    return out;
  }

  Status field(std::string& out) {
    take();  // %
    std::optional<Value> value;
    if (rest_.starts_with('(')) value = TRY(named());
    Field field;
    field.align = '>';
    while (!rest_.empty() && std::string_view("-+ #0").contains(rest_[0])) {
      const char flag = take();
      if (flag == '-') field.align = '<';
      if (flag == '+' || (flag == ' ' && field.sign == '-')) field.sign = flag;
      if (flag == '#') field.alternate = true;
      if (flag == '0' && field.align != '<') field.align = '=', field.fill = "0";
    }
    if (field.align == '<') field.fill = " ";
    const std::int64_t width = std::clamp<std::int64_t>(TRY(count()), -INT32_MAX, INT32_MAX);
    if (width < 0) field.align = '<', field.fill = " ";
    field.width = static_cast<std::size_t>(std::abs(width));
    if (rest_.starts_with('.')) {
      take();
      field.precision = static_cast<int>(std::clamp<std::int64_t>(TRY(count()), 0, INT32_MAX));
    }
    while (rest_.starts_with('l') || rest_.starts_with('h') || rest_.starts_with('L')) take();
    const char type = take();
    if (type == '%') {
      out += '%';
      return {};
    }
    if (!value) value = TRY(next());
    return convert(out, field, type, *value);
  }

  Status convert(std::string& out, Field& field, char type, const Value& value) {
    if (type == 's' || type == 'r' || type == 'a') {
      std::string text;
      TRY(type == 's' ? append_str(machine_, text, value) : append_repr(machine_, text, value));
      if (field.precision >= 0) text.resize(point_offset(text, static_cast<std::size_t>(field.precision)));
      if (field.align == '=') field.align = '>', field.fill = " ";
      return append_field(machine_, out, field, text, false);
    }
    if (!std::string_view("diuoxXeEfFgGc").contains(type) || type == '\0')
      return type_fault(concat({"the format has no conversion \"", std::string_view(&type, 1), "\""}));
    field.type = type == 'i' || type == 'u' ? 'd' : type;
    if (type == 'c' && value.text() != nullptr) return append_field(machine_, out, field, value.bytes(), false);
    if (value.real() != nullptr && field.type == 'd') {
      if (!(std::abs(*value.real()) < 9e18)) return type_fault("the number has no 64 bits");
      const std::string digits = TRY(format_number(field, Value(static_cast<std::int64_t>(*value.real()))));
      return append_field(machine_, out, field, digits, true);
    }
    const std::string digits = TRY(format_number(field, value));
    return append_field(machine_, out, field, digits, true);
  }

  Machine& machine_;
  std::string_view rest_;
  const Value& values_;
  const List* tuple_ = nullptr;
  std::size_t next_ = 0;
};

class BraceFormat {
 public:
  BraceFormat(Machine& machine, std::string_view format, Arguments& arguments)
      : machine_(machine), rest_(format), arguments_(arguments) {}

  Result run() {
    std::string out;
    while (!rest_.empty()) {
      const char c = rest_[0];
      if ((c == '{' || c == '}') && rest_.size() > 1 && rest_[1] == c) {
        out += c;
        rest_.remove_prefix(2);
      } else if (c == '{') {
        TRY(field(out));
      } else if (c == '}') {
        return type_fault("a single \"}\" in the format");
      } else {
        const std::size_t plain = std::min(rest_.find_first_of("{}"), rest_.size());
        out += rest_.substr(0, plain);
        rest_.remove_prefix(plain);
      }
      TRY(machine_.has_room(out.size()));
    }
    return machine_.text(std::move(out));
  }

 private:
  Status field(std::string& out) {
    const std::size_t end = rest_.find('}');
    if (end == std::string_view::npos) return type_fault("a single \"{\" in the format");
    std::string_view inner = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    if (inner.contains('{')) return type_fault("a format inside of a format is not supported");
    const std::size_t colon = inner.find(':');
    const std::string_view spec = colon == std::string_view::npos ? std::string_view() : inner.substr(colon + 1);
    std::string_view name = inner.substr(0, colon);
    char conversion = '\0';
    if (name.size() > 1 && name[name.size() - 2] == '!') {
      conversion = name.back();
      name.remove_suffix(2);
    }
    const Value value = TRY(find(name));
    const Field field = TRY(read_field(spec));
    const bool is_number = conversion == '\0' && number(value).has_value() && value.boolean() == nullptr;
    if (is_number || (conversion == '\0' && value.boolean() != nullptr && field.type != '\0')) {
      const std::string digits = TRY(format_number(field, value));
      return append_field(machine_, out, field, digits, true);
    }
    if (field.type != '\0' && field.type != 's') return type_fault("the format is not for this value");
    std::string text;
    TRY(conversion == 'r' ? append_repr(machine_, text, value) : append_str(machine_, text, value));
    if (field.precision >= 0) text.resize(point_offset(text, static_cast<std::size_t>(field.precision)));
    return append_field(machine_, out, field, text, false);
  }

  // "0.name", "name[key]", or the next one.
  Result find(std::string_view name) {
    const std::size_t head = std::min(name.find_first_of(".["), name.size());
    const std::string_view first = name.substr(0, head);
    std::string_view path = name.substr(head);
    Value value;
    std::size_t index = next_;
    const auto end = std::from_chars(first.data(), first.data() + first.size(), index).ptr;
    if (first.empty() || end == first.data() + first.size()) {
      if (first.empty()) ++next_;
      if (index >= arguments_.positional.size()) return type_fault("too few values for the format");
      value = arguments_.positional[index];
    } else {
      const auto at =
          std::ranges::find(arguments_.named, first, [](const auto& each) { return std::string_view(each.first); });
      if (at == arguments_.named.end()) return type_fault(concat({"the format's \"", first, "\" is missing"}));
      value = at->second;
    }
    while (!path.empty()) {
      const bool is_item = path[0] == '[';
      path.remove_prefix(1);
      const std::size_t size = std::min(is_item ? path.find(']') : path.find_first_of(".["), path.size());
      const std::string_view part = path.substr(0, size);
      path.remove_prefix(std::min(path.size(), size + (is_item ? 1 : 0)));
      value = TRY(is_item ? path_of(machine_, value, Value(part)) : attribute_of(machine_, value, part, {}));
      if (value.is_undefined()) return type_fault(concat({"the format's \"", part, "\" is missing"}));
    }
    return value;
  }

  Machine& machine_;
  std::string_view rest_;
  Arguments& arguments_;
  std::size_t next_ = 0;
};

}  // namespace

Result percent_format(Machine& machine, std::string_view format, const Value& values) {
  TRY(machine.spend_on(format.size()));
  return PercentFormat(machine, format, values).run();
}

Result brace_format(Machine& machine, std::string_view format, Arguments& arguments) {
  TRY(machine.spend_on(format.size()));
  return BraceFormat(machine, format, arguments).run();
}

}  // namespace stackgate::jinja
