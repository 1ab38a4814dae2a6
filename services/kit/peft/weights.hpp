// A safetensors file as it streams by: the header is kept, the values are sampled for what is no number, nothing else
// is held. Pure; one file per object.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "services/kit/peft/finding.hpp"
#include "services/kit/safetensors/header.hpp"

namespace stackgate::peft {

class Weights {
 public:
  /// `size` of the whole file, in bytes.
  explicit Weights(std::uint64_t size) : size_(size) {}

  void feed(std::string_view bytes);
  /// After the last byte.
  const safetensors::Header& header() const { return header_; }
  /// A file that has no header, and tensors with NaN or infinity among the values that were looked at: the first 4 KiB
  /// of each 64 KiB.
  const validate::Findings& findings() const { return findings_; }
  void finish();

 private:
  void sample(std::string_view bytes);
  void look(const safetensors::Tensor& tensor, std::string_view bytes, std::uint64_t at);

  std::uint64_t size_;
  std::uint64_t at_ = 0;      // bytes of the file seen
  std::uint64_t length_ = 0;  // of the header; 0: not known yet
  bool ready_ = false, hopeless_ = false;
  std::string text_;  // the first eight bytes, then the header
  safetensors::Header header_;
  std::size_t tensor_ = 0;  // that the next byte belongs to, or a later one
  bool reported_ = false;   // of this tensor
  std::string carry_;       // the beginning of a value that is cut by a piece's end
  validate::Findings findings_;
};

}  // namespace stackgate::peft
