#include "services/kit/peft/weights.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace stackgate::peft {
namespace weights_detail {

constexpr std::uint64_t sample_bytes = 4096, stride_bytes = 65536;
constexpr std::string_view file = "adapter[adapter_model.safetensors]";

/// The first value whose exponent's bits are all set: NaN or infinity. IEEE 754, and bfloat16, which is the upper half
/// of a float.
template <class Bits>
std::optional<std::size_t> first_bad(std::string_view bytes, Bits exponent) {
  // A sum without a branch first: it is what the compiler makes vectors of, and nearly all pieces are good.
  std::size_t bad = 0;
  const auto is_bad = [&](std::size_t i) {
    Bits value;
    std::memcpy(&value, bytes.data() + i, sizeof(Bits));
    return (value & exponent) == exponent;
  };
  for (std::size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) bad += is_bad(i) ? 1U : 0U;
  if (bad == 0) return std::nullopt;
  std::size_t at = 0;
  while (!is_bad(at)) at += sizeof(Bits);
  return at;
}

/// Where it begins.
std::optional<std::size_t> bad_value(std::string_view dtype, std::string_view bytes) {
  if (dtype == "F16") return first_bad<std::uint16_t>(bytes, 0x7c00);
  if (dtype == "BF16") return first_bad<std::uint16_t>(bytes, 0x7f80);
  if (dtype == "F32") return first_bad<std::uint32_t>(bytes, 0x7f800000);
  return std::nullopt;
}

}  // namespace weights_detail

void Weights::feed(std::string_view bytes) {
  if (hopeless_) return;
  if (!ready_) {
    const std::uint64_t want = length_ == 0 ? 8 : 8 + length_;
    const std::size_t take = std::min<std::size_t>(bytes.size(), want - text_.size());
    text_ += bytes.substr(0, take);
    bytes.remove_prefix(take);
    at_ += take;
    if (text_.size() < want) return;
    if (length_ == 0) {
      const auto length = safetensors::header_length(text_);
      if (!length || *length + 8 > size_) {
        add(findings_, "adapter-weights-header", std::string(weights_detail::file),
            length ? fmt::format("says that its header has {} bytes, but the file has {}", *length, size_)
                   : length.error(),
            "save the weights again with safetensors");
        hopeless_ = true;
        return;
      }
      length_ = *length;
      return feed(bytes);
    }
    header_ = safetensors::read_header(std::string_view(text_).substr(8), size_ - 8 - length_);
    std::string().swap(text_);
    ready_ = true;
  }
  sample(bytes);
}

void Weights::finish() {
  if (hopeless_ || ready_) return;
  add(findings_, "adapter-weights-header", std::string(weights_detail::file),
      fmt::format("ends after {} bytes, in the middle of its header", at_), "upload the whole file");
  hopeless_ = true;
}

void Weights::sample(std::string_view bytes) {
  while (!bytes.empty() && tensor_ < header_.tensors.size()) {
    const safetensors::Tensor& tensor = header_.tensors[tensor_];
    const std::uint64_t begin = 8 + length_ + tensor.begin, end = 8 + length_ + tensor.end;
    if (at_ >= end) {
      ++tensor_;
      reported_ = false;
      carry_.clear();
      continue;
    }
    if (at_ < begin) {
      const std::size_t skip = std::min<std::uint64_t>(bytes.size(), begin - at_);
      bytes.remove_prefix(skip);
      at_ += skip;
      continue;
    }
    // Up to the next border of a sample, so that a piece lies inside or outside of one.
    const std::uint64_t into = (at_ - begin) % weights_detail::stride_bytes;
    const bool inside = into < weights_detail::sample_bytes;
    const std::uint64_t border = (inside ? weights_detail::sample_bytes : weights_detail::stride_bytes) - into;
    const std::size_t take = std::min<std::uint64_t>({bytes.size(), end - at_, border});
    if (inside && !reported_) look(tensor, bytes.substr(0, take), at_ - begin);
    bytes.remove_prefix(take);
    at_ += take;
  }
  at_ += bytes.size();
}

void Weights::look(const safetensors::Tensor& tensor, std::string_view bytes, std::uint64_t at) {
  const std::size_t width = tensor.dtype == "F32" ? 4 : tensor.dtype == "F16" || tensor.dtype == "BF16" ? 2 : 0;
  if (width == 0) return;            // refused elsewhere
  std::optional<std::uint64_t> bad;  // counted from the tensor's begin
  if (!carry_.empty()) {
    const std::uint64_t begin = at - carry_.size();
    const std::size_t take = std::min(bytes.size(), width - carry_.size());
    carry_ += bytes.substr(0, take);
    bytes.remove_prefix(take);
    at += take;
    if (carry_.size() < width) return;
    if (weights_detail::bad_value(tensor.dtype, carry_)) bad = begin;
    carry_.clear();
  }
  const std::size_t whole = bytes.size() / width * width;
  if (!bad) {
    if (const auto found = weights_detail::bad_value(tensor.dtype, bytes.substr(0, whole))) bad = at + *found;
  }
  carry_ = bytes.substr(whole);
  if (!bad) return;
  reported_ = true;
  add(findings_, "adapter-weights-nan", fmt::format("{}[{}]", weights_detail::file, tensor.name),
      fmt::format("holds NaN or infinity at its byte {}", *bad),
      "train again with a lower learning rate, and look at the loss");
}

}  // namespace stackgate::peft
