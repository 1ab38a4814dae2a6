// A base model from the disk, as training needs it.
#pragma once
#include <memory>
#include <span>
#include <string>

#include "services/model/chat/chat_templates.hpp"
#include "services/model/directory/model_directory.hpp"
#include "services/model/loading/weights.hpp"
#include "services/model/tokenizer/tokenizer.hpp"
#include "services/trainer/data/dataset.hpp"
#include "services/trainer/training/failure.hpp"

namespace stackgate::trainer {

struct BaseModel {
  model::ModelDirectory model;  // its tokenizer was moved to `tokenizer`
  model::Weights weights;
  model::ChatTemplates templates;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
};

/// Errors are the failure; warnings are logged.
Result<void> judge(const validate::Findings& findings);

/// All that is wrong with it at once. `chat_template`: a file instead of the model's own, or empty.
Result<BaseModel> load_base_model(const std::string& directory, const std::string& chat_template);

/// Different for models whose weights differ, as a rule: the beginning of each tensor is looked at.
std::uint64_t mark_of(const BaseModel& base);

/// Files of JSON lines; all faults of all of them. `most`: tokens of an example.
Result<Dataset> read_data(const BaseModel& base, std::span<const std::string> files, std::size_t most);

}  // namespace stackgate::trainer
