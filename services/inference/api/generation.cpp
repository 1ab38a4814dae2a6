#include "services/inference/api/generation.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "services/kit/base/number.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::inference {
namespace {

using validate::JsonPlace;

struct Refused {
  std::string_view key, fix;
  std::optional<double> neutral{};  // asks for nothing
};
/// Parameters of OpenAI, vLLM and llama.cpp that would change the answer, and are not served.
constexpr std::array<Refused, 29> refused{{
    {"suffix", "leave it out: text is only continued"},
    {"functions", "use \"tools\""},
    {"function_call", "use \"tool_choice\""},
    {"audio", "leave it out: answers are text"},
    {"web_search_options", "leave it out"},
    {"guided_json", "use \"response_format\""},
    {"guided_regex", "use \"response_format\" with a schema"},
    {"guided_choice", "use \"response_format\" with an enum"},
    {"guided_grammar", "use \"response_format\""},
    {"structured_outputs", "use \"response_format\""},
    {"structural_tag", "use \"tools\""},
    {"logits_processors", "use \"logit_bias\""},
    {"use_beam_search", "use \"best_of\""},
    {"prompt_logprobs", "use \"echo\" with \"logprobs\" at /v1/completions"},
    {"truncate_prompt_tokens", "send a shorter prompt"},
    {"bad_words", "use \"logit_bias\""},
    {"allowed_token_ids", "use \"logit_bias\""},
    {"prompt_embeds", "send \"prompt\""},
    {"dimensions", "leave it out: the model has one width"},
    {"typical_p", "use \"top_p\" or \"min_p\"", 1},
    {"tfs_z", "use \"top_p\" or \"min_p\"", 1},
    {"top_a", "use \"top_p\" or \"min_p\"", 0},
    {"mirostat", "use \"top_p\" or \"min_p\"", 0},
    {"length_penalty", "leave it out: there is no beam search", 1},
    {"truncation_side", "send a shorter prompt"},
    {"return_token_ids", "use \"logprobs\", or /tokenize on the text"},
    {"return_tokens_as_token_ids", "use \"logprobs\", which have the tokens' bytes in chats"},
    {"kv_transfer_params", "leave it out: keys and values stay in this server"},
    {"vllm_xargs", "leave it out"},
}};

void refuse(Fields& fields) {
  for (const Refused& each : refused)
    if (fields.asks(each.key) && fields.place(each.key).value.number() != each.neutral)
      fields.not_served(fields.place(each.key), "is not served", std::string(each.fix));
  if (const json::Value* found = fields.find("modalities"))
    for (const json::Value& each : found->items())
      if (each.string() != "text")
        fields.not_served(fields.place("modalities"), "asks for more than text", "leave it out: answers are text");
}

void read_bias(Fields& fields, const ApiLimits& limits, SamplingParameters& out) {
  const json::Value* found = fields.find("logit_bias");
  if (found == nullptr) return;
  const JsonPlace at = fields.place("logit_bias");
  if (!found->is_object()) return fields.wrong_type(at, "an object of token id and number");
  for (const json::Member& each : found->members()) {
    const JsonPlace place = at.member(each.key, each.value);
    const auto id = to_number<std::uint32_t>(each.key);
    if (!id || *id >= limits.vocabulary)
      fields.wrong(place, "is named by no token id", fmt::format("write an id from 0 to {}", limits.vocabulary - 1));
    else if (!each.value.is_number() || std::abs(each.value.number()) > 100)
      fields.wrong_type(place, "a number from -100 to 100");
    else
      out.logit_bias.emplace_back(*id, static_cast<float>(each.value.number()));
  }
}

void read_sampling(Fields& fields, const ApiLimits& limits, SamplingParameters& out) {
  constexpr double smallest_top_p = 1e-30, largest_penalty = 1000;
  out = limits.defaults;
  fields.real("temperature", 0, 2, out.temperature);
  fields.real("top_p", smallest_top_p, 1, out.top_p);
  fields.real("min_p", 0, 1, out.min_p);
  fields.real("repetition_penalty", smallest_top_p, largest_penalty, out.repetition_penalty);
  fields.real("frequency_penalty", -2, 2, out.frequency_penalty);
  fields.real("presence_penalty", -2, 2, out.presence_penalty);
  if (const json::Value* found = fields.find("top_k")) {
    if (!found->is_integer() || found->integer() < -1 || found->integer() > INT32_MAX)
      fields.wrong_type(fields.place("top_k"), "a whole number: -1 or 0 for all, or how many of the best");
    else
      out.top_k = static_cast<std::uint32_t>(std::max<std::int64_t>(found->integer(), 0));
  }
  read_bias(fields, limits, out);
}

void add_stop(Fields& fields, const JsonPlace& at, std::vector<std::string>& out) {
  if (!at.value.is_string() || at.value.string().empty() || at.value.string().size() > longest_stop)
    fields.wrong_type(at, fmt::format("a text of 1 to {} bytes", longest_stop));
  else
    out.emplace_back(at.value.string());
}

void read_stops(Fields& fields, TextOptions& out) {
  const json::Value* found = fields.find("stop");
  if (found == nullptr) return;
  const JsonPlace at = fields.place("stop");
  if (!found->is_array()) {
    if (!found->string().empty() || !found->is_string()) add_stop(fields, at, out.stop);
    return;
  }
  if (found->items().size() > most_stops)
    return fields.wrong(at, fmt::format("has {} texts", found->items().size()),
                        fmt::format("send at most {}", most_stops));
  for (std::size_t i = 0; i < found->items().size(); ++i)
    add_stop(fields, {fmt::format("stop[{}]", i), found->items()[i]}, out.stop);
}

void read_text(Fields& fields, const ApiLimits& limits, Generation& out) {
  constexpr std::size_t most_stop_ids = 1024;
  read_stops(fields, out.text);
  if (fields.has("stop_token_ids"))
    out.text.stop_token_ids = fields.ids(fields.place("stop_token_ids"), limits.vocabulary, most_stop_ids);
  out.text.include_stop = fields.flag("include_stop_str_in_output");
  out.text.ignore_eos = fields.flag("ignore_eos");
  out.text.skip_special_tokens = fields.flag("skip_special_tokens", true);
  out.text.min_tokens = fields.whole("min_tokens", 0, limits.context).value_or(0);
  out.sampling.min_tokens = out.text.min_tokens;
}

void read_seed(Fields& fields, Generation& out) {
  constexpr double beyond = 18446744073709551616.0;  // 2⁶⁴
  const json::Value* found = fields.find("seed");
  if (found == nullptr) return;
  const double number = found->number();
  if (found->is_integer())
    out.seed = static_cast<std::uint64_t>(found->integer());
  else if (found->is_number() && number >= 0 && number <= beyond && number == std::floor(number))
    out.seed =
        number == beyond ? UINT64_MAX : static_cast<std::uint64_t>(number);  // above 2⁶³: rounded, but always alike
  else
    fields.wrong_type(fields.place("seed"), "a whole number of 64 bits");
}

void read_choices(Fields& fields, Generation& out) {
  out.n = fields.whole("n", 1, most_choices).value_or(1);
  const auto best_of = fields.whole("best_of", 1, most_best_of);
  out.best_of = best_of.value_or(out.n);
  if (out.best_of < out.n)
    fields.wrong("best_of", fmt::format("is less than \"n\", {}", out.n), "write at least as much as \"n\"");
  if (out.stream && best_of && *best_of > out.n)
    fields.wrong("best_of", "cannot be chosen from while a stream is sent", "leave out \"stream\", or \"best_of\"");
}

void read_stream(Fields& fields, Generation& out) {
  out.stream = fields.flag("stream");
  const json::Value* options = fields.find("stream_options");
  if (options == nullptr) return;
  const JsonPlace at = fields.place("stream_options");
  if (!options->is_object()) return fields.wrong_type(at, "an object");
  if (!out.stream) return fields.wrong(at, "is given without a stream", "write \"stream\": true");
  if (const json::Value* each = options->find("continuous_usage_stats"); each != nullptr && each->boolean())
    fields.not_served(at.member("continuous_usage_stats", *each), "is not served", "use \"include_usage\"");
  const json::Value* usage = options->find("include_usage");
  if (usage == nullptr || usage->is_null()) return;
  if (!usage->is_boolean()) return fields.wrong_type(at.member("include_usage", *usage), "true or false");
  out.include_usage = usage->boolean();
}

void read_format(Fields& fields, ResponseFormat& out) {
  const json::Value* found = fields.find("response_format");
  if (found == nullptr) return;
  const JsonPlace at = fields.place("response_format");
  if (!found->is_object()) return fields.wrong_type(at, "an object with \"type\"");
  const std::string_view type = json::text(found, {"type"});
  if (type == "text") return;
  if (type == "json_object") {
    out.kind = ResponseFormat::Kind::json_object;
    return;
  }
  if (type != "json_schema")
    return fields.wrong_type(at.member("type", json::value_at(found, {"type"})),
                             "\"text\", \"json_object\" or \"json_schema\"");
  const json::Value* schema = json::at(found, {"json_schema", "schema"});
  if (schema == nullptr || !schema->is_object())
    return fields.wrong_type(at.member("json_schema.schema", json::value_at(schema, {})), "a JSON Schema");
  out = {ResponseFormat::Kind::json_schema, std::string(json::text(found, {"json_schema", "name"})),
         json::to_json(*schema)};
  if (out.schema.size() > largest_schema)
    fields.wrong(at.member("json_schema.schema", *schema), "is too large",
                 fmt::format("write at most {} bytes", largest_schema));
}

std::string read_salt(Fields& fields) {
  const json::Value* found = fields.find("cache_salt");
  if (found == nullptr) return {};
  if (found->string().empty() || found->string().size() > longest_salt)
    fields.wrong_type(fields.place("cache_salt"), fmt::format("a text of 1 to {} bytes", longest_salt));
  return std::string(found->string());
}

}  // namespace

Generation read_generation(Fields& fields, const ApiLimits& limits) {
  Generation out;
  out.model = fields.needed_text("model");
  out.peft_name = fields.text("peft_name");
  read_stream(fields, out);
  read_choices(fields, out);
  read_seed(fields, out);
  read_sampling(fields, limits, out.sampling);
  read_text(fields, limits, out);
  read_format(fields, out.format);
  out.cache_salt = read_salt(fields);
  refuse(fields);
  return out;
}

}  // namespace stackgate::inference
