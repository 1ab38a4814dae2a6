#include "services/trainer/program/options.hpp"

#include <array>

#include <fmt/format.h>

#include "services/kit/settings/table.hpp"
#include "services/kit/telemetry/options.hpp"

namespace stackgate::trainer {
namespace options_detail {

std::vector<settings::Setting> table() {
  using namespace settings;
  using namespace settings::table;
  std::vector<Setting> out;
  append(out, "Training",
         {text("model", "directory of the base model, as Hugging Face lays it out"),
          {.name = "train", .kind = Kind::list, .help = "files of JSON lines: prompt and completion, or messages"},
          {.name = "validation", .kind = Kind::list, .help = "such files, for the validation loss"},
          text("output", "directory that is made; beside it the same as a .tar.gz"),
          text("config", "JSON file of hyperparameters; their defaults without it"),
          flag("resume", "go on from the newest checkpoint, or begin where there is none"),
          text("chat-template", "file of a chat template instead of the model's own"),
          text("base-model-name", "what adapter_config.json calls the base model; its directory's name without it")});
  append(
      out, "Several processes",
      {by_variable("RANK", integer("rank", "of this process, from 0; rank 0 alone writes", "0", 0, 65'535)),
       by_variable("WORLD_SIZE", integer("processes", "that train one adapter together", "1", 1, 65'536)),
       by_variable("MASTER_ADDR", text("master-address", "host of rank 0, where they meet")),
       by_variable("MASTER_PORT", integer("master-port", "port of rank 0", "29500", 1, 65'535)),
       by_variable("NPROC_PER_NODE", integer("processes-per-node", "which share a machine's cores", "1", 1, 1024)),
       by_variable("GLOO_SOCKET_IFNAME", text("network-interface", "of this host; that of its name without it")),
       duration("peer-timeout", "until all are there, and until each has done its part of a step", "5m", 1, 86'400)});
  append(out, "Merging", {text("adapter", "PEFT directory that is merged into --model")});
  append(out, "Progress",
         {text("job-id", "stands in each line of progress"),
          url("progress-url", "where each line of progress is posted, too; several at once as an array"),
          secret("progress-token", "sent there as a bearer token"),
          text("ca-file", "certificates of authorities to trust, PEM")});
  append(out, "MLflow, of a run without --progress-url",
         {by_variable("MLFLOW_TRACKING_URI",
                      url("mlflow-url", "of a tracking server that records the run and keeps the adapter")),
          by_variable("MLFLOW_EXPERIMENT_NAME", text("mlflow-experiment", "made where it is not", "Default")),
          by_variable("MLFLOW_RUN_NAME", text("mlflow-run-name", "of the record; the job's id without it")),
          by_variable("MLFLOW_RUN_ID", text("mlflow-run-id", "of a record to go on with")),
          by_variable("MLFLOW_TRACKING_TOKEN", secret("mlflow-token", "sent as a bearer token")),
          by_variable("MLFLOW_TRACKING_USERNAME", text("mlflow-user", "with a password, where there is no token")),
          by_variable("MLFLOW_TRACKING_PASSWORD", secret("mlflow-password", "of that user"))});
  append(out, "Program",
         {text("learner-library", "libstackgate-learner.so; beside this program without it"),
          choice("device", {"auto", "cpu", "cuda"}, "what computes, in float32; auto: a GPU where libtorch finds one",
                 "auto"),
          choice("log-level", {"debug", "info", "warning", "error"}, "the least that is logged", "info"),
          choice("log-format", {"text", "json"}, "text on a terminal, json elsewhere")});
  append(out, {}, telemetry::telemetry_settings());
  append(out, "A tiny model",
         {{.name = "text", .kind = Kind::list, .help = "files of plain text that it learns"},
          integer("vocabulary", "tokens, at most", "1024", 260, 65'536),
          integer("hidden", "width of the residual stream", "128", 8, 4096),
          integer("layers", "layers", "2", 1, 64),
          integer("heads", "heads, half as many for keys", "4", 2, 64),
          integer("context", "positions", "512", 16, 65'536),
          integer("steps", "optimizer steps", "300", 1, 1'000'000),
          integer("seed", "of the first weights and of the order", "42", 0),
          integer("threads", "that compute; 0: as many as there are free cores", "0", 0, 1024)});
  return out;
}

struct Needed {
  std::string_view command, flag, cure;
};
constexpr std::array<Needed, 8> needed{{
    {"train", "model", "name the directory of a model"},
    {"train", "train", "name a file of JSON lines"},
    {"train", "output", "name a directory that is not there yet"},
    {"merge", "model", "name the directory of a model"},
    {"merge", "adapter", "name the directory of an adapter"},
    {"merge", "output", "name a directory that is not there yet"},
    {"make-tiny", "text", "name a file of plain text"},
    {"make-tiny", "output", "name a directory that is not there yet"},
}};

std::uint32_t whole(const settings::Values& values, std::string_view name) {
  return static_cast<std::uint32_t>(values.integer(name));
}

std::string output_of(const settings::Values& values) {
  std::string out = values.text("output");
  while (out.size() > 1 && out.ends_with('/')) out.pop_back();
  return out;
}

}  // namespace options_detail

settings::Program program() {
  return {
      .name = "stackgate-trainer",
      .summary = "trains LoRA adapters: a model's directory and JSON lines in, a PEFT directory out",
      .commands = {{.name = "train",
                    .help = "train an adapter",
                    .uses = {"Training", "Several processes", "Progress", "MLflow, of a run without --progress-url",
                             "Program", "Telemetry (OpenTelemetry over HTTP)"}},
                   {.name = "merge",
                    .help = "write an adapter's change into its base model's weights",
                    .uses = {"model", "Merging", "output", "log-level", "log-format"}},
                   {.name = "make-tiny",
                    .help = "make a small base model from a text, for tests and trials",
                    .uses = {"A tiny model", "output", "Progress", "Program"}}},
      .settings = options_detail::table(),
      .examples =
          "  stackgate-trainer --model llama --train train.jsonl --validation val.jsonl --output adapter --config "
          "c.json\n"
          "  stackgate-trainer merge --model llama --adapter adapter --output merged\n"
          "  stackgate-trainer make-tiny --text book.txt --output tiny\n"
          "Lines of training files: {\"prompt\": …, \"completion\": …} or {\"messages\": […], \"tools\": […]}.\n"
          "Exit codes: 0 the adapter is there; 1 training failed; 2 settings, model or data are wrong; 75 stopped by\n"
          "  a signal behind a checkpoint, or another process is lost: start it (all of them) again with --resume."};
}

validate::Findings faults_of(const settings::Values& values) {
  validate::Findings out;
  for (const auto& [command, flag, cure] : options_detail::needed)
    if (command == values.command() && !values.has(flag))
      out.push_back(settings::fault(fmt::format("--{}", flag), "is missing", std::string(cure)));
  if (values.command() != "train") return out;
  for (auto& finding : telemetry::check_telemetry(values)) out.push_back(std::move(finding));
  const std::int64_t rank = values.integer("rank"), processes = values.integer("processes");
  if (rank >= processes)
    out.push_back(settings::fault("--rank", fmt::format("is {}, and --processes is {}", rank, processes),
                                  "ranks are counted from 0: set RANK and WORLD_SIZE"));
  if (processes > 1 && !values.has("master-address"))
    out.push_back(settings::fault("--master-address", "is missing, and there are several processes",
                                  "set MASTER_ADDR to the host of rank 0"));
  return out;
}

OpenLearner on_device_of(const settings::Values& values, OpenLearner open) {
  std::optional<model::Device> device;
  for (const model::Device each : {model::Device::cpu, model::Device::cuda})
    if (values.text("device") == model::to_string(each)) device = each;
  return [device, open = std::move(open)](const model::ModelDirectory& model, const model::Weights& weights,
                                          LearnerSettings settings) {
    settings.device = device;
    return open(model, weights, settings);
  };
}

TrainSettings train_settings(const settings::Values& values) {
  TrainSettings out{
      .model = values.text("model"), .output = options_detail::output_of(values), .train = values.list("train")};
  out.chat_template = values.text("chat-template");
  out.base_model_name = values.text("base-model-name");
  out.validation = values.list("validation");
  out.resume = values.flag("resume");
  out.group = {.rank = options_detail::whole(values, "rank"),
               .size = options_detail::whole(values, "processes"),
               .address = values.text("master-address"),
               .port = static_cast<std::uint16_t>(values.integer("master-port")),
               .interface = values.text("network-interface"),
               .limit = std::chrono::milliseconds(values.integer("peer-timeout"))};
  out.processes_of_machine = options_detail::whole(values, "processes-per-node");
  return out;
}

std::optional<TrackingSettings> tracking_settings(const settings::Values& values) {
  if (!values.has("mlflow-url") || values.has("progress-url") || values.command() != "train") return std::nullopt;
  return TrackingSettings{.server = {.url = values.text("mlflow-url"),
                                     .token = values.text("mlflow-token"),
                                     .user = values.text("mlflow-user"),
                                     .password = values.text("mlflow-password"),
                                     .ca_file = values.text("ca-file")},
                          .experiment = values.text("mlflow-experiment"),
                          .run_name = values.text("mlflow-run-name"),
                          .run_id = values.text("mlflow-run-id")};
}

MergeSettings merge_settings(const settings::Values& values) {
  return {
      .model = values.text("model"), .adapter = values.text("adapter"), .output = options_detail::output_of(values)};
}

TinySettings tiny_settings(const settings::Values& values) {
  using options_detail::whole;
  TinySettings out{.texts = values.list("text"), .output = options_detail::output_of(values)};
  out.shape.hidden = whole(values, "hidden");
  out.shape.intermediate = out.shape.hidden * 11 / 4;
  out.shape.layers = whole(values, "layers");
  out.shape.heads = whole(values, "heads");
  out.shape.key_value_heads = out.shape.heads / 2;
  out.shape.context = whole(values, "context");
  out.window = std::min(out.window, out.shape.context - 1);
  out.vocabulary = whole(values, "vocabulary");
  out.steps = whole(values, "steps");
  out.threads = whole(values, "threads");
  out.seed = static_cast<std::uint64_t>(values.integer("seed"));
  return out;
}

}  // namespace stackgate::trainer
