#include "services/kit/archive/tar_gz_writer.hpp"

#include <utility>

#include <fmt/format.h>

#include "services/kit/archive/packing.hpp"

namespace stackgate::archive {

struct TarGzWriter::Impl {
  Impl(PackedTo to, int level) : packing(std::move(to)) {
    ::archive* const tar = packing.handle.get();
    archive_write_add_filter_gzip(tar);
    archive_write_set_filter_option(tar, "gzip", "compression-level", std::to_string(level).c_str());
    archive_write_set_filter_option(tar, "gzip", "timestamp", nullptr);
    // GNU's dialect takes names as bytes; for pax libarchive converts them from the locale's encoding, and crashes in
    // C.
    archive_write_set_format_gnutar(tar);
    packing.open(128 << 10);
  }
  Packing packing;
  std::string name;
  std::uint64_t left = 0;  // bytes of the open file
};

TarGzWriter::TarGzWriter(PackedTo to, int level) : impl_(std::make_unique<Impl>(std::move(to), level)) {}
TarGzWriter::~TarGzWriter() = default;
TarGzWriter::TarGzWriter(TarGzWriter&&) noexcept = default;
TarGzWriter& TarGzWriter::operator=(TarGzWriter&&) noexcept = default;

std::expected<void, std::string> TarGzWriter::begin(const Entry& entry) {
  impl_->name = entry.name;
  impl_->left = entry.size;
  return impl_->packing.begin(entry.name, [&](archive_entry* header) {
    archive_entry_set_mtime(header, 0, 0);
    archive_entry_set_size(header, static_cast<la_int64_t>(entry.size));
  });
}

std::expected<void, std::string> TarGzWriter::data(std::string_view bytes) {
  if (bytes.size() > impl_->left)
    return std::unexpected(fmt::format("\"{}\" has more bytes than it was begun with", impl_->name));
  impl_->left -= bytes.size();
  return impl_->packing.data(bytes);
}

std::expected<void, std::string> TarGzWriter::end() {
  if (impl_->left > 0)
    return std::unexpected(fmt::format("\"{}\" ends {} bytes before its size", impl_->name, impl_->left));
  return impl_->packing.check(archive_write_finish_entry(impl_->packing.handle.get()) == ARCHIVE_OK);
}

std::expected<void, std::string> TarGzWriter::finish() { return impl_->packing.finish(); }

}  // namespace stackgate::archive
