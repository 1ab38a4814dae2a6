#include "services/model/loading/weights.hpp"

#include <algorithm>

#include "services/kit/base/try.hpp"
#include "services/model/loading/inside.hpp"

namespace stackgate::model {

std::expected<Weights, validate::Finding> Weights::map(const std::string& directory, const ModelDirectory& model) {
  std::vector<std::uint64_t> needed(model.files.size());
  for (const auto& [name, tensor] : model.tensors)
    needed[tensor.file] = std::max(needed[tensor.file], tensor.place.offset + tensor.place.bytes);
  Weights out;
  for (std::size_t i = 0; i < model.files.size(); ++i) {
    const std::string& name = model.files[i];
    auto file = TRY(map_inside(directory, name));
    if (file.bytes().size() < needed[i])
      return std::unexpected(validate::Finding{.rule = "weights-changed",
                                               .path = name,
                                               .value = {},
                                               .problem = "has become shorter since it was checked",
                                               .fix = "put new versions of a model into a new directory"});
    file.will_need();
    out.files_.push_back(std::move(file));
  }
  return out;
}

std::uint64_t Weights::mapped_bytes() const {
  std::uint64_t out = 0;
  for (const files::MappedFile& each : files_) out += each.bytes().size();
  return out;
}

}  // namespace stackgate::model
