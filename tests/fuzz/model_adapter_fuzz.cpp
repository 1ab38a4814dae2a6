// Any bytes as adapter_config.json, a zero byte, any bytes as the header of adapter_model.safetensors: refused with
// findings, or modules that fit the base, with finite scales.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/model/adapter/adapter.hpp"

using namespace stackgate;
using namespace stackgate::model;

namespace {

void need(bool good) {
  if (!good) std::abort();
}

const Config base{.hidden = 8,
                  .intermediate = 12,
                  .layers = 2,
                  .heads = 4,
                  .key_value_heads = 2,
                  .head_width = 6,
                  .vocabulary = 30,
                  .context = 16};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = all.find('\0');
  const std::string_view header = cut == std::string_view::npos ? std::string_view() : all.substr(cut + 1);
  const safetensors::FileHeader weights{.header = safetensors::read_header(header, std::nullopt), .data_at = 100};
  const AdapterRead read = check_adapter(base, all.substr(0, cut), weights);
  for (const auto& finding : read.findings)
    need(finding.path.starts_with("adapter[") && !finding.problem.empty() && !finding.fix.empty());
  if (validate::has_errors(read.findings)) return 0;
  need(!read.adapter.modules.empty());
  for (const AdapterModule& each : read.adapter.modules) {
    need(each.rank > 0 && each.rank <= 64 && each.rank <= read.adapter.largest_rank);
    need(std::isfinite(each.scale) && each.scale > 0);
    need(each.a.shape.size() == 2 && each.a.shape[0] == each.rank && each.b.shape[1] == each.rank);
    need(each.a.bytes == each.a.shape[0] * each.a.shape[1] * bytes_of(each.a.dtype) && each.a.offset >= 100);
    need(each.layer < base.layers);
  }
  return 0;
}
