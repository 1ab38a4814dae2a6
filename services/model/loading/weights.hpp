// The weights of a model, mapped: as the files have them, shared with other processes, fetched when they are used.
#pragma once
#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "services/kit/files/mapped_file.hpp"
#include "services/model/directory/model_directory.hpp"

namespace stackgate::model {

/// A const Weights may be read by any number of threads; kit/files/mapped_file.hpp says what happens to a file that is
/// written to meanwhile.
class Weights {
 public:
  /// Maps the files of `model`, which load_directory() made of `directory`, and asks the kernel to read them. The
  /// finding: a file that is not there any more, or has become shorter.
  static std::expected<Weights, validate::Finding> map(const std::string& directory, const ModelDirectory& model);

  /// Of a tensor of that model; valid as long as this object lives. Look at its offset before taking the bytes for
  /// floats: they need not be aligned.
  std::span<const std::byte> bytes(const StoredTensor& tensor) const {
    return files_[tensor.file].bytes().subspan(tensor.place.offset, tensor.place.bytes);
  }
  std::uint64_t mapped_bytes() const;

 private:
  std::vector<files::MappedFile> files_;
};

}  // namespace stackgate::model
