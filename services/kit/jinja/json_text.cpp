// json.dumps() as Python writes it.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/base/concat.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/jinja/print.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::jinja {
namespace {

class JsonWriter {
 public:
  JsonWriter(Machine& machine, std::string& out, const JsonStyle& style)
      : machine_(machine), out_(out), style_(style) {}

  Status write(const Value& value) {
    TRY(machine_.spend());
    TRY(machine_.fits(out_.size()));
    if (value.text() != nullptr) return text(value.bytes());
    if (value.is_none()) return word("null");
    if (const auto* flag = value.boolean()) return word(*flag ? "true" : "false");
    if (const auto* integer = value.integer()) return word(std::to_string(*integer));
    if (const auto* real = value.real()) return number(*real);
    if (const auto* dict = value.dict()) return members(**dict);
    const auto* list = value.list();
    if (list != nullptr && ((*list)->form == Form::list || (*list)->form == Form::tuple)) return items((*list)->items);
    if (value.is_undefined()) return undefined_fault(value);
    return type_fault(concat({"\"", value.type_name(), "\" cannot be written as JSON"}));
  }

 private:
  Status word(std::string_view text) {
    out_ += text;
    return {};
  }

  Status number(double value) {
    if (std::isnan(value)) return word("NaN");
    if (std::isinf(value)) return word(value < 0 ? "-Infinity" : "Infinity");
    append_real(out_, value);
    return {};
  }

  Status text(std::string_view text) {
    TRY(machine_.spend_on(text.size()));
    TRY(machine_.fits(out_.size() + text.size()));
    out_ += '"';
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = point_size(text.substr(at));
      const char32_t point = point_at(text.substr(at));
      if (point < 0x20 || point == '"' || point == '\\' || (point >= 0x7F && style_.ensure_ascii)) {
        escape(point);
      } else {
        out_.append(text, at, size);
      }
      at += size;
    }
    out_ += '"';
    return {};
  }

  void escape(char32_t point) {
    static constexpr std::string_view letters = "\"\\\n\r\t\f\b";
    static constexpr std::string_view names = "\"\\nrtfb";
    const auto code = static_cast<std::uint32_t>(point);
    const auto at = code < 0x80 ? letters.find(static_cast<char>(code)) : std::string_view::npos;
    if (at != std::string_view::npos) {
      out_ += '\\';
      out_ += names[at];
    } else if (code == 0x7F) {
      out_ += static_cast<char>(code);
    } else if (code < 0x10000) {
      out_ += fmt::format("\\u{:04x}", code);
    } else {
      out_ +=
          fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((code - 0x10000) >> 10U), 0xDC00 + ((code - 0x10000) & 0x3FFU));
    }
  }

  Status line() {
    if (!style_.indent) return {};
    TRY(machine_.fits(out_.size() + style_.indent->size() * level_));
    out_ += '\n';
    for (std::size_t i = 0; i < level_; ++i) out_ += *style_.indent;
    return {};
  }

  Status items(const std::vector<Value>& items) {
    if (items.empty()) return word("[]");
    out_ += '[';
    ++level_;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      TRY(line());
      TRY(write(items[i]));
    }
    --level_;
    TRY(line());
    return word("]");
  }

  Status key(const Value& key) {
    if (key.text() != nullptr) return text(key.bytes());
    if (key.list() != nullptr || key.dict() != nullptr || key.object() != nullptr || key.is_undefined())
      return type_fault(concat({"a key of JSON cannot be \"", key.type_name(), "\""}));
    out_ += '"';
    TRY(write(key));
    return word("\"");
  }

  Status members(const Dict& dict) {
    if (dict.items.empty()) return word("{}");
    std::vector<const Dict::Item*> order;
    order.reserve(dict.items.size());
    for (const auto& item : dict.items) order.push_back(&item);
    if (style_.sort_keys)
      std::ranges::stable_sort(order, {}, [](const Dict::Item* item) { return item->first.bytes(); });
    out_ += '{';
    ++level_;
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (i > 0) out_ += style_.item_separator;
      TRY(line());
      TRY(key(order[i]->first));
      out_ += style_.key_separator;
      TRY(write(order[i]->second));
    }
    --level_;
    TRY(line());
    return word("}");
  }

  Machine& machine_;
  std::string& out_;
  const JsonStyle& style_;
  std::size_t level_ = 0;
};

}  // namespace

Status append_json(Machine& machine, std::string& out, const Value& value, const JsonStyle& style) {
  return JsonWriter(machine, out, style).write(value);
}

}  // namespace stackgate::jinja
