#include "services/model/loading/weights.hpp"

#include <algorithm>
#include <system_error>

#include "services/kit/base/try.hpp"
#include "services/model/loading/inside.hpp"

namespace stackgate::model {

std::expected<Weights, validate::Finding> Weights::map(const std::string& directory, const ModelDirectory& model) {
  const auto wrong = [](const std::string& file, std::string problem) {
    return std::unexpected(validate::Finding{.rule = "weights-changed",
                                             .path = file,
                                             .value = {},
                                             .problem = std::move(problem),
                                             .fix = "put new versions of a model into a new directory"});
  };
  std::vector<std::uint64_t> needed(model.files.size());
  for (const auto& [name, tensor] : model.tensors)
    needed[tensor.file] = std::max(needed[tensor.file], tensor.place.offset + tensor.place.bytes);
  Weights out;
  for (std::size_t i = 0; i < model.files.size(); ++i) {
    const std::string& name = model.files[i];
    const std::string path = TRY(place_inside(directory, name));
    auto file = files::MappedFile::open(path);
    if (!file) return wrong(name, "cannot be mapped: " + std::generic_category().message(file.error()));
    if (file->bytes().size() < needed[i]) return wrong(name, "has become shorter since it was checked");
    file->will_need();
    out.files_.push_back(std::move(*file));
  }
  return out;
}

std::uint64_t Weights::mapped_bytes() const {
  std::uint64_t out = 0;
  for (const files::MappedFile& each : files_) out += each.bytes().size();
  return out;
}

}  // namespace stackgate::model
