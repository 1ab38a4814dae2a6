#include "services/kit/yaml_writer/write.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include <yaml-cpp/emitter.h>

#include "services/kit/json/write.hpp"
#include "services/kit/yaml/resolve.hpp"

namespace stackgate::yaml {
namespace {

/// Whether every reader, of YAML 1.1 or 1.2, takes the bare text for a string. The emitter itself quotes what would be
/// no scalar at all ("a: b", " a", "#a"), but does not know that a carriage return ends a line.
bool is_string_when_plain(std::string_view text) {
  constexpr std::string_view numbers_and_markers = "+-.0123456789=<";
  const bool starts_as_path = text.size() > 1 && text[0] == '.' && text[1] >= 'a' && text[1] <= 'z';
  if (text.empty() || text.contains('\r') || (numbers_and_markers.contains(text[0]) && !starts_as_path)) return false;
  const Resolved meaning = resolve_plain(text, 0);
  return meaning.problem == nullptr && meaning.value.is_string();
}

/// Lines that a literal block can hold. The last one ends with a line feed, too: the emitter cannot state the opposite.
bool is_block(std::string_view text) {
  if (text.size() < 2 || text.front() == '\n' || !text.ends_with('\n') || text.contains("\n\n")) return false;
  if (text.front() == ' ' || text.contains("\n ") || text.contains(" \n")) return false;
  return std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); });
}

/// Characters that YAML allows in no text, or takes for the end of a line: DEL, next line, line and paragraph
/// separator, byte order mark.
bool needs_escapes(std::string_view text) {
  static constexpr std::array<std::string_view, 5> special{"\x7f", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9",
                                                           "\xef\xbb\xbf"};
  return std::ranges::any_of(special, [&](std::string_view each) { return text.contains(each); });
}

void write_text(YAML::Emitter& out, std::string_view text, bool block_allowed) {
  if (block_allowed && is_block(text)) {
    out << YAML::Literal << std::string(text.substr(0, text.size() - 1));
    return;
  }
  if (needs_escapes(text))
    out << YAML::DoubleQuoted << YAML::EscapeNonAscii;
  else if (!is_string_when_plain(text))
    out << YAML::DoubleQuoted;
  out << std::string(text);
}

void write(YAML::Emitter& out, const json::Value& tree, bool is_root = false) {
  switch (tree.type()) {
    case json::Type::object:
      if (tree.members().empty()) out << YAML::Flow;
      out << YAML::BeginMap;
      for (const json::Member& member : tree.members()) {
        out << YAML::Key;
        write_text(out, member.key, false);
        out << YAML::Value;
        write(out, member.value);
      }
      out << YAML::EndMap;
      return;
    case json::Type::array:
      if (tree.items().empty()) out << YAML::Flow;
      out << YAML::BeginSeq;
      for (const json::Value& item : tree.items()) write(out, item);
      out << YAML::EndSeq;
      return;
    case json::Type::string:
      return write_text(out, tree.string(), !is_root);
    case json::Type::null:
      out << YAML::Null;
      return;
    case json::Type::boolean:
    case json::Type::integer:
    case json::Type::number:
      out << json::to_json(tree);
      return;
  }
}

}  // namespace

std::string to_yaml(const json::Value& tree) {
  YAML::Emitter out;
  out.SetNullFormat(YAML::LowerNull);
  write(out, tree, true);
  if (!out.good()) throw std::logic_error("yaml-cpp: " + out.GetLastError());
  return std::string(out.c_str(), out.size()) + '\n';
}

}  // namespace stackgate::yaml
