// The header of a safetensors file: which tensors it holds, of which type and shape, and where their bytes lie.
//
// A file is eight bytes, little-endian, that say how long the header is; the header, a JSON object; then the tensors'
// bytes. https://huggingface.co/docs/safetensors/index#format
//
// Pure. Nothing here reads a file: give it the first eight bytes, then the header's text.
#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stackgate::safetensors {

/// What Hugging Face's own client takes at most; a header of 25 MB names some 200,000 tensors.
inline constexpr std::uint64_t largest_header = 25'000'000;

struct Tensor {
  std::string name;
  std::string dtype;  // "F16"
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0, end = 0;  // bytes, from the end of the header
};

/// One thing that is wrong. `tensor` is empty for what concerns the whole header.
struct Fault {
  std::string tensor;
  std::string problem;  // "data_offsets [8, 4] run backwards"
  std::string fix;
};

struct Header {
  std::vector<Tensor> tensors;                                // by `begin`
  std::vector<std::pair<std::string, std::string>> metadata;  // "__metadata__", in document order
  std::vector<Fault> faults;                                  // empty: every tensor above is sound
  /// Where the last tensor ends, from the end of the header.
  std::uint64_t data_bytes = 0;
};

/// Bits of one element, or nothing for a type that the format does not have.
std::optional<unsigned> bits_of(std::string_view dtype);

/// Elements of a tensor; nothing when the product does not fit 64 bits.
std::optional<std::uint64_t> elements_of(const Tensor& tensor);

/// The header's length from a file's first eight bytes. The error is a sentence: fewer than eight bytes, a length of
/// zero or beyond largest_header.
std::expected<std::uint64_t, std::string> header_length(std::string_view first_bytes);

/// Reads the header's text, all of it. `data_bytes`: how many bytes follow it in the file, when known. At most
/// `max_faults` are returned; tensors with faults are left out.
Header read_header(std::string_view text, std::optional<std::uint64_t> data_bytes, std::size_t max_faults = 100);

/// A whole file in memory: its header, and where the tensors' bytes begin. Touches no byte behind the header.
struct FileHeader {
  Header header;
  std::uint64_t data_at = 0;  // from the file's beginning; Tensor::begin and end count from here
};

/// A file that has no header has one fault and no tensors.
FileHeader read_file(std::string_view bytes, std::size_t max_faults = 100);

/// What a file of these tensors begins with: the length and the header, padded with blanks so that the tensors' bytes
/// begin at a multiple of eight. Orders the tensors by element size, the largest first, then by name, as the format's
/// own library does, and sets `begin` and `end`; their bytes follow in that order. The error is a sentence: an unknown
/// dtype, a shape that does not fit it, a name that stands twice.
std::expected<std::string, std::string> write_header(
    std::vector<Tensor>& tensors, const std::vector<std::pair<std::string, std::string>>& metadata = {});

}  // namespace stackgate::safetensors
