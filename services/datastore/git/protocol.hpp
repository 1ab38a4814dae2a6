// The requests and answers of Git's protocols that this process reads and makes itself; the rest is git's. Pure.
// gitprotocol-pack(5), gitprotocol-v2(5), gitprotocol-http(5); how git 2.39 spells them byte by byte.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/git/objects.hpp"

namespace stackgate::datastore::git {

enum class Service : std::uint8_t { upload_pack, receive_pack };
std::string_view to_string(Service service);  // "git-upload-pack"

struct ShownRef {
  std::string name;
  Oid oid;
  Oid peeled{};          // what an annotated tag stands for
  std::string symref{};  // the last target, where the reference is symbolic
};

/// What an advertisement shows.
struct RefList {
  std::optional<ShownRef> head;  // when it leads to a commit
  std::string unborn{};          // what HEAD names when that is not born
  std::vector<ShownRef> refs;    // sorted by name
};

/// The highest version that a Git-Protocol header asks for: 0, 1 or 2.
int protocol_version(std::string_view header);

/// Protocol 0. `capabilities` are those of the installed git without "symref=…". No "# service" line.
std::string advertise(Service service, const RefList& list, std::string_view capabilities);
/// The other way round, from what git itself has advertised. Nothing when it shows none.
std::optional<std::string> capabilities_of(std::string_view advertisement);
/// "# service=…" and a flush, before an advertisement of protocol 0 and 1.
std::string service_line(Service service);

struct LsRefs {
  bool peel = false, symrefs = false, unborn = false;
  std::vector<std::string> prefixes{};
};
enum class RequestKind : std::uint8_t { ls_refs, other, incomplete };
/// Whether the body of a request in protocol 2 is wholly an ls-refs that we understand; what we do not is git's.
RequestKind parse_ls_refs(std::string_view body, LsRefs& out);
std::string answer_ls_refs(const LsRefs& request, const RefList& list);

/// What a push wants to move, from the start of its body.
struct PushCommand {
  Oid before, after;  // all zeroes: made, deleted
  std::string reference;
};
enum class PushHead : std::uint8_t { whole, incomplete, bad };
/// Reads up to the flush behind the commands. `out` is empty for the probe "0000".
PushHead parse_push(std::string_view body, std::vector<PushCommand>& out);

}  // namespace stackgate::datastore::git
