// Any bytes as tokenizer_config.json: refused with findings, or what tokenizer_config.hpp promises.
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string_view>

#include "services/model/directory/tokenizer_config.hpp"

using namespace stackgate;
using namespace stackgate::model;

namespace {

void need(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const TokenizerConfigRead read = read_tokenizer_config({reinterpret_cast<const char*>(data), size});
  need(read.findings.size() <= 100);
  for (const auto& finding : read.findings)
    need(finding.path.starts_with("tokenizer_config.json") && !finding.problem.empty() && !finding.fix.empty());
  const TokenizerConfig& config = read.config;
  std::set<std::string_view> names;
  for (const NamedTemplate& each : config.templates)
    need(names.insert(each.name).second && each.source.size() <= largest_chat_template);
  need(config.templates.size() <= 16 && config.max_length.value_or(1) > 0);
  tokenizer::Description tokenizer;
  tokenizer.added = {{.id = 3, .content = "<s>", .special = true}};
  if (surround(config, tokenizer).empty()) need(tokenizer.prefix.size() == (config.add_bos ? 1 : 0));
  return 0;
}
