#include "services/kit/yaml/kubectl_stream.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::yaml {

namespace {

constexpr std::string_view white = " \t\r\n";

void remark_on_json(std::string_view text, std::size_t at, std::vector<StreamRemark>& out) {
  constexpr std::string_view cure = "write plain JSON, or a line --- in front of it: kubectl then reads YAML";
  json::Document scratch;
  while (at < text.size()) {
    if (text.substr(at).starts_with("---")) {
      out.push_back({static_cast<std::uint32_t>(at),
                     "kubectl reads what begins with { as JSON, and JSON has no lines of ---", cure, false});
      return;
    }
    const auto end = json::parse_one(text, static_cast<std::uint32_t>(at), scratch);
    if (!end) {
      const bool is_mark = text.substr(end.error().offset).starts_with(byte_order_mark);
      out.push_back(
          {end.error().offset,
           fmt::format("kubectl reads what begins with {{ as JSON, and this is none: {}", end.error().message),
           is_mark ? "take the byte order mark (U+FEFF, not visible) out of this line" : cure, false});
      return;
    }
    at = std::min(text.find_first_not_of(white, *end), text.size());
  }
}

/// Goes through the lines of a stream that kubectl reads as YAML.
class Cutter {
 public:
  explicit Cutter(std::vector<StreamRemark>& out) : out_(out) {}

  /// Whether a line that begins like this can matter: nearly none does.
  bool heeds(char first) const { return !has_content_ || first == '-' || first == '%' || first == byte_order_mark[0]; }

  void line(std::string_view line, std::size_t offset) {
    const auto remark = [&](std::string problem, std::string_view cure) {
      out_.push_back({static_cast<std::uint32_t>(offset), std::move(problem), cure, false});
    };
    if (line.starts_with(byte_order_mark)) {
      if (!at_start_)
        remark("kubectl takes a byte order mark (U+FEFF, not visible) for text here", "take it out of this line");
      line.remove_prefix(byte_order_mark.size());
    } else if (line.starts_with("---")) {
      const std::string_view behind = line.substr(std::min(line.find_first_not_of(white, 3), line.size()));
      unseen_.reset();
      if (behind.starts_with('#')) {
        if (has_content_) unseen_ = offset;
      } else if (!behind.empty()) {
        remark("kubectl refuses a line that begins with --- and goes on, or drops what it says",
               "put what stands behind --- into the next line");
      }
      at_start_ = !at_start_;  // kubectl leaves a marker that ends no part in the part that it begins
      has_content_ = false;
      return;
    } else if (line.starts_with('%') && !has_content_) {
      remark("kubectl refuses directives", "take the line out");
    }
    at_start_ = false;
    if (has_content_) return;
    const std::size_t first = line.find_first_not_of(white);
    has_content_ = first != std::string_view::npos && line[first] != '#';
    if (!has_content_ || !unseen_) return;
    out_.push_back({static_cast<std::uint32_t>(*unseen_),
                    "older kubectl, 1.20 among them, takes this for no separator, and drops the document behind it",
                    "put the comment into a line of its own", true});
    unseen_.reset();
  }

 private:
  std::vector<StreamRemark>& out_;
  bool at_start_ = true;               // of a part
  bool has_content_ = false;           // in the part so far
  std::optional<std::size_t> unseen_;  // a separator with a comment, and nothing behind it yet
};

}  // namespace

std::vector<StreamRemark> kubectl_remarks(std::string_view text) {
  std::vector<StreamRemark> out;
  const std::size_t begin = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  const std::size_t first = text.find_first_not_of(white, begin);
  if (first == std::string_view::npos) return out;
  if (text[first] == '{') {
    remark_on_json(text, first, out);
    return out;
  }
  Cutter cutter(out);
  for (std::size_t at = begin; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (cutter.heeds(text[at])) cutter.line(text.substr(at, end - at), at);
    at = end + 1;
  }
  return out;
}

}  // namespace stackgate::yaml
