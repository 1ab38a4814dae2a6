#include "services/inference/api/answer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stackgate::inference {

std::string event(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 8);
  return out.append("data: ").append(json).append("\n\n");
}

void write_head(json::Writer& w, const AnswerHead& head, std::string_view object) {
  w.member("id", head.id);
  w.member("object", object);
  w.member("created", head.created);
  w.member("model", head.model);
}

void write_usage(json::Writer& w, const Usage& usage) {
  w.object("usage", [&] {
    w.member("prompt_tokens", usage.prompt_tokens);
    w.member("completion_tokens", usage.completion_tokens);
    w.member("total_tokens", usage.prompt_tokens + usage.completion_tokens);
    if (usage.cached_tokens)
      w.object("prompt_tokens_details", [&] { w.member("cached_tokens", *usage.cached_tokens); });
  });
}

void write_usage(json::Writer& w, const ChunkUsage& usage) {
  if (usage.figures)
    write_usage(w, *usage.figures);
  else if (usage.asked)
    w.member("usage", nullptr);
}

void write_finish(json::Writer& w, const std::optional<Finish>& finish) {
  if (!finish) {
    w.member("finish_reason", nullptr);
    return;
  }
  w.member("finish_reason", to_string(finish->reason));
  if (const auto* text = std::get_if<std::string>(&finish->cause))
    w.member("stop_reason", *text);
  else if (const auto* id = std::get_if<TokenId>(&finish->cause))
    w.member("stop_reason", *id);
  else
    w.member("stop_reason", nullptr);
}

void write_float(json::Writer& w, float value) {
  char text[32];
  const auto [end, code] = std::to_chars(text, text + sizeof text, std::isfinite(value) ? value : 0);
  w.raw({text, end});
}

void write_log_prob(json::Writer& w, float value) {
  constexpr float least = -9999;
  write_float(w, std::isfinite(value) ? std::max(value, least) : least);
}

}  // namespace stackgate::inference
