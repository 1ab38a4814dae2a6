#include "services/model/directory/config.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/findings/json_report.hpp"
#include "services/model/directory/token_ids.hpp"

namespace stackgate::model {
namespace {

using validate::JsonPlace;
using validate::JsonReport;

struct FamilyFacts {
  std::string_view model_type, architecture;
  std::uint32_t context;  // when max_position_embeddings is absent, as transformers has it
};
constexpr std::array<FamilyFacts, 3> families{{
    {"llama", "LlamaForCausalLM", 2048},
    {"mistral", "MistralForCausalLM", 131'072},
    {"qwen2", "Qwen2ForCausalLM", 32'768},
}};
constexpr std::array<std::string_view, 3> model_types{families[0].model_type, families[1].model_type,
                                                      families[2].model_type};
constexpr std::array<std::string_view, 3> rope_types{"default", "linear", "llama3"};

constexpr std::uint32_t most_width = 65'536, most_intermediate = 1U << 20U, most_layers = 512, most_heads = 4096,
                        most_vocabulary = most_token_ids, most_context = 1U << 24U, default_window = 4096;

struct SizeField {
  std::string_view key;
  std::uint32_t Config::* member;
  std::uint32_t most;
};
constexpr std::array<SizeField, 5> sizes{{
    {"hidden_size", &Config::hidden, most_width},
    {"intermediate_size", &Config::intermediate, most_intermediate},
    {"num_hidden_layers", &Config::layers, most_layers},
    {"num_attention_heads", &Config::heads, most_heads},
    {"vocab_size", &Config::vocabulary, most_vocabulary},
}};

class ConfigReader {
 public:
  ConfigReader(const json::Value& root, JsonReport& report, Config& out) : top_{{}, root}, out_(out), report_(report) {}

  void read() {
    if (!family()) return;  // of another family nothing else can be judged
    for (const SizeField& each : sizes)
      out_.*each.member = report_.needed_number(top_, each.key, 1, each.most).value_or(0);
    out_.norm_epsilon = report_.positive(top_, "rms_norm_eps", out_.norm_epsilon);
    out_.tied_head = report_.flag(top_, "tie_word_embeddings", false);
    if (!report_.failed()) heads();
    biases();
    rope();
    context();
    out_.end_ids = read_token_ids(report_, top_, "eos_token_id");
    refuse();
  }

 private:
  const FamilyFacts& facts() const { return families[static_cast<std::size_t>(out_.family)]; }

  bool family() {
    const json::Value* type = JsonReport::present(top_, "model_type");
    if (type == nullptr) return report_.missing(top_, "model_type"), false;
    if (!type->is_string()) return report_.wrong_type(top_.member("model_type", *type), "a text"), false;
    const auto* found = std::ranges::find(families, type->string(), &FamilyFacts::model_type);
    if (found == families.end())
      return report_.not_served(top_.member("model_type", *type), "architecture", type->string(), model_types), false;
    out_.family = static_cast<Family>(found - families.begin());
    const json::Value* list = JsonReport::present(top_, "architectures");
    if (list == nullptr) return true;
    for (std::size_t i = 0; i < list->items().size(); ++i)
      if (const json::Value& each = list->items()[i]; each.string() != found->architecture)
        report_.wrong("config-not-served", top_.item("architectures", i, each),
                      fmt::format("is no {}: only the model that generates text is served", found->architecture),
                      fmt::format("take a checkpoint of {}", found->architecture));
    return true;
  }

  void heads() {
    out_.key_value_heads = report_.number(top_, "num_key_value_heads", 1, most_heads, out_.heads);
    if (out_.heads % out_.key_value_heads != 0)
      report_.wrong("config-heads", top_.member("num_key_value_heads", *top_.value.find("num_key_value_heads")),
                    fmt::format("num_attention_heads, {}, is no multiple of it", out_.heads),
                    "write a divisor of num_attention_heads");
    const bool even = out_.hidden % out_.heads == 0;
    if (!even && JsonReport::present(top_, "head_dim") == nullptr)
      return report_.wrong("config-heads", top_.member("hidden_size", *top_.value.find("hidden_size")),
                           fmt::format("is no multiple of num_attention_heads, {}", out_.heads), "write \"head_dim\"");
    out_.head_width = report_.number(top_, "head_dim", 2, most_width, out_.hidden / out_.heads);
    if (out_.head_width % 2 != 0)
      report_.wrong("config-heads", top_, fmt::format("its heads are {} wide: positions need pairs", out_.head_width),
                    "write an even \"head_dim\"");
  }

  void biases() {
    const bool attention = report_.flag(top_, "attention_bias", false);
    out_.query_key_value_bias = out_.family == Family::qwen2 || (out_.family == Family::llama && attention);
    out_.output_bias = out_.family == Family::llama && attention;
    out_.mlp_bias = report_.flag(top_, "mlp_bias", false) && out_.family == Family::llama;
  }

  /// Newer files have all of it in "rope_parameters".
  void rope() {
    out_.rope.theta = report_.positive(top_, "rope_theta", out_.rope.theta);
    for (const std::string_view key : {"rope_scaling", "rope_parameters"})
      if (const json::Value* found = JsonReport::present(top_, key)) rope_scaling(top_.member(key, *found));
  }

  void rope_scaling(const JsonPlace& at) {
    if (!at.value.is_object()) return report_.wrong_type(at, "an object");
    out_.rope.theta = report_.positive(at, "rope_theta", out_.rope.theta);
    const std::string_view key = at.value.find("rope_type") != nullptr ? "rope_type" : "type";
    const std::string type = report_.text(at, key, "default");
    const auto* found = std::ranges::find(rope_types, type);
    if (found == rope_types.end()) return report_.not_served(at, "scaling of positions", type, rope_types);
    out_.rope.kind = static_cast<Rope::Kind>(found - rope_types.begin());
    if (out_.rope.kind == Rope::Kind::plain) return;
    if (JsonReport::present(at, "factor") == nullptr) report_.missing(at, "factor");
    out_.rope.factor = report_.positive(at, "factor", 1);
    if (out_.rope.kind == Rope::Kind::linear) return;
    for (const std::string_view needed : {"low_freq_factor", "high_freq_factor"})
      if (JsonReport::present(at, needed) == nullptr) report_.missing(at, needed);
    out_.rope.low_frequency_factor = report_.positive(at, "low_freq_factor", 1);
    out_.rope.high_frequency_factor = report_.positive(at, "high_freq_factor", 4);
    if (out_.rope.high_frequency_factor <= out_.rope.low_frequency_factor)
      report_.wrong("config-rope", at, "its high_freq_factor is not above its low_freq_factor",
                    "write the published values: 1 and 4");
    out_.rope.original_context =
        report_.needed_number(at, "original_max_position_embeddings", 1, most_context).value_or(1);
  }

  void context() {
    out_.context = report_.number(top_, "max_position_embeddings", 1, most_context, facts().context);
    if (out_.family == Family::llama) return;
    if (out_.family == Family::qwen2 && !report_.flag(top_, "use_sliding_window", false)) return;
    const json::Value* window = top_.value.find("sliding_window");
    if (window != nullptr && window->is_null()) return;
    const std::uint32_t positions = report_.number(top_, "sliding_window", 1, most_context, default_window);
    if (positions >= out_.context) return;
    report_.wrong("config-window", top_,
                  fmt::format("the sliding window of {} positions is shorter than the context of {}: the context is "
                              "limited to the window",
                              positions, out_.context),
                  "ask for no more positions", validate::Severity::warning);
    out_.context = positions;
  }

  void refuse() {
    if (const std::string act = report_.text(top_, "hidden_act", "silu"); act != "silu")
      report_.wrong("config-not-served", top_.member("hidden_act", *top_.value.find("hidden_act")),
                    fmt::format("the activation \"{}\" is not served", act), "use a model with silu");
    if (const json::Value* found = JsonReport::present(top_, "quantization_config"))
      report_.wrong("config-not-served", top_.member("quantization_config", *found),
                    "quantized weights are not supported", "take the model's own weights, or use upstream mode");
    if (const json::Value* found = JsonReport::present(top_, "partial_rotary_factor");
        found != nullptr && found->number() != 1)
      report_.wrong("config-not-served", top_.member("partial_rotary_factor", *found),
                    "positions in a part of each head are not served", "use a model without it");
  }

  const JsonPlace top_;
  Config& out_;
  JsonReport& report_;
};

}  // namespace

std::string_view to_string(Family family) { return families[static_cast<std::size_t>(family)].model_type; }

ConfigRead read_config(std::string_view json) {
  ConfigRead read;
  JsonReport report(read.findings, "config.json", {"config-type", "config-missing", "config-not-served"});
  json::Document document;
  if (const auto root = report.parse("config-json", json, document, {.max_depth = 64, .max_bytes = largest_config}))
    ConfigReader(*root, report, read.config).read();
  return read;
}

}  // namespace stackgate::model
