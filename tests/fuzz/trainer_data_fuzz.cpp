// Training files as a stranger writes them: every example holds together, and every line that makes none is a fault.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "services/model/hyperparameters/hyperparameters.hpp"
#include "services/trainer/data/dataset.hpp"
#include "tests/model/small_model.hpp"

using namespace stackgate;
using namespace stackgate::trainer;

namespace {

struct Parts {
  model::ChatTemplates templates;
  std::unique_ptr<Tokens> tokens;
};

Parts make() {
  model::DirectoryFiles files;
  files.config = model::test::small_config;
  files.tokenizer = model::test::small_tokenizer;
  files.tokenizer_config =
      R"({"bos_token":"<s>","eos_token":"</s>","add_bos_token":true,"chat_template":"{% for m in messages %}<s>)"
      R"({{ m.content if m.role != 'tool' or loop.last }}</s>{% endfor %}{% if add_generation_prompt %}<s>{% endif %}"})";
  auto read = model::read_directory(files);
  auto tokenizer = std::make_shared<tokenizer::Tokenizer>(std::move(read.model.tokenizer));
  return {model::ChatTemplates::compile(read.model.templates, read.model.special_tokens,
                                        {.clock = {}, .limits = {.steps = 20'000, .output = 1U << 16U}})
              .templates,
          std::make_unique<Tokens>(tokenizer, text_frame(read.model, *tokenizer))};
}

void check(const Example& example, std::size_t most) {
  if (example.ids.empty() || example.ids.size() > most || example.trained.empty()) std::abort();
  std::uint32_t at = 1;
  for (const TokenRange& each : example.trained) {
    if (each.begin < at || each.end <= each.begin || each.end > example.ids.size()) std::abort();
    at = each.end;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Parts parts = make();
  if (size == 0) return 0;
  const std::size_t most = 2 + data[0] % 32U;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  DatasetReader reader(*parts.tokens, parts.templates, most);
  reader.add_file("f", text);
  const Dataset out = reader.finish();
  for (const Example& each : out.examples) check(each, most);
  if (out.examples.empty() && out.faults.empty()) std::abort();
  if (out.fault_count < out.faults.size() || out.faults.size() > most_data_faults) std::abort();
  (void)model::read_hyperparameters(text, "c");
  return 0;
}
