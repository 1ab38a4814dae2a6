// Any bytes as what a source of models may answer, or a volume may hold: a tree, a revision, an index of shards, a list
// of checksums, a manifest, the record of a part, a range. They are refused in words, or what is believed keeps its
// promises.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "services/puller/plan/listing.hpp"
#include "services/puller/plan/manifest.hpp"
#include "services/puller/plan/resume.hpp"
#include "services/puller/plan/selection.hpp"

using namespace stackgate::puller;

namespace {

void need(bool good) {
  if (!good) std::abort();
}

template <class T>
bool told(const Result<T>& result) {
  if (result) return true;
  const std::string words = sentence(result.error());
  need(!words.empty());
  for (const char c : words) need(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
  return false;
}

/// Joined to a directory it stays below it.
void need_safe(std::string_view path) {
  need(!path.empty() && path.front() != '/' && path.back() != '/');
  const std::string framed = "/" + std::string(path) + "/";
  for (const char* bad : {"/../", "/./", "//", "\\"}) need(!framed.contains(bad));
  need(path.find('\0') == std::string_view::npos);
}

void listings(std::string_view text) {
  auto tree = read_tree_page(text);
  const bool good = told(tree) && told(check_listing(*tree));
  if (good) {
    for (const RemoteFile& file : *tree) need_safe(file.path);
    const auto wanted = select(*tree, {});
    need(wanted.size() <= tree->size());
    if (const auto shards = read_shard_index(text)) (void)told(with_shards(*tree, wanted, *shards, {}));
  }
  const auto list = read_checksum_list(text);
  if (told(list))
    for (const RemoteFile& file : *list) need_safe(file.path), need(is_hex_of(file.sha256, 64));
  const auto shards = read_shard_index(text);
  if (told(shards))
    for (const std::string& shard : *shards) need_safe(shard);
}

void texts(std::string_view text) {
  if (const auto sha = read_revision(text); told(sha)) need(is_hex_of(*sha, 40));
  if (const auto model = read_model(text); told(model)) need_safe(model->repository);
  (void)told(read_profiles(text));
  if (const auto manifest = read_manifest(text)) {
    for (const ManifestFile& file : manifest->files) need_safe(file.path);
    need(read_manifest(write_manifest(*manifest)).has_value());
  }
  const PartRecord record = read_part_record(text);
  need(record.etag.find_first_of("\r\n") == std::string::npos);
}

/// The first line as Content-Range, the second as ETag, the rest as a pattern and what it is held against.
void heads(std::string_view text) {
  const std::string_view range = text.substr(0, text.find('\n'));
  const std::string_view rest = text.substr(std::min(range.size() + 1, text.size()));
  const RemoteFile file{.path = "m", .size = 100, .sha256 = std::string(64, 'a')};
  const auto body = body_of(file, 7, {.status = 206, .content_range = range, .etag = rest, .content_encoding = {}});
  if (told(body)) need(body->begins == 7 && body->size == 100);
  const std::string tag = strong_etag(rest);
  need(tag.find_first_of("\r\n") == std::string::npos);
  (void)matches(range.substr(0, 256), rest.substr(0, 1024));
  (void)told(Result<void>(std::unexpected(failure_of_call(text))));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  listings(text);
  texts(text);
  heads(text);
  return 0;
}
