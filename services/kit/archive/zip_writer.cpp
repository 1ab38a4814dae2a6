#include "services/kit/archive/zip_writer.hpp"

#include <utility>

#include "services/kit/archive/packing.hpp"

namespace stackgate::archive {

struct ZipWriter::Impl {
  explicit Impl(PackedTo to) : packing(std::move(to)) {
    archive_write_set_format_zip(packing.handle.get());
    packing.open(64 << 10);
  }
  Packing packing;
};

ZipWriter::ZipWriter(PackedTo to) : impl_(std::make_unique<Impl>(std::move(to))) {}
ZipWriter::~ZipWriter() = default;

std::expected<void, std::string> ZipWriter::begin(const std::string& name) {
  return impl_->packing.begin(name, [](archive_entry*) {});
}
std::expected<void, std::string> ZipWriter::data(std::string_view bytes) { return impl_->packing.data(bytes); }
std::expected<void, std::string> ZipWriter::finish() { return impl_->packing.finish(); }

}  // namespace stackgate::archive
