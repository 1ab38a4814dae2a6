// The commonest fetch of all, answered by one `git pack-objects` instead of a `git upload-pack` that starts it: a
// client that has nothing takes everything below some references and wants no progress reported. gitprotocol-v2(5),
// "fetch". Pure.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

struct PlainClone {
  std::vector<Oid> wants{};
  bool thin = false, offsets = false, tags = false;
};
/// The body of a request in protocol 2. Nothing for whatever else may be asked (have, filter, deepen …): that is git's.
std::optional<PlainClone> parse_plain_clone(std::string_view body);

/// After "git".
std::vector<std::string> pack_arguments(const std::string& repository, const PlainClone& clone);
/// Its standard input.
std::string pack_revisions(const PlainClone& clone);

/// The section "packfile" of the answer, made while the pack comes.
class PackSection {
 public:
  /// An empty piece is what upload-pack sends to keep a waiting client alive.
  void add(std::string& answer, std::string_view piece);
  /// When pack-objects has ended.
  static void end(std::string& answer, bool well);

 private:
  bool begun_ = false;
};

}  // namespace stackgate::datastore::git
