#include "services/datastore/pages/content.hpp"

#include <algorithm>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::pages {
namespace content_detail {

lfs::Expected<Head> head_of_large(const Visit& visit, const Place& place, const git::Entry& entry, std::uint64_t most) {
  const auto file = TRY(find_large(visit, place, entry));
  const auto download = TRY(visit.backend().large_files.open(file));
  Head out{.size = file.size};
  out.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(most, file.size)));
  std::size_t have = 0;
  while (have < out.bytes.size()) {
    const auto got = TRY(download->read(std::span(out.bytes).subspan(have)));
    if (got == 0) break;
    have += got;
  }
  out.bytes.resize(have);
  return out;
}

}  // namespace content_detail

lfs::Expected<lfs::Stat> find_large(const Visit& visit, const Place& place, const git::Entry& entry) {
  const auto file = TRY(visit.backend().large_files.stat(place.repository.id, entry.lfs->oid));
  if (!file || file->size != entry.lfs->size)
    return std::unexpected(ServiceError{ServiceFault::missing,
                                        "the large file behind this pointer has not been uploaded to this repository"});
  return *file;
}

lfs::Expected<Head> read_head(const Visit& visit, const Place& place, const git::Entry& entry, std::uint64_t most) {
  if (entry.lfs) return content_detail::head_of_large(visit, place, entry, most);
  Head out{.size = entry.size};
  const auto done = place.git->stream_blob(entry.oid, [&](std::string_view bytes) {
    out.bytes += bytes.substr(0, static_cast<std::size_t>(most) - out.bytes.size());
    return out.bytes.size() < most;
  });
  if (!done && out.bytes.size() < std::min(most, entry.size)) return std::unexpected(done.error());
  return out;
}

bool is_binary(std::string_view bytes) { return bytes.substr(0, 8000).contains('\0'); }

std::optional<std::string_view> picture_type(std::string_view bytes) {
  using namespace std::string_view_literals;
  if (bytes.starts_with("\x89PNG\r\n\x1a\n"sv)) return "image/png";
  if (bytes.starts_with("\xff\xd8\xff"sv)) return "image/jpeg";
  if (bytes.starts_with("GIF87a"sv) || bytes.starts_with("GIF89a"sv)) return "image/gif";
  if (bytes.starts_with("RIFF"sv) && bytes.substr(0, 12).ends_with("WEBP"sv)) return "image/webp";
  return {};
}

std::string extension_of(std::string_view path) {
  const std::string_view name = file_name(path);
  const auto dot = name.rfind('.');
  return dot == std::string_view::npos || dot == 0 ? std::string() : ascii::to_lower(name.substr(dot + 1));
}

}  // namespace stackgate::datastore::pages
