#include "services/datastore/git/plain_clone.hpp"

#include <algorithm>

#include "services/datastore/git/names.hpp"
#include "services/datastore/git/pkt_line.hpp"

namespace stackgate::datastore::git {
namespace plain_clone_detail {

constexpr char pack_band = 1, error_band = 3;

void append_band(std::string& out, char band, std::string_view bytes) {
  static constexpr std::string_view digits = "0123456789abcdef";
  const std::size_t size = bytes.size() + 5;
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += digits[(size >> shift) & 15U];
  out += band;
  out += bytes;
}

bool take_argument(std::string_view text, PlainClone& out, bool& quiet, bool& done) {
  if (constexpr std::string_view want = "want "; text.starts_with(want)) {
    const std::string_view oid = text.substr(want.size());
    if (!is_oid(oid)) return false;
    out.wants.emplace_back(oid);
    return true;
  }
  for (const auto& [name, seen] : {std::pair{"thin-pack", &out.thin},
                                   {"ofs-delta", &out.offsets},
                                   {"include-tag", &out.tags},
                                   {"no-progress", &quiet},
                                   {"done", &done}})
    if (text == name) return *seen = true;
  return false;
}

}  // namespace plain_clone_detail

std::optional<PlainClone> parse_plain_clone(std::string_view body) {
  enum class Part : std::uint8_t { command, capabilities, arguments } part = Part::command;
  PlainClone out;
  bool quiet = false, done = false;
  for (;;) {
    const Pkt line = next_pkt(body);
    if (line.kind == Pkt::Kind::flush && part == Part::arguments) break;
    if (line.kind == Pkt::Kind::delimiter && part == Part::capabilities) {
      part = Part::arguments;
      continue;
    }
    if (line.kind != Pkt::Kind::data) return std::nullopt;
    const std::string_view text = chomp(line.payload);
    if (part == Part::command) {
      if (text != "command=fetch") return std::nullopt;
      part = Part::capabilities;
    } else if (part == Part::capabilities) {
      if (!text.starts_with("agent=") && text != "object-format=sha1") return std::nullopt;
    } else if (!plain_clone_detail::take_argument(text, out, quiet, done)) {
      return std::nullopt;
    }
  }
  if (!body.empty() || !quiet || !done || out.wants.empty()) return std::nullopt;
  return out;
}

std::vector<std::string> pack_arguments(const std::string& repository, const PlainClone& clone) {
  std::vector<std::string> out{"--git-dir=" + repository, "pack-objects", "--revs", "--stdout"};
  if (clone.thin) out.emplace_back("--thin");
  if (clone.offsets) out.emplace_back("--delta-base-offset");
  if (clone.tags) out.emplace_back("--include-tag");
  return out;
}

std::string pack_revisions(const PlainClone& clone) {
  std::string out;
  for (const Oid& each : clone.wants) out += each + "\n";
  return out + "--not\n\n";
}

void PackSection::add(std::string& answer, std::string_view piece) {
  constexpr std::size_t most = pkt_most - 5;
  if (!begun_) append_pkt(answer, "packfile\n");
  begun_ = true;
  do {
    plain_clone_detail::append_band(answer, plain_clone_detail::pack_band, piece.substr(0, most));
    piece.remove_prefix(std::min(piece.size(), most));
  } while (!piece.empty());
}

void PackSection::end(std::string& answer, bool well) {
  if (!well)
    plain_clone_detail::append_band(answer, plain_clone_detail::error_band,
                                    "the pack could not be finished; the server's log says why\n");
  answer += pkt_flush;
}

}  // namespace stackgate::datastore::git
