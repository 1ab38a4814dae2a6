#include "services/model/graph/device.hpp"

#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace stackgate::model {

std::expected<Device, std::string> usable_device(std::optional<Device> asked) {
  const bool is_built = c10::impl::hasDeviceGuardImpl(c10::DeviceType::CUDA);
  const bool is_there = is_built && c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->deviceCount() > 0;
  if (asked != Device::cuda) return is_there && !asked ? Device::cuda : Device::cpu;
  if (!is_built)
    return std::unexpected(
        "--device cuda: this libtorch was built without CUDA; use --device cpu, or an engine that is built with a "
        "libtorch "
        "for CUDA");
  if (!is_there)
    return std::unexpected("--device cuda: libtorch finds no GPU; ask for nvidia.com/gpu, or use --device cpu");
  return Device::cuda;
}

}  // namespace stackgate::model
