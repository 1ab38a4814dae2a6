#include "services/kit/telemetry/answers.hpp"

#include <charconv>

#include "services/kit/json/parse.hpp"
#include "services/kit/telemetry/protobuf.hpp"

namespace stackgate::telemetry {
namespace answers_detail {

constexpr std::size_t longest_message = 200;

std::string one_line(std::string_view text) {
  std::string out(text.substr(0, longest_message));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return out;
}

bool is_json(std::string_view type) { return type.starts_with("application/json"); }
bool is_protobuf(std::string_view type) { return type.starts_with("application/x-protobuf"); }

std::uint64_t count_of(const json::Value& value) {
  if (value.is_integer()) return value.integer() < 0 ? 0 : static_cast<std::uint64_t>(value.integer());
  if (!value.is_string()) return 0;
  std::uint64_t out = 0;
  const std::string_view text = value.string();
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

Partial partial_of_json(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document);
  Partial out;
  const json::Value* const partial = root ? root->find("partialSuccess") : nullptr;
  if (partial == nullptr) return out;
  for (const char* name : {"rejectedSpans", "rejectedLogRecords", "rejectedDataPoints"}) {
    if (const json::Value* count = partial->find(name)) out.rejected += count_of(*count);
  }
  out.message = one_line(text_at(*partial, "errorMessage"));
  return out;
}

Partial partial_of_protobuf(std::string_view body) {
  Partial out;
  while (const auto field = next_field(body)) {
    if (field->number != 1) continue;
    std::string_view inner = field->bytes;
    while (const auto part = next_field(inner)) {
      if (part->number == 1 && static_cast<std::int64_t>(part->value) > 0) out.rejected = part->value;
      if (part->number == 2) out.message = one_line(part->bytes);
    }
  }
  return out;
}

}  // namespace answers_detail

Partial read_partial(std::string_view content_type, std::string_view body) {
  if (answers_detail::is_json(content_type)) return answers_detail::partial_of_json(body);
  if (answers_detail::is_protobuf(content_type)) return answers_detail::partial_of_protobuf(body);
  return {};
}

std::string read_refusal(std::string_view content_type, std::string_view body) {
  if (answers_detail::is_protobuf(content_type)) {
    while (const auto field = next_field(body)) {
      if (field->number == 2) return answers_detail::one_line(field->bytes);
    }
    return {};
  }
  if (answers_detail::is_json(content_type)) {
    json::Document document;
    if (const auto root = json::parse(body, document))
      if (const json::Value* words = root->find("message"); words != nullptr && words->is_string())
        return answers_detail::one_line(words->string());
  }
  return answers_detail::one_line(body);
}

bool is_retryable(int status) { return status == 429 || status == 502 || status == 503 || status == 504; }

}  // namespace stackgate::telemetry
