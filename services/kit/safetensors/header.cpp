#include "services/kit/safetensors/header.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::safetensors {
namespace header_detail {

struct Dtype {
  std::string_view name;
  unsigned bits;
};
/// https://github.com/huggingface/safetensors, enum Dtype.
constexpr std::array<Dtype, 21> dtypes{
    {{"BOOL", 8},    {"F4", 4},      {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},    {"F8_E5M2", 8},
     {"F8_E4M3", 8}, {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16}, {"BF16", 16}, {"I32", 32},
     {"U32", 32},    {"F32", 32},    {"C64", 64},    {"F64", 64},    {"I64", 64}, {"U64", 64},  {"F8_E4M3FNUZ", 8}}};

class Reader {
 public:
  Reader(std::optional<std::uint64_t> data_bytes, std::size_t max_faults) : known_(data_bytes), max_(max_faults) {}

  Header read(std::string_view text) {
    json::Document document;
    const auto root = json::parse(text, document, {.max_depth = 8, .max_bytes = largest_header});
    if (!root) {
      fault({}, fmt::format("the header is no JSON: {} at byte {}", root.error().message, root.error().offset),
            "save the weights again with safetensors");
      return std::move(out_);
    }
    if (!root->is_object()) {
      fault({}, fmt::format("the header is {} instead of a JSON object", json::to_string(root->type())),
            "save the weights again with safetensors");
      return std::move(out_);
    }
    out_.tensors.reserve(root->members().size());
    for (const json::Member& member : root->members()) {
      if (member.key == "__metadata__")
        metadata(member.value);
      else
        tensor(member);
    }
    places();
    return std::move(out_);
  }

 private:
  void fault(std::string_view name, std::string problem, std::string fix) {
    if (out_.faults.size() < max_) out_.faults.push_back({std::string(name), std::move(problem), std::move(fix)});
  }

  void metadata(const json::Value& value) {
    if (!value.is_object()) return fault("__metadata__", "must be an object of texts", "remove it");
    for (const json::Member& member : value.members()) {
      if (!member.value.is_string())
        fault("__metadata__", fmt::format("\"{}\" is no text", member.key), "write texts only");
      else
        out_.metadata.emplace_back(member.key, member.value.string());
    }
  }

  /// A whole number from 0 to 2⁶³ − 1.
  static std::optional<std::uint64_t> whole(const json::Value& value) {
    if (!value.is_integer() || value.integer() < 0) return std::nullopt;
    return static_cast<std::uint64_t>(value.integer());
  }

  void tensor(const json::Member& member) {
    const std::string_view name = member.key;
    const json::Value& value = member.value;
    constexpr std::string_view again = "save the weights again with safetensors";
    if (!value.is_object())
      return fault(name, fmt::format("is {} instead of an object", json::to_string(value.type())), std::string(again));
    Tensor out{.name = std::string(name), .dtype = {}, .shape = {}};
    bool good = true;
    const auto wrong = [&](std::string problem, std::string fix) {
      fault(name, std::move(problem), std::move(fix));
      good = false;
    };
    for (const json::Member& field : value.members())
      if (field.key != "dtype" && field.key != "shape" && field.key != "data_offsets")
        wrong(fmt::format("has an unknown field \"{}\"", field.key), "keep dtype, shape and data_offsets");
    const json::Value* dtype = value.find("dtype");
    const auto bits = dtype == nullptr ? std::nullopt : bits_of(dtype->string());
    if (dtype == nullptr || !dtype->is_string())
      wrong("has no dtype", std::string(again));
    else if (!bits)
      wrong(fmt::format("has the unknown dtype \"{}\"", dtype->string()), "save it as F32, F16 or BF16");
    else
      out.dtype = dtype->string();
    read_shape(value.find("shape"), out, wrong);
    read_offsets(value.find("data_offsets"), out, wrong);
    if (good && bits) check_size(out, *bits, wrong);
    if (good) out_.tensors.push_back(std::move(out));
  }

  template <class Wrong>
  static void read_shape(const json::Value* shape, Tensor& out, Wrong& wrong) {
    if (shape == nullptr || !shape->is_array()) return wrong("has no shape", "write a list of whole numbers");
    for (const json::Value& item : shape->items()) {
      const auto size = whole(item);
      if (!size) return wrong("has a shape with something that is no whole number", "write a list of whole numbers");
      out.shape.push_back(*size);
    }
  }

  template <class Wrong>
  static void read_offsets(const json::Value* offsets, Tensor& out, Wrong& wrong) {
    if (offsets == nullptr || !offsets->is_array() || offsets->items().size() != 2)
      return wrong("has no data_offsets of two numbers", "save the weights again with safetensors");
    const auto begin = whole(offsets->items()[0]), end = whole(offsets->items()[1]);
    if (!begin || !end) return wrong("has data_offsets that are no whole numbers", "save the weights again");
    if (*begin > *end)
      return wrong(fmt::format("has data_offsets [{}, {}] that run backwards", *begin, *end), "save the weights again");
    out.begin = *begin;
    out.end = *end;
  }

  template <class Wrong>
  static void check_size(const Tensor& tensor, unsigned bits, Wrong& wrong) {
    const auto elements = elements_of(tensor);
    if (!elements || *elements > UINT64_MAX / bits)
      return wrong(fmt::format("has a shape [{}] whose size does not fit 64 bits", fmt::join(tensor.shape, ", ")),
                   "write the true shape");
    const std::uint64_t all_bits = *elements * bits;
    if (all_bits % 8 != 0)
      return wrong(fmt::format("holds {} elements of {} bits, which are no whole bytes", *elements, bits),
                   "write the true shape");
    if (all_bits / 8 != tensor.end - tensor.begin)
      wrong(fmt::format("takes {} bytes by dtype and shape, but data_offsets span {}", all_bits / 8,
                        tensor.end - tensor.begin),
            "write offsets that fit");
  }

  /// Without gaps, without overlaps, from 0 to the end of the file: what the format demands, and what keeps bytes that
  /// nobody looks at out of it.
  void places() {
    auto& tensors = out_.tensors;
    std::ranges::sort(tensors, [](const Tensor& a, const Tensor& b) {
      return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
    });
    std::uint64_t at = 0;
    const bool whole_list = out_.faults.empty();
    const Tensor* before = nullptr;
    for (const Tensor& tensor : tensors) {
      if (tensor.begin < at)
        fault(tensor.name, fmt::format("overlaps with \"{}\"", before->name), "give each tensor bytes of its own");
      else if (tensor.begin > at && whole_list)
        fault(tensor.name,
              fmt::format("begins at {}, {} bytes behind the tensor before it", tensor.begin, tensor.begin - at),
              "leave no gaps");
      if (tensor.end >= at) before = &tensor;
      at = std::max(at, tensor.end);
    }
    out_.data_bytes = at;
    if (known_ && at > *known_)
      fault(before->name, fmt::format("ends at byte {}, but only {} bytes of data follow the header", at, *known_),
            "upload the whole file");
    else if (known_ && at < *known_ && whole_list)
      fault({}, fmt::format("{} bytes follow the last tensor", *known_ - at), "leave nothing behind the last tensor");
  }

  std::optional<std::uint64_t> known_;
  std::size_t max_;
  Header out_;
};

}  // namespace header_detail

std::optional<unsigned> bits_of(std::string_view dtype) {
  const auto found = std::ranges::find(header_detail::dtypes, dtype, &header_detail::Dtype::name);
  return found == header_detail::dtypes.end() ? std::nullopt : std::optional(found->bits);
}

std::optional<std::uint64_t> elements_of(const Tensor& tensor) {
  std::uint64_t product = 1;
  for (const std::uint64_t size : tensor.shape)
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
  return product;
}

std::expected<std::uint64_t, std::string> header_length(std::string_view first_bytes) {
  if (first_bytes.size() < 8)
    return std::unexpected(fmt::format("has {} bytes, a safetensors file has 8 and more", first_bytes.size()));
  std::uint64_t length = 0;
  for (unsigned i = 8; i-- > 0;) length = length << 8U | static_cast<unsigned char>(first_bytes[i]);
  if (length == 0) return std::unexpected("says that its header has 0 bytes");
  if (length > largest_header)
    return std::unexpected(fmt::format("says that its header has {} bytes; the most is {}", length, largest_header));
  return length;
}

FileHeader read_file(std::string_view bytes, std::size_t max_faults) {
  constexpr std::uint64_t before = 8;
  FileHeader out;
  const auto length = header_length(bytes.substr(0, before));
  if (!length) {
    out.header.faults.push_back({{}, length.error(), "save the weights again with safetensors"});
  } else if (*length > bytes.size() - before) {
    out.header.faults.push_back(
        {{},
         fmt::format("has a header of {} bytes, of which {} are there", *length, bytes.size() - before),
         "take the whole file"});
  } else {
    out.data_at = before + *length;
    out.header = read_header(bytes.substr(before, *length), bytes.size() - out.data_at, max_faults);
  }
  return out;
}

Header read_header(std::string_view text, std::optional<std::uint64_t> data_bytes, std::size_t max_faults) {
  return header_detail::Reader(data_bytes, std::max<std::size_t>(max_faults, 1)).read(text);
}

}  // namespace stackgate::safetensors
