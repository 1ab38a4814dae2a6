#include "services/inference/api/completion_answer.hpp"

namespace stackgate::inference {
namespace {

void write_top(json::Writer& w, const PositionLogProbs& each) {
  if (!each.log_prob) return w.value(nullptr);
  w.object([&] {
    for (const NamedLogProb& one : each.top) {
      w.key(one.token);
      write_log_prob(w, one.log_prob);
    }
  });
}

void write_log_probs(json::Writer& w, const std::vector<PositionLogProbs>& positions) {
  const auto list = [&](std::string_view name, auto&& write) {
    w.array(name, [&] {
      for (const PositionLogProbs& each : positions) write(each);
    });
  };
  w.object("logprobs", [&] {
    list("text_offset", [&w](const PositionLogProbs& each) { w.value(each.text_offset); });
    list("token_logprobs", [&w](const PositionLogProbs& each) {
      if (each.log_prob)
        write_log_prob(w, *each.log_prob);
      else
        w.value(nullptr);
    });
    list("tokens", [&w](const PositionLogProbs& each) { w.value(each.token); });
    list("top_logprobs", [&w](const PositionLogProbs& each) { write_top(w, each); });
  });
}

void write_choices(json::Writer& w, std::span<const CompletionChoice> choices) {
  w.array("choices", [&] {
    for (const CompletionChoice& each : choices)
      w.object([&] {
        w.member("index", each.index);
        w.member("text", each.text);
        if (each.log_probs)
          write_log_probs(w, *each.log_probs);
        else
          w.member("logprobs", nullptr);
        write_finish(w, each.finish);
      });
  });
}

}  // namespace

std::string completion_answer(const AnswerHead& head, std::span<const CompletionChoice> choices, const Usage& usage) {
  return json::object_text([&](json::Writer& w) {
    write_head(w, head, "text_completion");
    write_choices(w, choices);
    write_usage(w, usage);
  });
}

std::string completion_chunk(const AnswerHead& head, std::span<const CompletionChoice> choices,
                             const ChunkUsage& usage) {
  return event(json::object_text([&](json::Writer& w) {
    write_head(w, head, "text_completion");
    write_choices(w, choices);
    write_usage(w, usage);
  }));
}

}  // namespace stackgate::inference
