#include "services/model/directory/tensors.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/kit/findings/json_report.hpp"
#include "services/model/directory/tensor_place.hpp"

namespace stackgate::model {
namespace {

constexpr std::size_t most_findings = 100;
constexpr std::array<std::string_view, 3> weight_types{to_string(Dtype::f32), to_string(Dtype::f16),
                                                       to_string(Dtype::bf16)};

/// Holds what the files have against what is expected.
class TensorCheck {
 public:
  TensorCheck(const Config& config, const WeightIndex* index) : config_(config), index_(index) {
    for (ExpectedTensor& each : expected_tensors(config)) shapes_.emplace(std::move(each.name), std::move(each.shape));
  }

  void look_at(const Shard& shard) {
    look_at_header(shard);
    for (const safetensors::Tensor& tensor : shard.header.tensors) look_at(shard.file, tensor);
  }

  void look_at_header(const Shard& shard) {
    for (const safetensors::Fault& fault : shard.header.faults)
      wrong("weights-header", shard.file, fault.tensor, fault.problem, fault.fix);
  }

  validate::Findings findings() { return std::move(findings_); }

  validate::Findings finish() {
    for (const auto& [name, shape] : shapes_)
      if (!found_.contains(name))
        wrong("weights-missing", "*.safetensors", name, "is missing", "take all files of the model");
    return findings();
  }

 private:
  void wrong(std::string_view rule, std::string_view file, std::string_view tensor, std::string problem,
             std::string fix) {
    if (findings_.size() >= most_findings) return;
    findings_.push_back({.rule = rule,
                         .path = tensor.empty() ? std::string(file) : fmt::format("{}: {}", file, tensor),
                         .value = {},
                         .problem = std::move(problem),
                         .fix = std::move(fix)});
  }

  bool is_unused(std::string_view name) const {
    return name.ends_with("rotary_emb.inv_freq") || (config_.tied_head && name == "lm_head.weight");
  }

  void look_at(const std::string& file, const safetensors::Tensor& tensor) {
    const auto [before, is_first] = found_.emplace(tensor.name, file);
    if (!is_first)
      return wrong("weights-twice", file, tensor.name, fmt::format("is in {}, too", before->second),
                   "take the files of one model only");
    if (index_ != nullptr) look_at_place(file, tensor.name);
    if (is_unused(tensor.name)) return;
    const auto expected = shapes_.find(tensor.name);
    if (expected == shapes_.end())
      return wrong("weights-unknown", file, tensor.name,
                   fmt::format("is no tensor of this {} model", to_string(config_.family)),
                   "check that config.json is of the same model");
    if (!dtype_of(tensor.dtype))
      wrong("weights-type", file, tensor.name, fmt::format("has the type {}", tensor.dtype),
            fmt::format("use one of {}", fmt::join(weight_types, ", ")));
    if (tensor.shape != expected->second)
      wrong("weights-shape", file, tensor.name,
            fmt::format("has the shape [{}] where config.json says [{}]", fmt::join(tensor.shape, ", "),
                        fmt::join(expected->second, ", ")),
            "check that config.json is of the same model");
  }

  void look_at_place(const std::string& file, const std::string& name) {
    const auto place = index_->files.find(name);
    if (place == index_->files.end())
      wrong("weights-index", file, name, "is not in model.safetensors.index.json", "take the index of the same model");
    else if (place->second != file)
      wrong("weights-index", file, name, fmt::format("is in {} by model.safetensors.index.json", place->second),
            "take the index of the same model");
  }

  const Config& config_;
  const WeightIndex* index_;
  std::map<std::string, std::vector<std::uint64_t>, std::less<>> shapes_;
  std::map<std::string, std::string, std::less<>> found_;  // tensor → file
  validate::Findings findings_;
};

bool is_plain_file(std::string_view name) {
  return name.ends_with(".safetensors") && !name.starts_with('.') && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

}  // namespace

WeightIndex read_weight_index(std::string_view json) {
  constexpr std::string_view file = "model.safetensors.index.json";
  WeightIndex read;
  validate::JsonReport report(read.findings, file, {"weights-index", "weights-index", "weights-index"});
  json::Document document;
  const auto root = report.parse("weights-index", json, document, {.max_depth = 16, .max_bytes = largest_index});
  if (!root) return read;
  const validate::JsonPlace top{{}, *root};
  const json::Value* map = validate::JsonReport::present(top, "weight_map");
  if (map == nullptr) {
    report.missing(top, "weight_map");
  } else if (!map->is_object()) {
    report.wrong_type(top.member("weight_map", *map), "an object");
  } else {
    const validate::JsonPlace at = top.member("weight_map", *map);
    for (const json::Member& each : map->members()) {
      if (!is_plain_file(each.value.string()))
        report.wrong_type(at.member(each.key, each.value), "the name of a .safetensors file in the same directory");
      else
        read.files.emplace(each.key, each.value.string());
    }
  }
  return read;
}

validate::Findings check_tensors(const Config& config, std::span<const Shard> shards, const WeightIndex* index) {
  TensorCheck check(config, index);
  for (const Shard& shard : shards) check.look_at(shard);
  return check.finish();
}

validate::Findings header_findings(std::span<const Shard> shards) {
  const Config none;
  TensorCheck check(none, nullptr);
  for (const Shard& shard : shards) check.look_at_header(shard);
  return check.findings();
}

}  // namespace stackgate::model
