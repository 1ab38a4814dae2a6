// Any JSON as each of the inference server's bodies: what is read keeps the bounds that the engine relies on, what is
// refused says where, why and what to do.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/inference/api/chat_request.hpp"
#include "services/inference/api/completion_request.hpp"
#include "services/inference/api/failures.hpp"
#include "services/inference/api/other_requests.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/web/errors.hpp"

using namespace stackgate;
using namespace stackgate::inference;

namespace {

constexpr ApiLimits limits{.context = 1000, .vocabulary = 300};

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const std::vector<TokenId>& ids) {
  for (const TokenId id : ids) require(id < limits.vocabulary);
}

void check(const Generation& g) {
  const SamplingParameters& s = g.sampling;
  require(!g.model.empty() && g.n >= 1 && g.n <= most_choices && g.best_of >= g.n);
  require(!g.max_tokens || *g.max_tokens <= limits.context);
  require(!g.log_probs || *g.log_probs <= most_log_probs);
  require(s.temperature >= 0 && s.temperature <= 2 && s.top_p > 0 && s.top_p <= 1 && s.min_p >= 0 && s.min_p <= 1);
  require(s.repetition_penalty > 0 && std::abs(s.frequency_penalty) <= 2 && std::abs(s.presence_penalty) <= 2);
  for (const auto& [id, bias] : s.logit_bias) require(id < limits.vocabulary && std::abs(bias) <= 100);
  require(g.text.stop.size() <= most_stops);
  for (const std::string& stop : g.text.stop) require(!stop.empty() && stop.size() <= longest_stop);
  check(g.text.stop_token_ids);
  require(g.include_usage <= g.stream);
}

void check(const std::vector<Prompt>& prompts) {
  require(!prompts.empty() && prompts.size() <= most_prompts);
  for (const Prompt& each : prompts)
    if (const auto* ids = std::get_if<std::vector<TokenId>>(&each)) {
      require(!ids->empty());
      check(*ids);
    }
}

void check_json(std::string_view text) {
  json::Document document;
  require(text.empty() || json::parse(text, document).has_value());
}

/// Whether it was read.
template <class Request>
bool judged(const std::expected<Request, validate::Findings>& read) {
  if (read) return true;
  require(!read.error().empty() && read.error().size() <= 100);
  for (const validate::Finding& each : read.error()) require(!each.problem.empty() && !each.fix.empty());
  (void)web::render(bad_request(read.error()), web::Dialect::openai);
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) return 0;
  if (const auto read = read_completion(*root, limits); judged(read)) {
    check(read->generation);
    check(read->prompts);
  }
  if (const auto read = read_chat(*root, limits); judged(read)) {
    check(read->generation);
    require(read->chat.messages.starts_with("[{"));
    for (const std::string* each : {&read->chat.messages, &read->chat.tools, &read->chat.documents,
                                    &read->chat.arguments, &read->generation.format.schema})
      check_json(*each);
    for (const Tool& each : read->tools) check_json(each.parameters);
  }
  if (const auto read = read_embedding(*root, limits); judged(read)) check(read->inputs);
  if (const auto read = read_detokenize(*root, limits); judged(read)) check(read->tokens);
  judged(read_tokenize(*root, limits));
  if (const auto read = read_load_adapter(*root); judged(read)) require(!read->name.empty() && !read->path.empty());
  judged(read_unload_adapter(*root));
  return 0;
}
