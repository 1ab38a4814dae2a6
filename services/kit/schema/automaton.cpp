#include "services/kit/schema/automaton.hpp"

#include <algorithm>
#include <bitset>
#include <map>
#include <utility>

#include "services/kit/base/ascii.hpp"

namespace stackgate::validate::schema {
namespace {

using ByteSet = std::bitset<256>;

constexpr std::size_t most_places = 1500;  // of the nondeterministic automaton
constexpr std::size_t most_states = 300;
constexpr int deepest_group = 20;

// A place consumes a byte of its set and goes on to `out`, or, as a fork, goes on to both without consuming.
struct Place {
  ByteSet bytes;
  int out = -1, other = -1;
  bool fork = false;
};

// Characters of a class: ASCII ones, and whether it holds all others.
struct CharacterSet {
  ByteSet ascii;
  bool beyond = false;

  void invert() {
    for (std::size_t i = 0; i < 128; ++i) ascii.flip(i);
    beyond = !beyond;
  }
};

void add_range(CharacterSet& set, char from, char to) {
  const std::size_t last = static_cast<unsigned char>(to);
  for (std::size_t c = static_cast<unsigned char>(from); c <= last; ++c) set.ascii.set(c);
}

// \d \w \s and their opposites; false for another letter.
bool add_shorthand(CharacterSet& set, char letter) {
  CharacterSet own;
  switch (letter) {
    case 'd':
    case 'D':
      add_range(own, '0', '9');
      break;
    case 'w':
    case 'W':
      add_range(own, '0', '9');
      add_range(own, 'a', 'z');
      add_range(own, 'A', 'Z');
      add_range(own, '_', '_');
      break;
    case 's':
    case 'S':
      for (const char c : {'\t', '\n', '\f', '\r', ' '}) add_range(own, c, c);
      break;
    default:
      return false;
  }
  if (ascii::is_upper(letter)) own.invert();
  set.ascii |= own.ascii;
  set.beyond = set.beyond || own.beyond;
  return true;
}

// The character that an escape stands for, or -1 when it is none.
int escaped(char c) {
  switch (c) {
    case 't':
      return '\t';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 'f':
      return '\f';
    case 'v':
      return '\v';
    default:
      return c > 0x20 && c < 0x7F && !ascii::is_alphanumeric(c) ? c : -1;
  }
}

// Builds from the back: each function makes what leads to `next` and returns where it begins, or -1 for "not plain".
// Repeated parts are parsed again for each copy, so that no tree is needed.
class PlaceBuilder {
 public:
  explicit PlaceBuilder(std::string_view text) : text_(text) {}

  std::vector<Place> places;

  int build(int accept) {
    std::size_t at = 0;
    const int begin = alternatives(at, text_.size(), accept, 0);
    return begin;
  }

 private:
  struct Piece {
    std::size_t begin, end;   // the atom
    int least = 1, most = 1;  // -1: no bound
  };

  int fork(int a, int b) {
    places.push_back({{}, a, b, true});
    return static_cast<int>(places.size()) - 1;
  }
  int consume(const ByteSet& bytes, int next) {
    places.push_back({bytes, next, -1, false});
    return static_cast<int>(places.size()) - 1;
  }
  int characters(const CharacterSet& set, int next) {
    const int plain = set.ascii.any() ? consume(set.ascii, next) : -1;
    if (!set.beyond) return plain;
    // A lead byte and any number of continuation bytes: with well-formed text that is one character.
    ByteSet lead, continuation;
    for (std::size_t i = 0x80; i < 0xC0; ++i) continuation.set(i);
    for (std::size_t i = 0xC0; i < 0x100; ++i) lead.set(i);
    const int loop = fork(-1, next);
    const int more = consume(continuation, loop);
    places[static_cast<std::size_t>(loop)].out = more;
    const int wide = consume(lead, more);
    return plain < 0 ? wide : fork(plain, wide);
  }

  // The end of the atom at `at`, or 0 when there is none.
  std::size_t atom_end(std::size_t at, std::size_t end) const {
    const char c = text_[at];
    if (c == '\\') return at + 1 < end ? at + 2 : 0;
    if (c == '(') {
      int depth = 0;
      for (std::size_t i = at; i < end; ++i) {
        if (text_[i] == '\\')
          ++i;
        else if (text_[i] == '[') {
          i = class_end(i, end);
          if (i == 0) return 0;
          --i;
        } else if (text_[i] == '(')
          ++depth;
        else if (text_[i] == ')' && --depth == 0)
          return i + 1;
      }
      return 0;
    }
    if (c == '[') return class_end(at, end);
    if (c == '.' || (c >= 0x20 && c < 0x7F && std::string_view("^$|)*+?{}]").find(c) == std::string_view::npos))
      return at + 1;
    return 0;
  }
  std::size_t class_end(std::size_t at, std::size_t end) const {
    std::size_t i = at + 1;
    if (i < end && text_[i] == '^') ++i;
    if (i < end && text_[i] == ']') ++i;
    for (; i < end; ++i) {
      if (text_[i] == '\\')
        ++i;
      else if (text_[i] == '[')
        return 0;  // [:alpha:], or a literal that is better left to RE2
      else if (text_[i] == ']')
        return i + 1;
    }
    return 0;
  }

  bool read_class(std::size_t begin, std::size_t end, CharacterSet& set) const {
    std::size_t i = begin + 1;
    const bool negated = i < end && text_[i] == '^';
    if (negated) ++i;
    for (bool first = true; i < end - 1; first = false) {
      int from = static_cast<unsigned char>(text_[i]);
      if (from >= 0x7F || from < 0x20 || (from == ']' && !first)) return false;
      if (from == '\\') {
        if (add_shorthand(set, text_[i + 1])) {
          i += 2;
          continue;
        }
        from = escaped(text_[i + 1]);
        if (from < 0) return false;
        ++i;
      }
      ++i;
      int to = from;
      if (i + 1 < end - 1 && text_[i] == '-') {
        to = static_cast<unsigned char>(text_[i + 1]);
        i += 2;
        if (to >= 0x7F || to < 0x20) return false;
        if (to == '\\') {
          to = escaped(text_[i++]);
          if (to < 0) return false;
        }
        if (to < from) return false;
      }
      add_range(set, static_cast<char>(from), static_cast<char>(to));
    }
    if (negated) set.invert();
    return true;
  }

  int atom(std::size_t begin, std::size_t end, int next, int depth) {
    if (places.size() > most_places) return -1;
    CharacterSet set;
    const char c = text_[begin];
    if (c == '(') {
      std::size_t inside = begin + 1;
      if (text_.substr(inside).starts_with("?:"))
        inside += 2;
      else if (text_.substr(inside).starts_with("?"))
        return -1;
      return alternatives(inside, end - 1, next, depth + 1);
    }
    if (c == '[') {
      if (!read_class(begin, end, set)) return -1;
    } else if (c == '.') {
      add_range(set, '\n', '\n');
      set.invert();
    } else if (c == '\\') {
      if (!add_shorthand(set, text_[begin + 1])) {
        const int literal = escaped(text_[begin + 1]);
        if (literal < 0) return -1;
        add_range(set, static_cast<char>(literal), static_cast<char>(literal));
      }
    } else {
      add_range(set, c, c);
    }
    return characters(set, next);
  }

  bool read_repetition(std::size_t& at, std::size_t end, Piece& piece) const {
    if (at >= end) return true;
    const char c = text_[at];
    if (c == '*')
      piece.least = 0, piece.most = -1;
    else if (c == '+')
      piece.most = -1;
    else if (c == '?')
      piece.least = 0;
    else if (c == '{') {
      const auto number = [&](int& out) {
        std::size_t digits = 0;
        out = 0;
        for (; at < end && text_[at] >= '0' && text_[at] <= '9' && digits < 4; ++at, ++digits)
          out = out * 10 + (text_[at] - '0');
        return digits == 1 || (digits > 1 && text_[at - digits] != '0');  // "{02}" is literal text
      };
      ++at;
      if (!number(piece.least)) return false;
      piece.most = piece.least;
      if (at < end && text_[at] == ',') {
        ++at;
        if (at < end && text_[at] == '}')
          piece.most = -1;
        else if (!number(piece.most))
          return false;
      }
      if (at >= end || text_[at] != '}' || (piece.most >= 0 && piece.most < piece.least) || piece.least > 1000 ||
          piece.most > 1000)
        return false;
    } else {
      return true;
    }
    ++at;
    return at >= end || std::string_view("*+?{").find(text_[at]) == std::string_view::npos;  // lazy or doubled: RE2
  }

  int sequence(std::size_t begin, std::size_t end, int next, int depth) {
    std::vector<Piece> pieces;
    for (std::size_t at = begin; at < end;) {
      Piece piece{at, atom_end(at, end)};
      if (piece.end == 0 || piece.end > end) return -1;
      at = piece.end;
      if (!read_repetition(at, end, piece)) return -1;
      pieces.push_back(piece);
    }
    for (std::size_t i = pieces.size(); i-- > 0;) {
      const Piece& piece = pieces[i];
      if (piece.most < 0) {
        const int loop = fork(-1, next);
        const int body = atom(piece.begin, piece.end, loop, depth);
        if (body < 0) return -1;
        places[static_cast<std::size_t>(loop)].out = body;
        next = piece.least > 0 ? body : loop;
        for (int copy = 1; copy < piece.least && next >= 0; ++copy) next = atom(piece.begin, piece.end, next, depth);
        if (next < 0) return -1;
        continue;
      }
      // Not used, but it must be right.
      if (piece.most == 0 && atom(piece.begin, piece.end, next, depth) < 0) return -1;
      const int behind = next;
      for (int copy = piece.most; copy > piece.least; --copy) {
        const int body = atom(piece.begin, piece.end, next, depth);
        if (body < 0) return -1;
        next = fork(body, behind);
      }
      for (int copy = 0; copy < piece.least && next >= 0; ++copy) next = atom(piece.begin, piece.end, next, depth);
      if (next < 0) return -1;
    }
    return next;
  }

  int alternatives(std::size_t begin, std::size_t end, int next, int depth) {
    if (depth > deepest_group) return -1;
    int out = -1;
    std::size_t from = begin;
    for (std::size_t at = begin; at <= end;) {
      if (at == end || text_[at] == '|') {
        if (at < end && depth == 0) return -1;  // "^a|b$" means "^a" or "b$": not what is built here
        const int one = sequence(from, at, next, depth);
        if (one < 0 || places.size() > most_places) return -1;
        out = out < 0 ? one : fork(out, one);
        from = at + 1;
        ++at;
        continue;
      }
      at = atom_end(at, end);
      if (at == 0 || at > end) return -1;
      // Over the repetition.
      while (at < end && std::string_view("*+?").find(text_[at]) != std::string_view::npos) ++at;
      if (at < end && text_[at] == '{') {
        at = text_.find('}', at);
        if (at >= end) return -1;
        ++at;
      }
    }
    return out;
  }

  std::string_view text_;
};

// All places that `place` leads to without consuming; forks are left out.
void close_over(const std::vector<Place>& places, int place, std::vector<int>& into, std::vector<bool>& seen) {
  std::vector<int> open{place};
  while (!open.empty()) {
    const int now = open.back();
    open.pop_back();
    if (now < 0 || seen[static_cast<std::size_t>(now)]) continue;
    seen[static_cast<std::size_t>(now)] = true;
    const Place& each = places[static_cast<std::size_t>(now)];
    if (!each.fork) {
      into.push_back(now);
      continue;
    }
    open.push_back(each.out);
    open.push_back(each.other);
  }
}

}  // namespace

std::optional<Automaton> Automaton::compile(std::string_view expression) {
  if (expression.size() < 2 || expression.size() > 1000 || expression.front() != '^' || expression.back() != '$')
    return std::nullopt;
  // "\$" at the end is a dollar sign, not an anchor.
  std::size_t slashes = 0;
  while (slashes + 2 < expression.size() && expression[expression.size() - 2 - slashes] == '\\') ++slashes;
  if (slashes % 2 == 1) return std::nullopt;
  const std::string_view inside = expression.substr(1, expression.size() - 2);
  PlaceBuilder builder(inside);
  builder.places.push_back({});  // accepts: consumes nothing
  const int begin = builder.build(0);
  if (begin < 0 || builder.places.size() > most_places) return std::nullopt;

  Automaton out;
  // Bytes that no place tells apart share a class.
  std::vector<ByteSet> sets;
  for (const Place& place : builder.places)
    if (!place.fork && std::ranges::find(sets, place.bytes) == sets.end()) sets.push_back(place.bytes);
  std::map<std::vector<bool>, std::uint8_t> classes;
  std::vector<std::size_t> sample;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    std::vector<bool> signature;
    signature.reserve(sets.size());
    for (const ByteSet& set : sets) signature.push_back(set[byte]);
    const auto [found, fresh] = classes.try_emplace(std::move(signature), static_cast<std::uint8_t>(classes.size()));
    if (fresh) sample.push_back(byte);
    out.class_of_[byte] = found->second;
  }
  out.classes_ = classes.size();

  std::map<std::vector<int>, std::uint16_t> known;
  std::vector<std::vector<int>> states(2);
  std::vector<bool> seen(builder.places.size());
  close_over(builder.places, begin, states[1], seen);
  std::ranges::sort(states[1]);
  known[{}] = 0;
  if (!states[1].empty()) known[states[1]] = 1;
  for (std::size_t state = 0; state < states.size(); ++state) {
    if (states.size() > most_states) return std::nullopt;
    out.accepting_.push_back(std::ranges::find(states[state], 0) != states[state].end());
    for (const std::size_t byte : sample) {
      std::vector<int> reached;
      std::fill(seen.begin(), seen.end(), false);
      for (const int place : states[state]) {
        const Place& each = builder.places[static_cast<std::size_t>(place)];
        if (each.bytes[byte]) close_over(builder.places, each.out, reached, seen);
      }
      std::ranges::sort(reached);
      const auto [found, fresh] = known.try_emplace(reached, static_cast<std::uint16_t>(states.size()));
      if (fresh) states.push_back(std::move(reached));
      out.next_.push_back(found->second);
    }
  }
  return out;
}

}  // namespace stackgate::validate::schema
