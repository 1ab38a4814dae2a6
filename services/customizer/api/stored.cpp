#include "services/customizer/api/request.hpp"
#include "services/kit/findings/json_report.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace stored_detail {

void write_texts(json::Writer& w, std::string_view key, const std::vector<std::string>& texts) {
  w.array(key, [&] {
    for (const std::string& each : texts) w.value(each);
  });
}

std::vector<std::string> texts_of(const json::Value& of, json::MemberPath path) {
  std::vector<std::string> out;
  for (const json::Value& each : json::items(&of, path)) out.emplace_back(each.string());
  return out;
}

std::uint32_t number_of(const json::Value& of, json::MemberPath path, std::uint32_t otherwise) {
  return static_cast<std::uint32_t>(json::integer(&of, path, otherwise));
}

std::optional<std::uint32_t> optional_of(const json::Value& of, json::MemberPath path) {
  const json::Value found = json::value_at(&of, path);
  return found.is_integer() ? std::optional(static_cast<std::uint32_t>(found.integer())) : std::nullopt;
}

void write_target(json::Writer& w, const Target& target) {
  w.member("name", target.name);
  w.member("base_model", target.base_model);
  w.member("model_uri", target.uri.text);
  w.member("model_path", target.path);
  w.member("num_parameters", target.num_parameters);
  w.member("precision", target.precision);
}

void write_config(json::Writer& w, const ConfigTemplate& config) {
  w.member("name", config.name);
  w.member("target", config.target);
  w.member("num_nodes", config.option.num_nodes);
  w.member("num_gpus", config.option.num_gpus);
  if (config.option.micro_batch_size) w.member("micro_batch_size", *config.option.micro_batch_size);
  if (config.max_seq_length) w.member("max_seq_length", *config.max_seq_length);
  w.member("prompt_template", config.prompt_template);
}

}  // namespace stored_detail

std::string to_json(const CustomizationRequest& request) {
  using namespace stored_detail;
  return json::object_text([&](json::Writer& w) {
    w.member("name", request.name);
    w.member("description", request.description);
    w.object("target", [&] { write_target(w, request.target); });
    w.object("config", [&] { write_config(w, request.config); });
    w.object("dataset", [&] {
      w.member("repository", request.dataset.repository);
      w.member("path", request.dataset.path);
      w.member("revision", request.dataset.revision);
      write_texts(w, "training_files", request.dataset.training_files);
      write_texts(w, "validation_files", request.dataset.validation_files);
    });
    w.object("hyperparameters", [&] { model::write_hyperparameters(w, request.hyperparameters); });
    w.member("output_model", request.output_model);
    write_texts(w, "tags", request.tags);
  });
}

CustomizationRequest read_stored(std::string_view text) {
  using namespace stored_detail;
  CustomizationRequest out;
  json::Document document;
  const auto parsed = json::parse(text, document);
  if (!parsed) return out;
  const json::Value& root = *parsed;
  const auto text_of = [&](json::MemberPath path) { return std::string(json::text(&root, path)); };
  out.name = text_of({"name"});
  out.description = text_of({"description"});
  out.target = {.name = text_of({"target", "name"}),
                .base_model = text_of({"target", "base_model"}),
                .uri = parse_model_uri(json::text(&root, {"target", "model_uri"})).value_or(ModelUri{}),
                .path = text_of({"target", "model_path"}),
                .num_parameters = static_cast<std::uint64_t>(json::integer(&root, {"target", "num_parameters"})),
                .precision = text_of({"target", "precision"})};
  out.config = {.name = text_of({"config", "name"}),
                .target = text_of({"config", "target"}),
                .option = {.num_nodes = number_of(root, {"config", "num_nodes"}, 1),
                           .num_gpus = number_of(root, {"config", "num_gpus"}, 1),
                           .micro_batch_size = optional_of(root, {"config", "micro_batch_size"})},
                .max_seq_length = optional_of(root, {"config", "max_seq_length"}),
                .prompt_template = text_of({"config", "prompt_template"})};
  out.dataset = {.repository = text_of({"dataset", "repository"}),
                 .path = text_of({"dataset", "path"}),
                 .revision = text_of({"dataset", "revision"}),
                 .training_files = texts_of(root, {"dataset", "training_files"}),
                 .validation_files = texts_of(root, {"dataset", "validation_files"})};
  out.output_model = text_of({"output_model"});
  out.tags = texts_of(root, {"tags"});
  if (const json::Value* found = root.find("hyperparameters"); found != nullptr && found->is_object()) {
    validate::Findings findings;
    validate::JsonReport report(findings, "", {"type", "missing", "value"});
    model::read_hyperparameters({"hyperparameters", *found}, report, out.hyperparameters);
  }
  return out;
}

}  // namespace stackgate::customizer
