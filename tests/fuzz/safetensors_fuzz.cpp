// Any bytes as a safetensors file: sound tensors never overlap, never leave the data, and fit their dtype and shape.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "services/kit/safetensors/header.hpp"

using namespace stackgate::safetensors;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)header_length(text);
  const std::uint64_t behind = size * 3;
  const Header header = read_header(text, behind);
  std::uint64_t at = 0;
  for (const Tensor& tensor : header.tensors) {
    const auto elements = elements_of(tensor);
    if (!elements || tensor.begin > tensor.end) std::abort();
    if (*elements * *bits_of(tensor.dtype) != (tensor.end - tensor.begin) * 8) std::abort();
    if (header.faults.empty() && (tensor.begin != at || tensor.end > behind)) std::abort();
    at = tensor.end;
  }
  return 0;
}
