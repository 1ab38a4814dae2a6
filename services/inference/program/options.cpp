#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "services/inference/program/program.hpp"
#include "services/kit/run/startup.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/table.hpp"
#include "services/model/directory/memory.hpp"

namespace stackgate::inference {
namespace options_detail {

constexpr std::size_t page_tokens = 16;

void append_own(std::vector<settings::Setting>& out) {
  using namespace settings::table;
  append(
      out, "Model",
      {text("model", "the model's directory, as Hugging Face and stackgate-puller write it"),
       text("served-model-name", "what requests call it; the directory's name without it"),
       text("chat-template", "a file to use instead of the model's own template"),
       integer("max-model-len", "tokens of prompt and answer together; 0: as many as the model was made for", "0", 0,
               UINT32_MAX),
       choice("dtype", {"auto", "float32", "bfloat16", "float16"},
              "of products, keys and values; auto: float32 on a CPU, which reads weights of every type as they lie in "
              "the files; on a GPU the weights' own type",
              "auto"),
       choice("device", {"auto", "cpu", "cuda"}, "what computes; auto: a GPU where libtorch finds one", "auto"),
       by_variable("INF_CACHE_PATH", text("cache-path", "where the operator mounts the model; --model without it")),
       text("engine-library", "libstackgate-engine.so; beside this program without it")});
  append(out, "Adapters",
         {by_variable("INF_PEFT_SOURCE", text("peft-source",
                                              "an entitystore's URL, or a directory with a folder for "
                                              "each adapter; none without it")),
          by_variable(
              "INF_PEFT_REFRESH_INTERVAL",
              integer("peft-refresh-interval",
                      "seconds between two looks at it; without it 30, and a directory is read once", {}, 1, 86'400)),
          by_variable("INF_MAX_GPU_LORAS", integer("max-gpu-loras", "different adapters in a step", "8", 1, 4096)),
          by_variable("INF_MAX_CPU_LORAS",
                      integer("max-cpu-loras", "adapters in memory, at least as many; others wait on the disk", "16", 1,
                              65536)),
          integer("max-lora-rank", "the highest rank that is loaded", "64", 1, 1024),
          flag("allow-runtime-lora", "serve /v1/load_lora_adapter and /v1/unload_lora_adapter", "false"),
          directory("adapter-dir", "what those may load from")});
  append(out, "Refused: what this server does not do",
         {by_variable("INF_MODEL_PROFILE", text("model-profile", "a profile of other engines: nimCache.profile")),
          by_variable("INF_TENSOR_PARALLELISM",
                      integer("tensor-parallelism", "one model over several devices: 1, or not given", "1", 1)),
          by_variable("INF_PIPELINE_PARALLELISM",
                      integer("pipeline-parallelism", "one model over several nodes: 1, or not given", "1", 1))});
  append(out, "Upstream",
         {{.name = "upstream-url",
           .kind = settings::Kind::list,
           .help = "engines to stand in front of, instead of --model: http://vllm:8000/v1, several for replicas"},
          choice("upstream-kind", {"auto", "vllm", "sglang", "llama-server", "openai"}, "what they are; auto: asked",
                 "auto"),
          text("upstream-api-key-file", "a file with the key that they want"),
          text("upstream-adapter-dir", "where they see <data-dir>/adapters; without it at the same place")});
  append(out, "Engine",
         {size("kv-cache", "memory for keys and values", "1Gi", 1 << 20),
          integer("max-sequences", "sequences in a step", "64", 1, 4096),
          integer("max-batch-tokens", "tokens in a step; long prompts are computed in pieces of it", "512", 16, 65536),
          integer("max-queue", "requests that wait for the model; beyond it: 429", "256", 1, 1'000'000),
          integer("engine-threads", "0: as --threads, or one for each core", "0", 0, 1024),
          duration("request-timeout", "for one answer, its waiting included", "10m", 1, 86'400),
          choice("pooling", {"mean", "last"}, "which tokens' states make an embedding", "mean"),
          flag("no-embeddings", "do not serve /v1/embeddings", "false")});
}

/// A text that need not end in a file's way.
std::expected<std::string, Error> text_of_file(const std::string& path) {
  if (auto text = run::small_file(path)) return std::move(*text);
  return std::unexpected(Error{fmt::format("cannot read {}", path)});
}

}  // namespace options_detail

settings::Program program() {
  settings::Program out{.name = "stackgate-inference",
                        .summary = "Answers OpenAI's API with a model of its own",
                        .commands = {{"serve", "answer requests; the default"},
                                     {"check",
                                      "DIR: what would keep this model from being served, and how much memory it takes",
                                      true,
                                      {"Model", "kv-cache", "max-sequences"}}},
                        .settings = service::common_settings(),
                        .examples =
                            "  stackgate-inference --model /models/llama --listen 127.0.0.1:8000\n"
                            "  stackgate-inference check /models/llama\n"
                            "  curl http://127.0.0.1:8000/v1/chat/completions -H 'Content-Type: application/json' -d "
                            "'{\"model\":\"llama\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}'"};
  options_detail::append_own(out.settings);
  return out;
}

std::string model_directory(const settings::Values& values) {
  return values.text("model").empty() ? values.text("cache-path") : values.text("model");
}

validate::Findings check_options(const settings::Values& values) {
  validate::Findings out;
  if (values.command() == "check") return out;
  const bool is_upstream = values.has("upstream-url");
  if (model_directory(values).empty() && !is_upstream)
    out.push_back(settings::fault("--model", "is missing", "name the model's directory, or engines by --upstream-url"));
  for (const std::string& url : values.list("upstream-url"))
    if (!url.starts_with("http://") && !url.starts_with("https://"))
      out.push_back(settings::fault("--upstream-url", "is no http or https URL", "write http://host:8000/v1", url));
  if (!values.text("model").empty() && is_upstream)
    out.push_back(settings::fault("--upstream-url", "and --model exclude each other", "leave out one of them"));
  if (values.integer("max-cpu-loras") < values.integer("max-gpu-loras"))
    out.push_back(settings::fault(
        "--max-cpu-loras (INF_MAX_CPU_LORAS)",
        fmt::format("is less than --max-gpu-loras (INF_MAX_GPU_LORAS), {}", values.integer("max-gpu-loras")),
        "what computes has its adapters from memory: give at least as many",
        std::to_string(values.integer("max-cpu-loras"))));
  if (values.text("device") == "cpu" && values.text("dtype") == "float16")
    out.push_back(settings::fault("--dtype", "is a type that a CPU does not compute in",
                                  "leave it out: float32 reads weights of every type", "float16"));
  for (const std::string_view name : {"tensor-parallelism", "pipeline-parallelism"})
    if (values.integer(name) > 1)
      out.push_back(settings::fault(
          fmt::format("--{}", name), "is more than 1, and this server computes on one machine",
          "take multiNode out of the InferenceService, or another image", std::to_string(values.integer(name))));
  if (!values.text("model-profile").empty())
    out.push_back(settings::fault("--model-profile (INF_MODEL_PROFILE)",
                                  "is given, and this server knows no profiles: it serves the directory as it is",
                                  "leave out storage.nimCache.profile", values.text("model-profile")));
  if (values.flag("allow-runtime-lora") && values.text("adapter-dir").empty())
    out.push_back(settings::fault("--adapter-dir", "is needed beside --allow-runtime-lora",
                                  "name the directory that adapters may be loaded from"));
  return out;
}

std::expected<BaseModelOptions, Error> model_options(const settings::Values& values) {
  BaseModelOptions out{.directory = model_directory(values),
                       .name = values.text("served-model-name"),
                       .chat_template = {},
                       .context = static_cast<std::uint32_t>(values.integer("max-model-len"))};
  if (const std::string& file = values.text("chat-template"); !file.empty()) {
    auto text = options_detail::text_of_file(file);
    if (!text) return std::unexpected(Error{"--chat-template: " + text.error().message});
    out.chat_template = std::move(*text);
  }
  return out;
}

std::optional<model::Device> asked_device(const settings::Values& values) {
  const std::string& name = values.text("device");
  for (const model::Device each : {model::Device::cpu, model::Device::cuda})
    if (name == model::to_string(each)) return each;
  return std::nullopt;
}

std::expected<model::Placement, Error> placement_on(model::Device device, const settings::Values& values,
                                                    const BaseModel& model) {
  auto out = model::placement(device, model::arithmetic_of(values.text("dtype")), model.directory);
  if (!out) return std::unexpected(Error{"--dtype: " + out.error()});
  return *out;
}

EngineOptions engine_options(const settings::Values& values, const BaseModel& model,
                             const model::Placement& placement) {
  const std::uint64_t page =
      model::memory_needed(model.directory, placement.dtype).cache_per_token * options_detail::page_tokens;
  EngineOptions out;
  out.limits.page_tokens = options_detail::page_tokens;
  out.limits.schedule.sequences = static_cast<std::size_t>(values.integer("max-sequences"));
  // No more than all sequences of a step can fill.
  const std::uint64_t useful = out.limits.schedule.sequences * (model.limits.context / options_detail::page_tokens + 1);
  out.limits.pages =
      std::clamp<std::uint64_t>(static_cast<std::uint64_t>(values.integer("kv-cache")) / page, 1, useful);
  out.limits.schedule.step_tokens =
      static_cast<std::size_t>(std::max(values.integer("max-batch-tokens"), values.integer("max-sequences")));
  out.limits.schedule.waiting = out.limits.schedule.sequences;
  out.limits.schedule.adapters = static_cast<std::size_t>(values.integer("max-gpu-loras"));
  out.max_queue = static_cast<std::size_t>(values.integer("max-queue"));
  return out;
}

unsigned engine_threads(const settings::Values& values) {
  for (const std::string_view name : {"engine-threads", "threads"})
    if (const auto asked = values.integer(name); asked > 0) return static_cast<unsigned>(asked);
  return std::max(std::thread::hardware_concurrency(), 1U);
}

MemoryPlan memory_plan(const EngineOptions& options, const BaseModel& model, const model::Placement& placement) {
  const model::MemoryNeeded needed = model::memory_needed(model.directory, placement.dtype);
  const std::uint64_t tokens = options.limits.pages * options.limits.page_tokens;
  return {.weights = needed.all_weights(),
          .copied = model::copied_weights(model.directory, placement),
          .cache = tokens * needed.cache_per_token,
          .cache_per_token = needed.cache_per_token,
          .cache_tokens = tokens};
}

std::string to_text(const validate::Findings& findings) {
  std::string out;
  for (const validate::Finding& each : findings)
    out += fmt::format("  {}{}: {}\n", each.severity == validate::Severity::warning ? "warning: " : "", each.path,
                       validate::to_line(each));
  return out;
}

std::string to_line(const validate::Findings& findings) {
  std::string out;
  for (const validate::Finding& each : findings)
    if (each.severity == validate::Severity::error)
      out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", each.path, validate::to_line(each));
  return out;
}

}  // namespace stackgate::inference
