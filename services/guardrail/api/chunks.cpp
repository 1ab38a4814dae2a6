#include <fmt/format.h>

#include "services/guardrail/api/answer.hpp"
#include "services/guardrail/api/guardrails_data.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::guardrail {
namespace {

std::string event(std::string_view json) {
  std::string out;
  out.reserve(json.size() + 8);
  return out.append("data: ").append(json).append("\n\n");
}

/// `choices` writes into an open list, `tail` into the chunk.
template <class Choices, class Tail>
std::string chunk(const AnswerHead& head, Choices&& choices, Tail&& tail) {
  return event(json::object_text([&](json::Writer& w) {
    w.member("id", head.id);
    w.member("object", "chat.completion.chunk");
    w.member("created", head.created);
    w.member("model", head.model);
    w.array("choices", [&] { choices(w); });
    tail(w);
  }));
}

template <class Delta>
std::string delta_chunk(const AnswerHead& head, bool include_usage, std::string_view finish_reason, Delta&& delta,
                        const GuardrailsData* guardrails = nullptr) {
  return chunk(
      head,
      [&](json::Writer& w) {
        w.object([&] {
          w.member("index", 0);
          w.object("delta", [&] { delta(w); });
          w.member("logprobs", nullptr);
          if (finish_reason.empty())
            w.member("finish_reason", nullptr);
          else
            w.member("finish_reason", finish_reason);
        });
      },
      [&](json::Writer& w) {
        if (include_usage) w.member("usage", nullptr);
        if (guardrails != nullptr) w.object("guardrails", [&] { write_guardrails(w, *guardrails); });
      });
}

/// {"error": {…}} as OpenAI's clients read it; `more` writes further members.
template <class More>
std::string error(std::string_view message, std::string_view rail, More&& more) {
  return event(json::object_text([&](json::Writer& w) {
    w.object("error", [&] {
      w.member("message", message);
      w.member("type", "guardrails_violation");
      w.member("param", rail);
      w.member("code", "content_blocked");
      more(w);
    });
  }));
}

std::string blocked_by(std::string_view rail) { return fmt::format("Blocked by {} rails.", rail); }

}  // namespace

std::string begin_chunk(const AnswerHead& head, bool include_usage) {
  return delta_chunk(head, include_usage, {}, [](json::Writer& w) {
    w.member("role", "assistant");
    w.member("content", "");
  });
}

std::string text_chunk(const AnswerHead& head, std::string_view text, bool include_usage) {
  return delta_chunk(head, include_usage, {}, [&](json::Writer& w) { w.member("content", text); });
}

std::string tool_calls_chunk(const AnswerHead& head, std::string_view tool_calls, bool include_usage) {
  json::Document document;
  const auto calls = json::parse(tool_calls, document, {.max_depth = 128});
  return delta_chunk(head, include_usage, {}, [&](json::Writer& w) {
    w.array("tool_calls", [&] {
      std::int64_t index = 0;
      if (!calls) return;
      for (const json::Value& call : calls->items())
        w.object([&] {
          w.member("index", index++);
          for (const json::Member& each : call.members())
            if (each.key != "index") w.member(each.key, each.value);
        });
    });
  });
}

std::string finish_chunk(const AnswerHead& head, std::string_view finish_reason, const GuardrailsData* guardrails,
                         bool include_usage) {
  return delta_chunk(head, include_usage, finish_reason, [](json::Writer&) {}, guardrails);
}

std::string usage_chunk(const AnswerHead& head, const Usage& usage) {
  return chunk(head, [](json::Writer&) {}, [&](json::Writer& w) { write_usage(w, usage); });
}

std::string violation_event(std::string_view rail) {
  return error(blocked_by(rail), rail, [](json::Writer&) {});
}

std::string exception_event(const Event& exception, std::string_view rail) {
  return error(blocked_by(rail), rail, [&](json::Writer& w) {
    w.key("exception");
    write_event(w, exception);
  });
}

}  // namespace stackgate::guardrail
