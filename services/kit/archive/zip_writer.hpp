// Files packed as a zip that every unzip takes, while they are written: sizes follow the content, so nothing is held
// but a block. No times, no owners. libarchive stays behind zip_writer.cpp.
#pragma once
#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "services/kit/archive/tar_gz_writer.hpp"

namespace stackgate::archive {

/// begin(), data() as often as needed, for each file; then finish(). After an error only the destructor may be called.
/// What was not finished is no whole archive. Not thread-safe.
class ZipWriter {
 public:
  explicit ZipWriter(PackedTo to);
  ~ZipWriter();
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  /// The name must be as clean_name() returns it.
  std::expected<void, std::string> begin(const std::string& name);
  std::expected<void, std::string> data(std::string_view bytes);
  std::expected<void, std::string> finish();

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace stackgate::archive
