// Trees as YAML that a person reads, and as compact JSON.
#include <array>
#include <regex>

#include <fmt/format.h>

#include "crds/generator/tree.hpp"

namespace stackgate::crds::generator {
namespace {

constexpr std::size_t line_width = 110;

std::string double_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
          out += c;
    }
  }
  return out += '"';
}

/// Plain where every YAML reader, 1.1 or 1.2, takes the text for a string; quoted otherwise.
std::string scalar_text(std::string_view text) {
  static const std::regex plain(R"([A-Za-z./(<$^][A-Za-z0-9 ._/()<>$+=;*?^|\\'"!&,@%:\[\]{}-]*)");
  static const std::regex word(R"(true|false|yes|no|on|off|null|y|n|\.inf|\.nan)", std::regex::icase);
  std::string copy(text);
  const bool safe = std::regex_match(copy, plain) && !std::regex_match(copy, word) && !text.ends_with(' ') &&
                    !text.ends_with(':') && text.find(": ") == std::string_view::npos;
  if (safe) return copy;
  // Single quotes leave backslashes and double quotes as they are.
  if (text.find_first_of("\n\t\r") != std::string_view::npos || text.find_first_of("\\\"") == std::string_view::npos)
    return double_quoted(text);
  std::string single = "'";
  for (const char c : text) {
    single += c;
    if (c == '\'') single += c;
  }
  return single += '\'';
}

/// A folded block reads back as the same text only when its words are separated by single blanks.
bool can_fold(std::string_view text) {
  return text.front() != ' ' && text.back() != ' ' && text.find_first_of("\n\t\r") == std::string_view::npos &&
         text.find("  ") == std::string_view::npos;
}

void append_folded(std::string& out, std::string_view text, std::size_t indent) {
  out += ">-";
  std::size_t at = line_width + 1;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (at + 1 + word.size() > line_width) {
      out += '\n';
      out.append(indent, ' ');
      at = indent;
    } else {
      out += ' ';
      ++at;
    }
    out += word;
    at += word.size();
    begin = end + 1;
  }
}

void append_block(std::string& out, const Tree& tree, std::size_t indent);

void append_member_value(std::string& out, const Tree& value, std::size_t indent) {
  const bool block = (value.is_map() && !value.members.empty()) || (value.is_list() && !value.items.empty());
  if (block) {
    out += '\n';
    append_block(out, value, value.is_list() ? indent : indent + 2);
    return;
  }
  out += ' ';
  if (value.type == Tree::Type::string && indent + value.scalar.size() > line_width && can_fold(value.scalar)) {
    append_folded(out, value.scalar, indent + 2);
  } else if (value.type == Tree::Type::string) {
    out += scalar_text(value.scalar);
  } else {
    out += to_compact_json(value);
  }
  out += '\n';
}

void append_map(std::string& out, const Tree& tree, std::size_t indent, bool first_in_place) {
  for (const auto& [key, value] : tree.members) {
    if (!first_in_place) out.append(indent, ' ');
    first_in_place = false;
    out += scalar_text(key) + ":";
    append_member_value(out, value, indent);
  }
}

void append_block(std::string& out, const Tree& tree, std::size_t indent) {
  if (tree.is_map()) return append_map(out, tree, indent, false);
  for (const Tree& item : tree.items) {
    out.append(indent, ' ');
    out += "-";
    if (item.is_map() && !item.members.empty()) {
      out += ' ';
      append_map(out, item, indent + 2, true);
    } else {
      append_member_value(out, item, indent);
    }
  }
}

void append_json(std::string& out, const Tree& tree) {
  switch (tree.type) {
    case Tree::Type::null:
      out += "null";
      break;
    case Tree::Type::boolean:
    case Tree::Type::number:
      out += tree.scalar;
      break;
    case Tree::Type::string:
      out += double_quoted(tree.scalar);
      break;
    case Tree::Type::list:
      out += '[';
      for (std::size_t i = 0; i < tree.items.size(); ++i) {
        if (i > 0) out += ',';
        append_json(out, tree.items[i]);
      }
      out += ']';
      break;
    case Tree::Type::map:
      out += '{';
      for (std::size_t i = 0; i < tree.members.size(); ++i) {
        if (i > 0) out += ',';
        out += double_quoted(tree.members[i].first) + ':';
        append_json(out, tree.members[i].second);
      }
      out += '}';
      break;
  }
}

}  // namespace

std::string to_yaml(const Tree& tree) {
  std::string out;
  append_block(out, tree, 0);
  return out;
}

std::string to_compact_json(const Tree& tree) {
  std::string out;
  append_json(out, tree);
  return out;
}

}  // namespace stackgate::crds::generator
