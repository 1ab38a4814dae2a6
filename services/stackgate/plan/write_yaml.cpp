#include "services/stackgate/plan/write_yaml.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "services/kit/json/write.hpp"

namespace stackgate {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Words that YAML 1.1 takes for booleans or null.
bool is_special_word(std::string_view text) {
  constexpr std::array<std::string_view, 8> words{"true", "false", "yes", "no", "on", "off", "null", "none"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
  return std::ranges::find(words, lower) != words.end() || lower == "y" || lower == "n";
}

bool is_plain(std::string_view text) {
  if (text.empty() || !(is_letter(text[0]) || text[0] == '/') || is_special_word(text)) return false;
  if (text.back() == ':') return false;
  return std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("/._-:@+%").find(c) != std::string_view::npos;
  });
}

/// As a literal block: printable lines, none of them with a space at its beginning or end.
bool is_block(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || text.front() == '\n' || text.find("\n\n") != std::string_view::npos)
    return false;
  char before = '\n';
  for (const char c : text) {
    if (c != '\n' && (c < ' ' || c > '~')) return false;
    if ((c == ' ' && before == '\n') || (c == '\n' && before == ' ')) return false;
    before = c;
  }
  return text.back() != ' ';
}

class YamlWriter {
 public:
  explicit YamlWriter(std::string& out) : out_(out) {}

  /// Behind "key:" or "-", or at the beginning of a line.
  void write(const json::Value& value, std::size_t indent, bool in_line) {
    if (value.is_object() && !value.members().empty()) {
      if (in_line) out_ += '\n';
      return members(value, indent, in_line);
    }
    if (value.is_array() && !value.items().empty()) {
      if (in_line) out_ += '\n';
      return items(value, indent);
    }
    if (in_line) out_ += ' ';
    scalar(value, indent);
    out_ += '\n';
  }

 private:
  void members(const json::Value& value, std::size_t indent, bool pad_first) {
    bool pad = pad_first;
    for (const json::Member& member : value.members()) {
      if (pad) out_.append(indent, ' ');
      pad = true;
      text(member.key);
      out_ += ':';
      // A list stands as deep as its key: that is how kubectl writes it.
      write(member.value, member.value.is_array() ? indent : indent + 2, true);
    }
  }

  void items(const json::Value& value, std::size_t indent) {
    for (const json::Value& item : value.items()) {
      out_.append(indent, ' ');
      out_ += '-';
      if (item.is_object() && !item.members().empty()) {
        out_ += ' ';
        members(item, indent + 2, false);
      } else {
        write(item, indent + 2, true);
      }
    }
  }

  void scalar(const json::Value& value, std::size_t indent) {
    if (value.is_string() && is_block(value.string())) return block(value.string(), indent);
    if (value.is_string()) return text(value.string());
    out_ += json::to_json(value);
  }

  void text(std::string_view value) {
    if (is_plain(value))
      out_ += value;
    else
      json::append_quoted(out_, value);
  }

  void block(std::string_view value, std::size_t indent) {
    const bool ends = value.back() == '\n';
    out_ += ends ? "|" : "|-";
    if (ends) value.remove_suffix(1);
    const std::string pad(std::max<std::size_t>(indent, 2), ' ');
    while (!value.empty()) {
      const std::size_t end = std::min(value.find('\n'), value.size());
      out_ += '\n';
      out_ += pad;
      out_ += value.substr(0, end);
      value.remove_prefix(std::min(end + 1, value.size()));
    }
  }

  std::string& out_;
};

}  // namespace

std::string to_yaml(const json::Value& tree) {
  std::string out;
  YamlWriter(out).write(tree, 0, false);
  return out;
}

}  // namespace stackgate
