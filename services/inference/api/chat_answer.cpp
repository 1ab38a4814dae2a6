#include "services/inference/api/chat_answer.hpp"

namespace stackgate::inference {
namespace {

constexpr std::string_view chunk_object = "chat.completion.chunk";

void write_token(json::Writer& w, std::string_view token, std::string_view bytes, float log_prob) {
  w.member("token", token);
  w.key("logprob");
  write_log_prob(w, log_prob);
  w.array("bytes", [&] {
    for (const char c : bytes) w.value(static_cast<std::int64_t>(static_cast<unsigned char>(c)));
  });
}

void write_position(json::Writer& w, const PositionLogProbs& each, bool top) {
  w.object([&] {
    write_token(w, each.token, each.bytes, each.log_prob.value_or(0));
    w.array("top_logprobs", [&] {
      if (!top) return;
      for (const NamedLogProb& one : each.top) w.object([&] { write_token(w, one.token, one.bytes, one.log_prob); });
    });
  });
}

void write_log_probs(json::Writer& w, const std::optional<ChatLogProbs>& of) {
  if (!of) return w.member("logprobs", nullptr);
  w.object("logprobs", [&] {
    w.array("content", [&] {
      for (const PositionLogProbs& each : of->positions) write_position(w, each, of->top);
    });
    w.member("refusal", nullptr);
  });
}

void write_call(json::Writer& w, const ToolCall& call, bool chunk) {
  w.object([&] {
    if (chunk) w.member("index", call.index);
    if (!call.goes_on) {
      w.member("id", call.id);
      w.member("type", "function");
    }
    w.object("function", [&] {
      if (!call.goes_on) w.member("name", call.name);
      w.member("arguments", call.arguments);
    });
  });
}

void write_calls(json::Writer& w, const ChatChoice& choice, bool chunk) {
  if (choice.tool_calls.empty()) return;
  w.array("tool_calls", [&] {
    for (const ToolCall& each : choice.tool_calls) write_call(w, each, chunk);
  });
}

void write_message(json::Writer& w, const ChatChoice& choice) {
  w.object("message", [&] {
    w.member("role", "assistant");
    if (choice.content.empty() && !choice.tool_calls.empty())
      w.member("content", nullptr);
    else
      w.member("content", choice.content);
    w.member("refusal", nullptr);
    write_calls(w, choice, false);
  });
}

/// `delta` writes the delta's members.
template <class Delta>
std::string chunk(const AnswerHead& head, const ChatChoice& choice, const ChunkUsage& usage, Delta&& delta) {
  return event(json::object_text([&](json::Writer& w) {
    write_head(w, head, chunk_object);
    w.array("choices", [&] {
      w.object([&] {
        w.member("index", choice.index);
        w.object("delta", [&] { delta(w); });
        write_log_probs(w, choice.log_probs);
        write_finish(w, choice.finish);
      });
    });
    write_usage(w, usage);
  }));
}

}  // namespace

std::string chat_answer(const AnswerHead& head, std::span<const ChatChoice> choices, const Usage& usage) {
  return json::object_text([&](json::Writer& w) {
    write_head(w, head, "chat.completion");
    w.array("choices", [&] {
      for (const ChatChoice& each : choices)
        w.object([&] {
          w.member("index", each.index);
          write_message(w, each);
          write_log_probs(w, each.log_probs);
          write_finish(w, each.finish);
        });
    });
    write_usage(w, usage);
  });
}

std::string chat_begin_chunk(const AnswerHead& head, std::uint32_t index, const ChunkUsage& usage) {
  return chunk(head, {.index = index, .content = {}}, usage, [](json::Writer& w) {
    w.member("role", "assistant");
    w.member("content", "");
  });
}

std::string chat_chunk(const AnswerHead& head, const ChatChoice& choice, const ChunkUsage& usage) {
  return chunk(head, choice, usage, [&](json::Writer& w) {
    if (!choice.content.empty()) w.member("content", choice.content);
    write_calls(w, choice, true);
  });
}

std::string chat_usage_chunk(const AnswerHead& head, const Usage& usage) {
  return event(json::object_text([&](json::Writer& w) {
    write_head(w, head, chunk_object);
    w.array("choices", [] {});
    write_usage(w, usage);
  }));
}

}  // namespace stackgate::inference
