#include "services/inference/constrain/json_rules.hpp"

#include <initializer_list>
#include <utility>

namespace stackgate::inference {
namespace {

using Ranges = std::initializer_list<std::pair<unsigned, unsigned>>;

class Writer {
 public:
  explicit Writer(GrammarBuilder& builder) : b_(builder) {}

  NodeId one_of(NodeId from, Ranges ranges) {
    const NodeId to = b_.node();
    lead(from, ranges, to);
    return to;
  }
  void lead(NodeId from, Ranges ranges, NodeId to) {
    for (const auto& [low, high] : ranges) b_.bytes(from, low, high, to);
  }

  /// Whole UTF-8 sequences of more than one byte (RFC 3629), and what of ASCII needs no escape.
  void plain_character(NodeId from, NodeId to) {
    lead(from, {{0x20, '!'}, {'#', '['}, {']', 0x7F}}, to);
    const NodeId last = b_.node(), last_two = b_.node(), last_three = b_.node();
    lead(last, {{0x80, 0xBF}}, to);
    lead(last_two, {{0x80, 0xBF}}, last);
    lead(last_three, {{0x80, 0xBF}}, last_two);
    lead(from, {{0xC2, 0xDF}}, last);
    lead(one_of(from, {{0xE0, 0xE0}}), {{0xA0, 0xBF}}, last);
    lead(from, {{0xE1, 0xEC}, {0xEE, 0xEF}}, last_two);
    lead(one_of(from, {{0xED, 0xED}}), {{0x80, 0x9F}}, last);
    lead(one_of(from, {{0xF0, 0xF0}}), {{0x90, 0xBF}}, last_two);
    lead(from, {{0xF1, 0xF3}}, last_three);
    lead(one_of(from, {{0xF4, 0xF4}}), {{0x80, 0x8F}}, last_two);
  }

  /// \n, ä; of surrogates only whole pairs.
  void escape(NodeId from, NodeId to) {
    const NodeId escaped = b_.byte(from, '\\');
    for (const char c : {'"', '\\', '/', 'b', 'f', 'n', 'r', 't'})
      b_.bytes(escaped, static_cast<unsigned char>(c), static_cast<unsigned char>(c), to);
    const NodeId code = b_.byte(escaped, 'u');
    hex(hex(one_of(code, {{'0', '9'}, {'a', 'c'}, {'A', 'C'}, {'e', 'f'}, {'E', 'F'}})), to, true);
    const NodeId d = one_of(code, {{'d', 'd'}, {'D', 'D'}});
    hex(one_of(d, {{'0', '7'}}), to, true);
    const NodeId high = one_of(d, {{'8', '9'}, {'a', 'b'}, {'A', 'B'}});
    const NodeId pair = b_.literal(hex(hex(high)), "\\u");
    hex(one_of(one_of(pair, {{'d', 'd'}, {'D', 'D'}}), {{'c', 'f'}, {'C', 'F'}}), to, true);
  }

  NodeId digits(NodeId from, int most, NodeId to) {
    for (int i = 0; i < most; ++i) {
      from = one_of(from, {{'0', '9'}});
      b_.free(from, to);
    }
    return from;
  }

  /// -? (0 | [1-9][0-9]*), at most 15 digits.
  void whole(NodeId from, NodeId to) {
    constexpr int most_digits = 15;
    const NodeId sign = b_.byte(from, '-');
    for (const NodeId each : {from, sign}) lead(each, {{'0', '0'}}, to);
    const NodeId first = b_.node();
    for (const NodeId each : {from, sign}) lead(each, {{'1', '9'}}, first);
    b_.free(first, to);
    digits(first, most_digits - 1, to);
  }

  void fraction_and_exponent(NodeId from, NodeId to) {
    constexpr int most_digits = 15, most_exponent_digits = 2;
    const NodeId behind = b_.node();
    b_.free(from, behind);
    digits(b_.byte(from, '.'), most_digits, behind);
    b_.free(behind, to);
    const NodeId letter = one_of(behind, {{'e', 'e'}, {'E', 'E'}});
    const NodeId sign = one_of(letter, {{'+', '+'}, {'-', '-'}});
    b_.free(letter, sign);
    digits(sign, most_exponent_digits, to);
  }

 private:
  NodeId hex(NodeId from) { return one_of(from, {{'0', '9'}, {'a', 'f'}, {'A', 'F'}}); }
  void hex(NodeId from, NodeId to, bool two) { lead(two ? hex(from) : from, {{'0', '9'}, {'a', 'f'}, {'A', 'F'}}, to); }

  GrammarBuilder& b_;
};

void add_space(GrammarBuilder& b, RuleId rule) {
  constexpr int most_indent = 24;
  const auto [start, end] = b.at(rule);
  b.free(start, end);
  b.bytes(start, ' ', ' ', end);
  NodeId at = b.byte(start, '\n');
  for (int i = 0; i < most_indent; ++i) {
    b.free(at, end);
    const NodeId next = b.node();
    b.bytes(at, ' ', ' ', next);
    b.bytes(at, '\t', '\t', next);
    at = next;
  }
  b.free(at, end);
}

}  // namespace

JsonRules add_json_rules(GrammarBuilder& b) {
  const JsonRules json{.space = b.rule(),
                       .string = b.rule(),
                       .rest = b.rule(),
                       .character = b.rule(),
                       .number = b.rule(),
                       .integer = b.rule(),
                       .value = b.rule(),
                       .object = b.rule(),
                       .array = b.rule()};
  Writer w(b);
  add_space(b, json.space);

  const auto [text, text_end] = b.at(json.rest);
  w.plain_character(text, text);
  w.escape(text, text);
  b.bytes(text, '"', '"', text_end);
  b.grammar().text = text;
  b.call(b.byte(b.at(json.string).start, '"'), json.rest, b.at(json.string).end);
  w.plain_character(b.at(json.character).start, b.at(json.character).end);
  w.escape(b.at(json.character).start, b.at(json.character).end);

  w.whole(b.at(json.integer).start, b.at(json.integer).end);
  const NodeId point = b.node();
  w.whole(b.at(json.number).start, point);
  w.fraction_and_exponent(point, b.at(json.number).end);

  const auto [value, value_end] = b.at(json.value);
  for (const RuleId each : {json.string, json.number, json.object, json.array}) b.call(value, each, value_end);
  for (const std::string_view word : {"true", "false", "null"}) b.free(b.literal(value, word), value_end);
  add_map(b, json, b.at(json.object).start, json.value, b.at(json.object).end);
  add_list(b, json, b.at(json.array).start, json.value, 0, any_length, b.at(json.array).end);
  return json;
}

void add_map(GrammarBuilder& b, const JsonRules& json, NodeId from, RuleId value, NodeId to) {
  const NodeId open = b.call(b.byte(from, '{'), json.space);
  const NodeId behind = b.node();
  b.call(b.call(b.byte(b.call(open, json.string), ':'), json.space), value, behind);
  const NodeId more = b.call(b.byte(behind, ','), json.space);
  b.call(b.call(b.byte(b.call(more, json.string), ':'), json.space), value, behind);
  b.bytes(open, '}', '}', to);
  b.bytes(b.call(behind, json.space), '}', '}', to);
}

void add_list(GrammarBuilder& b, const JsonRules& json, NodeId from, RuleId value, std::uint32_t least,
              std::uint32_t most, NodeId to) {
  NodeId next = b.call(b.byte(from, '['), json.space);
  if (least == 0) b.bytes(next, ']', ']', to);
  for (std::uint32_t count = 1; count <= most; ++count) {
    const NodeId behind = b.call(next, value);
    if (count >= least) b.bytes(b.call(behind, json.space), ']', ']', to);
    next = b.call(b.byte(behind, ','), json.space);
    if (count >= least && most == any_length) {
      b.call(next, value, behind);
      return;
    }
  }
}

}  // namespace stackgate::inference
