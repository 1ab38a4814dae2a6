#include "services/evaluator/workflow/protocol/result_stream.hpp"

#include <utility>

#include <fmt/format.h>

#include "services/evaluator/workflow/protocol/workflow_object.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::evaluator {
namespace result_stream_detail {

constexpr std::size_t longest_line = 8U << 20U;
constexpr json::ParseLimits limits{.max_depth = 256, .max_bytes = longest_line};

}  // namespace result_stream_detail

bool ResultStream::feed(std::string_view bytes, const Take& take) {
  if (!fault_.empty()) return false;
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    line_.append(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    if (!end_line(take)) return false;
  }
  line_.append(bytes);
  if (line_.size() <= result_stream_detail::longest_line) return true;
  fault_ = fmt::format("the stream has a line of more than {} MiB", result_stream_detail::longest_line >> 20U);
  return false;
}

bool ResultStream::finish(const Take& take) { return fault_.empty() && (line_.empty() || end_line(take)); }

bool ResultStream::end_line(const Take& take) {
  const std::string line = std::exchange(line_, {});
  std::string_view text = line;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.starts_with("data:"))
    text.remove_prefix(5);
  else if (!text.starts_with('{'))
    return true;
  json::Document document;
  const auto root = json::parse(text, document, result_stream_detail::limits);
  if (!root || !root->is_object()) {
    ++passed_over_;
    return true;
  }
  if (const json::Value* result = root->find("result"); result != nullptr) return take(*result);
  if (root->find("error") == nullptr) {
    ++passed_over_;
    return true;
  }
  const std::string message = gateway_message(text);
  fault_ = message.empty() ? std::string("the server ended the stream with an error") : message;
  return false;
}

}  // namespace stackgate::evaluator
