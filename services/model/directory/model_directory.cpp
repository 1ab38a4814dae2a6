#include "services/model/directory/model_directory.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "services/model/tokenizer/read.hpp"

namespace stackgate::model {
namespace {

using validate::Findings;
using validate::Severity;

class Assembly {
 public:
  explicit Assembly(const DirectoryFiles& files) : files_(files) {}

  DirectoryRead read() {
    config();
    tokenizer();
    if (files_.generation) {
      GenerationRead read = read_generation(*files_.generation);
      take(std::move(read.findings));
      out_.model.generation = std::move(read.generation);
    }
    weights();
    if (!validate::has_errors(out_.findings)) {
      place_tensors();
      end_ids();
      limits();
    }
    return std::move(out_);
  }

 private:
  void take(Findings findings) { std::ranges::move(findings, std::back_inserter(out_.findings)); }

  void report(std::string_view rule, std::string path, std::string problem, std::string fix,
              Severity severity = Severity::error) {
    out_.findings.push_back({.rule = rule,
                             .severity = severity,
                             .path = std::move(path),
                             .value = {},
                             .problem = std::move(problem),
                             .fix = std::move(fix)});
  }

  void config() {
    if (!files_.config) return report("config-missing", "config.json", "is missing", "take all files of the model");
    ConfigRead read = read_config(*files_.config);
    has_config_ = !validate::has_errors(read.findings);
    take(std::move(read.findings));
    out_.model.config = std::move(read.config);
  }

  void tokenizer() {
    ModelDirectory& model = out_.model;
    bool good = files_.tokenizer.has_value();
    if (files_.tokenizer) {
      tokenizer::TokenizerRead read = tokenizer::read_tokenizer(*files_.tokenizer);
      good = !validate::has_errors(read.findings);
      take(std::move(read.findings));
      model.tokenizer = std::move(read.description);
    } else {
      report("tokenizer-missing", "tokenizer.json", "is missing",
             "save it beside the model: AutoTokenizer.from_pretrained(DIR, use_fast=True).save_pretrained(DIR)");
    }
    TokenizerConfigRead read;
    if (files_.tokenizer_config) read = read_tokenizer_config(*files_.tokenizer_config);
    good = good && !validate::has_errors(read.findings);
    take(std::move(read.findings));
    if (good) take(surround(read.config, model.tokenizer));
    model.special_tokens = std::move(read.config.special_tokens);
    model.templates = std::move(read.config.templates);
    if (files_.chat_template) model.templates = {{"default", *files_.chat_template}};
    longest_ = read.config.max_length;
  }

  /// Without a configuration there is nothing to hold the names against.
  void weights() {
    const WeightIndex* index = files_.index ? &*files_.index : nullptr;
    if (index != nullptr) take(index->findings);
    if (files_.shards.empty()) return;
    take(has_config_ ? check_tensors(out_.model.config, files_.shards, index) : header_findings(files_.shards));
  }

  void place_tensors() {
    std::map<std::string_view, StoredTensor> all;
    for (const Shard& shard : files_.shards) {
      const auto file = static_cast<std::uint32_t>(out_.model.files.size());
      out_.model.files.push_back(shard.file);
      for (const safetensors::Tensor& each : shard.header.tensors)
        if (const auto dtype = dtype_of(each.dtype))
          all[each.name] = {file, {shard.data_at + each.begin, each.end - each.begin, *dtype, each.shape}};
    }
    for (ExpectedTensor& each : expected_tensors(out_.model.config))
      if (const auto found = all.find(each.name); found != all.end())
        out_.model.tensors.emplace(std::move(each.name), std::move(found->second));
  }

  void end_ids() {
    ModelDirectory& model = out_.model;
    std::vector<std::uint32_t>& ids = model.end_ids;
    ids = model.config.end_ids;
    ids.insert(ids.end(), model.generation.end_ids.begin(), model.generation.end_ids.end());
    if (const std::string* text = model.special_tokens.find("eos_token")) {
      if (const auto id = id_of(model.tokenizer, *text))
        ids.push_back(*id);
      else
        report("end-ids", "tokenizer_config.json: eos_token",
               fmt::format("\"{}\" is no token of tokenizer.json", *text), "write the token that ends a text",
               Severity::warning);
    }
    std::ranges::sort(ids);
    ids.erase(std::ranges::unique(ids).begin(), ids.end());
    if (!ids.empty() && ids.back() >= model.config.vocabulary)
      report("end-ids", "config.json: eos_token_id",
             fmt::format("the end id {} of the model's files is not below vocab_size, {}", ids.back(),
                         model.config.vocabulary),
             "write the id of the token that ends a text", Severity::warning);
    std::erase_if(ids, [&](std::uint32_t id) { return id >= model.config.vocabulary; });
    if (ids.empty())
      report("end-ids", "config.json: eos_token_id", "no file says which token ends a text: texts end at their limit",
             "write \"eos_token_id\" into config.json or generation_config.json", Severity::warning);
  }

  void limits() {
    ModelDirectory& model = out_.model;
    model.context = model.config.context;
    if (longest_ && *longest_ < model.context) {
      report("config-window", "tokenizer_config.json: model_max_length",
             fmt::format("{} is less than the context of {} in config.json: the context is limited to it", *longest_,
                         model.context),
             "take the number off if the model was trained for the longer one", Severity::warning);
      model.context = *longest_;
    }
    if (model.tokenizer.vocabulary.size() > model.config.vocabulary)
      report("config-vocabulary", "config.json: vocab_size",
             fmt::format("the embedding has {} rows, but tokenizer.json has {} tokens: those beyond are refused",
                         model.config.vocabulary, model.tokenizer.vocabulary.size()),
             "take the tokenizer of the same model", Severity::warning);
  }

  const DirectoryFiles& files_;
  bool has_config_ = false;
  std::optional<std::uint32_t> longest_;
  DirectoryRead out_;
};

}  // namespace

DirectoryRead read_directory(const DirectoryFiles& files) { return Assembly(files).read(); }

}  // namespace stackgate::model
