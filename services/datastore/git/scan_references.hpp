// Reads HEAD, packed-refs and everything below refs/, with the marks by which a later change can be told.
#pragma once
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "services/datastore/git/objects.hpp"
#include "services/datastore/git/protocol.hpp"

namespace stackgate::datastore::git {

/// What stat(2) says of a file or folder; all zeroes when there is none.
struct Mark {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t modified = 0, changed = 0;  // nanoseconds since 1970
  bool operator==(const Mark&) const = default;
};
Mark mark_of(const std::string& path);

/// What an object id has turned out to be; objects do not change.
struct Facts {
  Oid peeled{};
};
using FactsById = std::unordered_map<std::string, Facts>;

struct Scan {
  RefList list;
  std::vector<std::pair<std::string, Mark>> marks;  // taken before reading
  bool unusual = false;                             // git must answer; `list` is of no use
};

/// `known` is used and added to.
Expected<Scan> scan_references(const std::string& repository, FactsById& known);
/// Whether everything still looks as it did.
bool still_so(const Scan& scan);
/// Whether a change now could leave the same marks as those of `scan`, because clocks are coarse.
bool too_young(const Scan& scan, std::int64_t now_ns);

}  // namespace stackgate::datastore::git
