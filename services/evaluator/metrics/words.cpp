#include "services/evaluator/metrics/words.hpp"

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/replace_all.hpp"
#include "services/kit/jinja/unicode.hpp"

namespace stackgate::evaluator {
namespace {

struct Point {
  char32_t point = 0;
  std::size_t size = 0;  // in bytes
};

/// The code point at a place in the text; most are ASCII, and known at once.
Point point_at(std::string_view text, std::size_t at) {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte < 0x80) return {.point = byte, .size = 1};
  return {.point = jinja::point_at(text.substr(at)), .size = jinja::point_size(text.substr(at))};
}

bool is_space(char32_t point) { return (point <= U' ' || point > U'~') && jinja::is_space(point); }

/// Whether Python's \w has it: letters, digits of any script, '_'.
bool is_word(char32_t point) {
  if (point < 0x80) return ascii::is_alphanumeric(static_cast<char>(point)) || point == U'_';
  return jinja::is_alpha(point) || jinja::is_decimal(point);
}

bool is_article(std::string_view word) { return word == "a" || word == "an" || word == "the"; }

/// Each run of word characters that is an article becomes a space.
std::string without_articles(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    for (Point next; end < text.size() && is_word((next = point_at(text, end)).point);) end += next.size;
    if (end == at) {
      end += point_at(text, at).size;
      out += text.substr(at, end - at);
    } else if (is_article(text.substr(at, end - at))) {
      out += ' ';
    } else {
      out += text.substr(at, end - at);
    }
    at = end;
  }
  return out;
}

/// What 13a puts spaces around wherever it stands.
bool stands_alone(char c) { return is_ascii_punctuation(c) && c != '\'' && c != ',' && c != '-' && c != '.'; }

bool is_point(char c) { return c == '.' || c == ','; }

}  // namespace

Words split_words(std::string_view text) {
  Words out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const Point next = at == text.size() ? Point() : point_at(text, at);
    const bool ends = at == text.size() || is_space(next.point);
    if (ends && at > begin) out.emplace_back(text.substr(begin, at - begin));
    if (at == text.size()) break;
    at += next.size;
    if (ends) begin = at;
  }
  return out;
}

Words squad_words(std::string_view text) {
  std::string plain = jinja::lower(text);
  std::erase_if(plain, is_ascii_punctuation);
  return split_words(without_articles(plain));
}

Words bleu_words(std::string_view text) {
  std::string line =
      replace_all(replace_all(replace_all(jinja::strip_right(text), "<skipped>", ""), "-\n", ""), "\n", " ");
  for (const auto& [entity, is] :
       {std::pair<std::string_view, std::string_view>{"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}})
    line = replace_all(line, entity, is);
  line = " " + line + " ";
  std::string apart;
  for (const char c : line) {
    if (stands_alone(c))
      apart.append(" ").append(1, c).append(" ");
    else
      apart += c;
  }
  // A point or comma is a word of its own unless digits stand on both sides; a dash behind a digit is one.
  std::string behind;
  for (std::size_t i = 0; i < apart.size(); ++i) {
    if (i + 1 < apart.size() && !ascii::is_digit(apart[i]) && is_point(apart[i + 1])) {
      behind.append(1, apart[i]).append(" ").append(1, apart[i + 1]).append(" ");
      ++i;
    } else {
      behind += apart[i];
    }
  }
  std::string before;
  for (std::size_t i = 0; i < behind.size(); ++i) {
    if (i + 1 < behind.size() && is_point(behind[i]) && !ascii::is_digit(behind[i + 1])) {
      before.append(" ").append(1, behind[i]).append(" ").append(1, behind[i + 1]);
      ++i;
    } else {
      before += behind[i];
    }
  }
  std::string dashes;
  for (std::size_t i = 0; i < before.size(); ++i) {
    dashes += before[i];
    if (i + 1 < before.size() && ascii::is_digit(before[i]) && before[i + 1] == '-') {
      dashes += " - ";
      ++i;
    }
  }
  return split_words(dashes);
}

Words rouge_words(std::string_view text) {
  Words out;
  std::string word;
  const auto end = [&] {
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = ascii::to_lower(text[i]);
    // Two characters beyond ASCII have a lower case in it: İ (i and a dot above) and the Kelvin sign.
    if (text.substr(i, 2) == "\u0130") {
      word += 'i';
      end();
      ++i;
    } else if (text.substr(i, 3) == "\u212A") {
      word += 'k';
      i += 2;
    } else if (ascii::is_lower(c) || ascii::is_digit(c)) {
      word += c;
    } else {
      end();
    }
  }
  end();
  return out;
}

Words chrf_words(std::string_view text) {
  Words out;
  for (std::string& word : split_words(text)) {
    std::size_t cut = 0;  // 0: the word stays whole
    if (word.size() > 1 && is_ascii_punctuation(word.back()))
      cut = word.size() - 1;
    else if (word.size() > 1 && is_ascii_punctuation(word.front()))
      cut = 1;
    if (cut > 0) out.push_back(word.substr(0, cut));
    out.push_back(word.substr(cut));
  }
  return out;
}

std::vector<std::string_view> characters_of(std::string_view text) {
  std::vector<std::string_view> out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = jinja::point_size(text);
    if (!jinja::is_space(jinja::point_at(text))) out.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return out;
}

}  // namespace stackgate::evaluator
