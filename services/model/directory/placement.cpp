#include "services/model/directory/placement.hpp"

namespace stackgate::model {
namespace {

Dtype type_of_matrices(const ModelDirectory& model) {
  std::optional<Dtype> found;
  for (const auto& [name, stored] : model.tensors) {
    if (stored.place.shape.size() != 2) continue;
    if (found.value_or(stored.place.dtype) != stored.place.dtype) return Dtype::f32;
    found = stored.place.dtype;
  }
  return found.value_or(Dtype::f32);
}

}  // namespace

std::expected<Placement, std::string> placement(Device device, std::optional<Dtype> asked,
                                                const ModelDirectory& model) {
  if (device == Device::cuda) return Placement{device, asked.value_or(type_of_matrices(model))};
  if (asked == Dtype::f16)
    return std::unexpected("a CPU does not compute in float16: use --dtype float32, which reads weights of every type");
  return Placement{device, asked.value_or(Dtype::f32)};
}

}  // namespace stackgate::model
