#include "services/trainer/checkpoint/tensors.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "services/kit/files/mapped_file.hpp"
#include "services/kit/safetensors/header.hpp"

namespace stackgate::trainer {

Done write_tensors(const std::string& path, std::span<const NamedTensor> tensors) {
  std::vector<safetensors::Tensor> list;
  for (const NamedTensor& each : tensors) list.push_back({.name = each.name, .dtype = "F32", .shape = each.shape});
  const auto header = safetensors::write_header(list, {{"format", "pt"}});
  if (!header) return std::unexpected(fmt::format("{}: {}", path, header.error()));
  std::vector<std::string_view> pieces{*header};
  for (const safetensors::Tensor& each : list) {
    const auto values = std::ranges::find(tensors, each.name, &NamedTensor::name)->values;
    pieces.emplace_back(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  }
  return write_file(path, pieces);
}

Done read_tensors(const std::string& path, std::span<const TensorSpace> spaces) {
  const auto file = files::MappedFile::open(path);
  if (!file) return std::unexpected(fmt::format("{} cannot be read: {}", path, std::strerror(file.error())));
  const auto bytes = file->bytes();
  const auto [header, data_at] = safetensors::read_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!header.faults.empty())
    return std::unexpected(fmt::format("{}: {} {}", path, header.faults[0].tensor, header.faults[0].problem));
  if (header.tensors.size() != spaces.size())
    return std::unexpected(fmt::format("{} has {} tensors, not {}", path, header.tensors.size(), spaces.size()));
  for (const TensorSpace& each : spaces) {
    const auto found = std::ranges::find(header.tensors, each.name, &safetensors::Tensor::name);
    if (found == header.tensors.end()) return std::unexpected(fmt::format("{} lacks {}", path, each.name));
    if (found->dtype != "F32" || found->end - found->begin != each.values.size_bytes())
      return std::unexpected(
          fmt::format("{}: {} does not have {} values of type F32", path, each.name, each.values.size()));
    std::memcpy(each.values.data(), bytes.data() + data_at + found->begin, each.values.size_bytes());
  }
  return {};
}

}  // namespace stackgate::trainer
