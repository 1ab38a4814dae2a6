// The lines of a commit, cut at places that the input chooses: the same lines wherever it is cut, and no path that
// leaves the repository.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

#include "services/datastore/git/names.hpp"
#include "services/datastore/hub/ndjson.hpp"
#include "services/datastore/lfs/attributes.hpp"

namespace {

using namespace stackgate::datastore::hub;
using stackgate::datastore::lfs::Attributes;
using stackgate::datastore::lfs::IgnoreList;
using stackgate::datastore::lfs::lfs_line;

std::vector<std::string> read_all(std::string_view text, std::size_t piece) {
  std::size_t at = 0;
  CommitLines lines(
      [&](std::span<char> space) -> std::expected<std::size_t, stackgate::http::BodyError> {
        const std::size_t count = std::min({piece, space.size(), text.size() - at});
        std::copy_n(text.data() + at, count, space.data());
        at += count;
        return count;
      },
      4096);
  std::vector<std::string> out;
  for (;;) {
    const auto line = lines.next();
    if (!line) {
      out.push_back("refused: " + line.error().message);
      return out;
    }
    if (!*line) return out;
    const CommitLine& l = **line;
    if (l.kind != CommitLine::Kind::header && stackgate::datastore::git::fault_of_path(l.path)) std::abort();
    if (l.content.size() > 4096) std::abort();
    // A line for a large file keeps exactly that file, whatever its name.
    if (l.kind == CommitLine::Kind::lfs_file && l.path.size() < 300 &&
        Attributes::parse(lfs_line(l.path)).in_lfs(l.path) != std::optional(true))
      std::abort();
    out.push_back(std::to_string(static_cast<int>(l.kind)) + l.path + "|" + l.content + l.summary + l.oid);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (read_all(text, 1U + data[0] % 64U) != read_all(text, 1U << 20U)) std::abort();
  (void)Attributes::parse(text).in_lfs("dir/some file.bin");
  (void)IgnoreList::parse(text).ignores("dir/some file.bin");
  return 0;
}
