#include "services/guardrail/retrieval/chunks.hpp"

#include <algorithm>
#include <array>

namespace stackgate::guardrail {
namespace {

constexpr std::size_t longest_title = 500;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  return text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

/// 1 to 6 for a heading, else 0.
std::size_t heading_level(std::string_view line) {
  const std::size_t level = std::min(line.find_first_not_of('#'), line.size());
  const bool is = level >= 1 && level <= 6 && (level == line.size() || line[level] == ' ' || line[level] == '\t');
  return is ? level : 0;
}

class Splitter {
 public:
  Splitter(std::string_view name, const ChunkLimits& limits) : name_(name), limits_(limits) {}

  void line(std::string_view line) {
    const std::string_view text = trimmed(line);
    const bool fence = text.starts_with("```") || text.starts_with("~~~");
    const std::size_t level = in_code_ ? 0 : heading_level(line);
    if (level > 0) {
      close();
      std::fill(titles_.begin() + static_cast<std::ptrdiff_t>(level - 1), titles_.end(), std::string());
      titles_[level - 1] = trimmed(text.substr(level));
      while (titles_[level - 1].ends_with('#')) titles_[level - 1].pop_back();
      titles_[level - 1] = trimmed(std::string(titles_[level - 1]));
      return;
    }
    if (fence) in_code_ = !in_code_;
    if (text.empty() && !in_code_) end_of_paragraph();
    if (!paragraph_.empty() || !text.empty()) paragraph_.append(line).push_back('\n');
  }

  Chunks finish() {
    close();
    return std::move(out_);
  }

 private:
  void end_of_paragraph() {
    const std::string_view text = trimmed(paragraph_);
    if (!body_.empty() && body_.size() + 2 + text.size() > limits_.wanted_bytes) put_body();
    if (!text.empty()) body_.append(body_.empty() ? "" : "\n\n").append(text);
    paragraph_.clear();
  }

  void close() {
    end_of_paragraph();
    put_body();
  }

  void put_body() {
    std::string_view rest = trimmed(body_);
    while (!rest.empty()) {
      std::size_t end = rest.size();
      if (end > limits_.most_bytes) {
        end = limits_.most_bytes;
        const std::size_t blank = rest.substr(0, end).find_last_of(" \n\t");
        if (blank != rest.npos && blank > limits_.most_bytes / 2) end = blank;
        while (end > 1 && (rest[end] & '\xC0') == '\x80') --end;
      }
      put(trimmed(rest.substr(0, end)));
      rest = trimmed(rest.substr(end));
    }
    body_.clear();
  }

  void put(std::string_view body) {
    if (body.empty()) return;
    if (out_.chunks.size() >= limits_.chunks) {
      out_.complete = false;
      return;
    }
    std::string title;
    for (const std::string& each : titles_)
      if (!each.empty()) title.append(title.empty() ? "" : " - ").append(each);
    std::size_t size = std::min(title.size(), longest_title);
    while (size < title.size() && (title[size] & '\xC0') == '\x80') --size;
    title.resize(size);
    out_.chunks.push_back({title.empty() ? std::string(name_) : std::move(title), std::string(body)});
  }

  std::string_view name_;
  const ChunkLimits& limits_;
  std::array<std::string, 6> titles_{};
  std::string paragraph_, body_;
  bool in_code_ = false;
  Chunks out_;
};

}  // namespace

Chunks markdown_chunks(std::string_view name, std::string_view page, const ChunkLimits& limits) {
  Splitter splitter(name, limits);
  while (!page.empty()) {
    const std::size_t end = std::min(page.find('\n'), page.size());
    std::string_view line = page.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    splitter.line(line);
    page.remove_prefix(std::min(end + 1, page.size()));
  }
  return splitter.finish();
}

}  // namespace stackgate::guardrail
