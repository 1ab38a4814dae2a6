// The model that a server has, as its routes need it: everything but the weights.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "services/inference/api/limits.hpp"
#include "services/model/chat/chat_templates.hpp"
#include "services/model/directory/model_directory.hpp"
#include "services/model/tokenizer/encoder.hpp"

namespace stackgate::inference {

struct BaseModelOptions {
  std::string directory;
  std::string name;           // empty: the directory's last part
  std::string chat_template;  // a file's text, instead of the model's own; empty: those
  std::uint32_t context = 0;  // 0: the model's
};

/// Const once it is loaded; shared between threads.
struct BaseModel {
  std::string name, root;
  std::int64_t created = 0;  // seconds since 1970
  model::ModelDirectory directory;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  model::ChatTemplates templates;
  std::string tokenizer_config;       // the file's text; "{}" without one
  std::string license_file, license;  // its name and text; empty without one
  ApiLimits limits;
  validate::Findings warnings;
};

/// Reads all files but the weights' tensors. The findings: everything that is wrong with them, errors among them.
std::expected<std::shared_ptr<const BaseModel>, validate::Findings> load_base_model(const BaseModelOptions& options);

/// Encoders for any number of threads, each used by one at a time. Thread-safe.
class Encoders {
 public:
  explicit Encoders(std::shared_ptr<const tokenizer::Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {}

  /// `work` gets an encoder to itself.
  template <class Work>
  auto with(Work&& work) {
    auto encoder = take();
    auto out = std::forward<Work>(work)(*encoder);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(encoder));
    return out;
  }

 private:
  std::unique_ptr<tokenizer::Encoder> take();

  const std::shared_ptr<const tokenizer::Tokenizer> tokenizer_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<tokenizer::Encoder>> idle_;
};

}  // namespace stackgate::inference
