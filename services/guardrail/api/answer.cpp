#include "services/guardrail/api/answer.hpp"

#include "services/guardrail/api/guardrails_data.hpp"

namespace stackgate::guardrail {
namespace {

void write_head(json::Writer& w, const AnswerHead& head, std::string_view object) {
  w.member("id", head.id);
  w.member("object", object);
  w.member("created", head.created);
  w.member("model", head.model);
}

std::string exception_text(const Event& exception) {
  std::string out;
  json::Writer w(out);
  write_event(w, exception);
  return out;
}

/// What stands between the braces of a message; `object`: an exception's content is an object, not a text.
void write_message(json::Writer& w, const ChatAnswer& answer, bool object) {
  w.member("role", answer.exception != nullptr ? "exception" : "assistant");
  w.key("content");
  if (answer.exception != nullptr && object)
    write_event(w, *answer.exception);
  else if (answer.exception != nullptr)
    w.value(exception_text(*answer.exception));
  else if (answer.text.empty() && !answer.tool_calls.empty())
    w.value(nullptr);
  else
    w.value(answer.text);
  if (answer.exception != nullptr || answer.tool_calls.empty()) return;
  w.key("tool_calls");
  w.raw(answer.tool_calls);
}

void write_tail(json::Writer& w, const ChatAnswer& answer) {
  if (answer.usage) write_usage(w, *answer.usage);
  w.object("guardrails", [&] { write_guardrails(w, answer.guardrails); });
  if (answer.older_form) write_asked(w, answer.guardrails);
}

// The microservice's return_choice.
void write_data_choice(json::Writer& w, const ChatAnswer& answer) {
  w.object([&] {
    w.member("index", 1);
    w.object("message", [&] {
      w.member("role", "guardrails_data");
      w.member("content", json::object_text([&](json::Writer& data) { write_guardrails(data, answer.guardrails); }));
    });
    w.member("logprobs", nullptr);
    w.member("finish_reason", "stop");
  });
}

}  // namespace

std::string chat_answer(const ChatAnswer& answer) {
  return json::object_text([&](json::Writer& w) {
    write_head(w, answer.head, "chat.completion");
    w.array("choices", [&] {
      w.object([&] {
        w.member("index", 0);
        w.object("message", [&] {
          write_message(w, answer, false);
          w.member("refusal", nullptr);
        });
        w.member("logprobs", nullptr);
        w.member("finish_reason", answer.finish_reason);
      });
      if (answer.return_choice) write_data_choice(w, answer);
    });
    w.array("messages", [&] { w.object([&] { write_message(w, answer, true); }); });
    write_tail(w, answer);
  });
}

std::string completion_answer(const ChatAnswer& answer) {
  return json::object_text([&](json::Writer& w) {
    write_head(w, answer.head, "text_completion");
    w.array("choices", [&] {
      w.object([&] {
        w.member("index", 0);
        if (answer.exception != nullptr)
          w.member("text", exception_text(*answer.exception));
        else
          w.member("text", answer.text);
        w.member("logprobs", nullptr);
        w.member("finish_reason", answer.finish_reason);
      });
    });
    write_tail(w, answer);
  });
}

}  // namespace stackgate::guardrail
