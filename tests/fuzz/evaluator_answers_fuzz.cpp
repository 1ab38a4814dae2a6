// What a model's endpoint answers: texts, calls, log-probabilities, models and errors are read or refused; what was
// read is stored and reads as the same; a sum of log-probabilities is one, and a key is in no failure. The first byte
// says which.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/evaluator/endpoint/protocol/answer.hpp"
#include "services/evaluator/engine/asking.hpp"
#include "services/kit/json/parse.hpp"

using namespace stackgate;
using namespace stackgate::evaluator;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void read_one(const Question& question, std::string_view body) {
  const auto answer = read_answer(question, body);
  if (!answer) {
    require(!answer.error().empty());
    return;
  }
  require(answer->likelihood.has_value() == question.likelihood);
  if (answer->likelihood) require(std::isfinite(answer->likelihood->sum) && answer->likelihood->tokens > 0);
  json::Document calls;
  require(answer->tool_calls.empty() || json::parse(answer->tool_calls, calls));
  const std::string stored = stored_answer(*answer);
  const auto again = read_stored_answer(stored);
  require(again && stored_answer(*again) == stored);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      read_one({.prompt = "x"}, text);
      break;
    case 1:
      read_one({.messages = {{.role = "user", .content = "x"}}}, text);
      break;
    case 2:
      read_one(likelihood_probe(), text);
      read_one({.prompt = "The capital of France is Paris.", .likelihood = true}, text);
      break;
    case 3:
      if (const auto models = read_models(text)) require(models->size() <= 10'000);
      break;
    default: {
      constexpr std::string_view key = "sk-12345";
      const std::string words = read_error(text, key);
      require(words.size() <= 300 && !words.contains(key) && !words.contains('\n'));
    }
  }
  return 0;
}
