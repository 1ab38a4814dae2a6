#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"
#include "services/kit/safetensors/header.hpp"

namespace stackgate::safetensors {

std::expected<std::string, std::string> write_header(std::vector<Tensor>& tensors,
                                                     const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::ranges::sort(tensors, [](const Tensor& a, const Tensor& b) {
    const unsigned in_a = bits_of(a.dtype).value_or(0), in_b = bits_of(b.dtype).value_or(0);
    return std::tie(in_b, a.name) < std::tie(in_a, b.name);
  });
  std::set<std::string_view> names;
  std::uint64_t at = 0;
  for (Tensor& tensor : tensors) {
    const auto bits = bits_of(tensor.dtype);
    const auto elements = elements_of(tensor);
    if (!names.insert(tensor.name).second || tensor.name == "__metadata__")
      return std::unexpected(fmt::format("tensor \"{}\" stands twice, or is called as the metadata is", tensor.name));
    if (!bits)
      return std::unexpected(fmt::format("tensor \"{}\" has the unknown dtype \"{}\"", tensor.name, tensor.dtype));
    if (!elements || *elements > (UINT64_MAX >> 1U) / *bits || *elements * *bits % 8 != 0)
      return std::unexpected(fmt::format("tensor \"{}\" has a shape [{}] that takes no whole number of bytes",
                                         tensor.name, fmt::join(tensor.shape, ", ")));
    tensor.begin = at;
    tensor.end = at += *elements * *bits / 8;
  }

  std::string text;
  json::Writer writer(text);
  writer.object([&] {
    if (!metadata.empty()) {
      writer.object("__metadata__", [&] {
        for (const auto& [name, value] : metadata) writer.member(name, value);
      });
    }
    for (const Tensor& tensor : tensors) {
      writer.object(tensor.name, [&] {
        writer.member("dtype", tensor.dtype);
        writer.array("shape", [&] {
          for (const std::uint64_t size : tensor.shape) writer.value(size);
        });
        writer.array("data_offsets", [&] {
          writer.value(tensor.begin);
          writer.value(tensor.end);
        });
      });
    }
  });
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > largest_header)
    return std::unexpected(fmt::format("a header of {} bytes is longer than any reader takes", text.size()));

  std::string out;
  for (unsigned byte = 0; byte < 8; ++byte) out += static_cast<char>(text.size() >> (8 * byte) & 0xffU);
  return out + text;
}

}  // namespace stackgate::safetensors
