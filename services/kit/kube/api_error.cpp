#include "services/kit/kube/api_error.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::kube {
namespace {

/// Proxies answer with pages of HTML; their first words are enough.
std::string first_words(std::string_view body) {
  constexpr std::size_t limit = 160;
  std::string out;
  for (const char c : body.substr(0, limit)) out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  if (body.size() > limit) out += "…";
  return out;
}

}  // namespace

std::string_view to_string(Failure failure) {
  static constexpr std::array<std::string_view, 9> names{"none",      "answered",    "unreachable",
                                                         "timed_out", "interrupted", "credentials",
                                                         "malformed", "cancelled",   "limited"};
  return names[static_cast<std::size_t>(failure)];
}

bool ApiError::object_missing(std::string_view name) const {
  return code == 404 && reason == "NotFound" && message.ends_with(fmt::format("\"{}\" not found", name));
}

ApiError error_from_answer(std::string_view what, int code, std::string_view body, std::chrono::seconds retry_after) {
  ApiError error;
  error.failure = Failure::answered;
  error.code = code;
  error.retry_after = retry_after;
  json::Document document;
  const auto status = json::parse(body, document);
  if (status && json::text_at(*status, "kind") == "Status") {
    error.reason = json::text_at(*status, "reason");
    error.message = fmt::format("{}: {}", what, json::text_at(*status, "message"));
    if (const json::Value* details = status->find("details"); details != nullptr && retry_after.count() == 0)
      if (const json::Value* seconds = details->find("retryAfterSeconds"); seconds != nullptr)
        error.retry_after = std::chrono::seconds(seconds->integer());
  } else {
    error.message = fmt::format("{}: HTTP {}: {}", what, code, first_words(body));
  }
  return error;
}

}  // namespace stackgate::kube
