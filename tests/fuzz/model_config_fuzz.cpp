// Any bytes as config.json, a zero byte, any bytes as model.safetensors.index.json: they are refused with findings, or
// describe a graph whose numbers keep what config.hpp promises.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/model/directory/tensors.hpp"

using namespace stackgate;
using namespace stackgate::model;

namespace {

void need(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = all.find('\0');
  const ConfigRead read = read_config(all.substr(0, cut));
  for (const auto& finding : read.findings)
    need(!finding.path.empty() && !finding.problem.empty() && !finding.fix.empty());
  const WeightIndex index = read_weight_index(cut == std::string_view::npos ? std::string_view() : all.substr(cut + 1));
  for (const auto& [name, file] : index.files)
    need(file.find('/') == std::string::npos && file.ends_with(".safetensors"));
  if (validate::has_errors(read.findings)) return 0;
  const Config& config = read.config;
  need(config.heads % config.key_value_heads == 0 && config.head_width % 2 == 0 && config.head_width > 0);
  need(config.hidden > 0 && config.context > 0 && config.vocabulary > 0 && config.rope.factor > 0);
  for (const ExpectedTensor& each : expected_tensors(config))
    for (const std::uint64_t length : each.shape) need(length > 0);
  need(check_tensors(config, {}, &index).size() <= 100);
  return 0;
}
