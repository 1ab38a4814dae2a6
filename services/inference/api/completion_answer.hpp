// Answers of /v1/completions. Source: OpenAI API reference, "The completion object". Pure.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/inference/api/answer.hpp"
#include "services/inference/text/named_log_probs.hpp"

namespace stackgate::inference {

/// A choice of an answer, or what a chunk adds to one.
struct CompletionChoice {
  std::uint32_t index = 0;
  std::string_view text;
  std::optional<Finish> finish = {};
  std::optional<std::vector<PositionLogProbs>> log_probs = {};  // when the request asked for them
};

std::string completion_answer(const AnswerHead& head, std::span<const CompletionChoice> choices, const Usage& usage);
/// One event. Without choices it is the one that holds usage.
std::string completion_chunk(const AnswerHead& head, std::span<const CompletionChoice> choices,
                             const ChunkUsage& usage);

}  // namespace stackgate::inference
