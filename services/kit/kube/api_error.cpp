#include "services/kit/kube/api_error.hpp"

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::kube {
namespace {

std::string_view status_text(const json::Value& status, std::string_view key) {
  const json::Value* value = status.find(key);
  return value == nullptr ? std::string_view{} : value->string();
}

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
  switch (failure) {
    case Failure::none:
      return "none";
    case Failure::answered:
      return "answered";
    case Failure::unreachable:
      return "unreachable";
    case Failure::timed_out:
      return "timed_out";
    case Failure::interrupted:
      return "interrupted";
    case Failure::credentials:
      return "credentials";
    case Failure::malformed:
      return "malformed";
    case Failure::cancelled:
      return "cancelled";
    case Failure::limited:
      return "limited";
  }
  return "unknown";
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
  if (status && status_text(*status, "kind") == "Status") {
    error.reason = status_text(*status, "reason");
    error.message = fmt::format("{}: {}", what, status_text(*status, "message"));
    if (const json::Value* details = status->find("details"); details != nullptr && retry_after.count() == 0)
      if (const json::Value* seconds = details->find("retryAfterSeconds"); seconds != nullptr)
        error.retry_after = std::chrono::seconds(seconds->integer());
  } else {
    error.message = fmt::format("{}: HTTP {}: {}", what, code, first_words(body));
  }
  return error;
}

}  // namespace stackgate::kube
