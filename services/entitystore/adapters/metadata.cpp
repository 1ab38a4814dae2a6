#include "services/entitystore/adapters/metadata.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/kit/base/semantic_version.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/web/body_schema.hpp"

namespace stackgate::entitystore {
namespace metadata_detail {

constexpr std::string_view schema_text = R"({
  "type": "object",
  "required": ["name", "base_model", "version"],
  "additionalProperties": false,
  "properties": {
    "name": {"type": "string"},
    "namespace": {"type": "string"},
    "base_model": {"type": "string", "minLength": 1, "maxLength": 255},
    "version": {"type": "string"},
    "description": {"type": "string", "maxLength": 4000},
    "project": {"type": "string", "maxLength": 255},
    "lora_config": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "rank": {"type": "integer", "minimum": 1, "maximum": 1000000},
        "alpha": {"type": "number", "minimum": 0},
        "dropout": {"type": "number", "minimum": 0, "maximum": 1},
        "target_modules": {"type": "array", "maxItems": 1000, "items": {"type": "string", "minLength": 1, "maxLength": 255}}
      }
    },
    "training": {
      "type": "object",
      "properties": {
        "dataset": {"type": "string", "maxLength": 1000},
        "job_id": {"type": "string", "maxLength": 255},
        "hyperparameters": {
          "type": "object",
          "properties": {"learning_rate": {"type": "number"}, "epochs": {"type": "integer"}}
        }
      }
    },
    "metadata": {
      "type": "object",
      "additionalProperties": false,
      "properties": {
        "dataset": {"type": "string", "maxLength": 1000},
        "training_job": {"type": "string", "maxLength": 255}
      }
    },
    "metrics": {"type": "object", "additionalProperties": {"type": "number"}},
    "tags": {"type": "array", "maxItems": 100, "items": {"type": "string", "minLength": 1, "maxLength": 255}}
  }
})";

const web::BodySchema& schema() {
  static const web::BodySchema made(schema_text);
  return made;
}

std::vector<std::string> texts_of(const json::Value& list) {
  std::vector<std::string> out;
  for (const json::Value& item : list.items()) out.emplace_back(item.string());
  return out;
}

void add(validate::Findings& out, std::string_view rule, std::string path, std::string_view value, std::string problem,
         std::string fix) {
  std::string quoted;
  json::append_quoted(quoted, value);
  out.push_back({.rule = rule,
                 .path = std::move(path),
                 .value = quoted.size() <= 120 ? quoted : std::string(),
                 .problem = std::move(problem),
                 .fix = std::move(fix)});
}

void read_lora(const json::Value& lora, Metadata& out) {
  // What has another type is reported by the schema, and claims nothing that could be compared.
  if (const json::Value* rank = lora.find("rank"); rank != nullptr && rank->is_integer()) out.rank = rank->integer();
  if (const json::Value* alpha = lora.find("alpha"); alpha != nullptr && alpha->is_number())
    out.alpha = alpha->number();
  if (const json::Value* dropout = lora.find("dropout"); dropout != nullptr && dropout->is_number())
    out.dropout = dropout->number();
  if (const json::Value* modules = lora.find("target_modules");
      modules != nullptr && modules->is_array() &&
      std::ranges::all_of(modules->items(), [](const json::Value& each) { return each.is_string(); }))
    out.target_modules = texts_of(*modules);
}

/// What stands in `training` beside the fields with columns of their own: a commit, a revision, an image digest …
std::string rest_of(const json::Value& training) {
  const std::string out =
      json::object_text([&](json::Writer& w) { w.members(training, {"dataset", "job_id", "hyperparameters"}); });
  return out == "{}" ? std::string() : out;
}

void read_training(const json::Value& root, MetadataRead& out) {
  Record& record = out.metadata.record;
  if (const json::Value* training = root.find("training")) {
    record.dataset = json::text_at(*training, "dataset");
    record.job_id = json::text_at(*training, "job_id");
    if (const json::Value* each = training->find("hyperparameters")) record.hyperparameters = json::to_json(*each);
    record.training = rest_of(*training);
  }
  if (const json::Value* detail = root.find("metadata")) {
    const auto take = [&](std::string_view name, std::string& into) {
      const std::string text(json::text_at(*detail, name));
      if (text.empty() || text == into) return;
      if (into.empty())
        into = text;
      else
        add(out.findings, "metadata-contradiction", fmt::format("metadata.metadata.{}", name), text,
            fmt::format("contradicts training, which says \"{}\"", into), "say it once");
    };
    take("dataset", record.dataset);
    take("training_job", record.job_id);
  }
}

}  // namespace metadata_detail

MetadataRead read_metadata(std::string_view json) {
  namespace d = metadata_detail;
  MetadataRead out;
  json::Document document;
  const auto root = json::parse(json, document, {.max_depth = 32, .max_bytes = 1U << 20U});
  if (!root) {
    d::add(out.findings, "metadata-json", "metadata", "",
           fmt::format("is no JSON: {} at byte {}", root.error().message, root.error().offset),
           "write a JSON object with name, base_model and version");
    return out;
  }
  for (validate::Finding& finding : d::schema().check(*root)) {
    finding.path = finding.path.empty() ? "metadata" : "metadata." + finding.path;
    out.findings.push_back(std::move(finding));
  }
  if (!root->is_object()) return out;
  Record& record = out.metadata.record;
  const auto name = [&](std::string_view field, std::string& into, auto fault) {
    const json::Value* value = root->find(field);
    if (value == nullptr || !value->is_string()) return;
    into = value->string();
    if (auto wrong = fault(into))
      d::add(out.findings, "metadata-name", fmt::format("metadata.{}", field), into, std::move(*wrong),
             "write, for example, \"support-bot\"");
  };
  name("name", record.name, fault_of_name);
  name("namespace", record.name_space, fault_of_namespace);
  record.base_model = json::text_at(*root, "base_model");
  if (const json::Value* version = root->find("version"); version != nullptr && version->is_string()) {
    record.version = version->string();
    if (record.version.size() > longest_semantic_version)
      d::add(out.findings, "metadata-version", "metadata.version", record.version,
             fmt::format("has {} bytes; a version has at most {}", record.version.size(), longest_semantic_version),
             "write a shorter one");
    else if (!parse_semantic_version(record.version))
      d::add(out.findings, "metadata-version", "metadata.version", record.version, "is no semantic version",
             "write three numbers, \"1.0.0\", or \"1.0.0-rc.1\" (semver.org)");
  }
  record.description = json::text_at(*root, "description");
  record.project = json::text_at(*root, "project");
  if (const json::Value* lora = root->find("lora_config")) d::read_lora(*lora, out.metadata);
  d::read_training(*root, out);
  if (const json::Value* metrics = root->find("metrics"); metrics != nullptr && metrics->is_object())
    record.metrics = json::to_json(*metrics);
  if (const json::Value* tags = root->find("tags")) record.tags = d::texts_of(*tags);
  return out;
}

}  // namespace stackgate::entitystore
