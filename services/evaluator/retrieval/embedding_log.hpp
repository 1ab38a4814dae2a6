// Vectors as they come from an endpoint, appended to a file, so that a restart embeds nothing twice. What was torn by a
// crash is left out when it is read. Whoever has it open has it alone, among threads and processes; it belongs to one
// thread. Errors are sentences.
//
//   "SGEMBED1", dimension (4 bytes); then for each batch: how many vectors (4), the vectors, FNV-1a of both (8)
#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/files/file.hpp"

namespace stackgate::evaluator {

class EmbeddingLog {
 public:
  /// Goes on with what is there; another beginning than a log's is thrown away. Waits while another has it open, until
  /// `stop`, which is asked a few times a second.
  static std::expected<EmbeddingLog, std::string> open(const std::string& path, const std::function<bool()>& stop = {});

  std::uint64_t size() const { return size_; }            // vectors
  std::uint32_t dimension() const { return dimension_; }  // 0: none yet
  /// All of them, a batch at a time, in order. False from `take` ends it.
  std::expected<void, std::string> read(
      const std::function<bool(std::uint64_t first, std::span<const float> vectors)>& take) const;
  /// Of the log's dimension, or the first ones.
  std::expected<void, std::string> append(std::uint32_t dimension, std::span<const float> vectors);
  /// Once the vectors are somewhere else.
  void remove();

 private:
  EmbeddingLog(std::string path, files::File file) : path_(std::move(path)), file_(std::move(file)) {}
  std::uint64_t whole_bytes(std::span<const std::byte> bytes);

  std::string path_;
  files::File file_;
  std::uint64_t size_ = 0;
  std::uint32_t dimension_ = 0;
};

}  // namespace stackgate::evaluator
