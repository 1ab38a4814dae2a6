// What the answers of completions and chat have in common. Pure; the texts are JSON in OpenAI's shapes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/inference/text/finish.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference {

struct AnswerHead {
  std::string_view id;       // "cmpl-…", "chatcmpl-…": one for all chunks
  std::int64_t created = 0;  // seconds since 1970
  std::string_view model;    // the name that the request asked for
};

struct Usage {
  std::uint64_t prompt_tokens = 0;
  std::uint64_t completion_tokens = 0;              // of all choices; end tokens count
  std::optional<std::uint64_t> cached_tokens = {};  // of the prompt
};

/// What follows `choices` in a chunk: nothing; "usage":null, where the client asked for usage; or the figures.
struct ChunkUsage {
  bool asked = false;
  std::optional<Usage> figures = {};
};

inline constexpr std::string_view done_event = "data: [DONE]\n\n";
/// A chunk as a server-sent event; `json` has no line breaks.
std::string event(std::string_view json);

// Parts of answers.
void write_head(json::Writer& w, const AnswerHead& head, std::string_view object);
void write_usage(json::Writer& w, const Usage& usage);
void write_usage(json::Writer& w, const ChunkUsage& usage);
/// "finish_reason" and vLLM's "stop_reason"; null while the sequence goes on.
void write_finish(json::Writer& w, const std::optional<Finish>& finish);
/// The shortest decimal that gives the same float32 again; 0 for what is no finite number.
void write_float(json::Writer& w, float value);
/// -9999 at least, also for minus infinity, as vLLM writes it.
void write_log_prob(json::Writer& w, float value);

}  // namespace stackgate::inference
