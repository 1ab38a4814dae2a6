// pkt-lines and the requests made of them: whatever comes, lines stay inside the input and nothing loops.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "services/datastore/git/lfs_pointer.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/pkt_line.hpp"
#include "services/datastore/git/plain_clone.hpp"
#include "services/datastore/git/protocol.hpp"
#include "services/datastore/git/reference.hpp"

namespace git = stackgate::datastore::git;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string_view rest = text;
  for (;;) {
    const std::size_t before = rest.size();
    const git::Pkt line = git::next_pkt(rest);
    if (line.kind == git::Pkt::Kind::more || line.kind == git::Pkt::Kind::bad) {
      if (rest.size() != before) std::abort();
      break;
    }
    if (rest.size() + 4 > before) std::abort();
    if (line.kind == git::Pkt::Kind::data && line.payload.size() + 4 + rest.size() != before) std::abort();
  }
  git::LsRefs request;
  if (git::parse_ls_refs(text, request) == git::RequestKind::ls_refs) {
    git::RefList list;
    list.refs.push_back({"refs/heads/main", std::string(40, '1')});
    if (!git::answer_ls_refs(request, list).ends_with("0000")) std::abort();
  }
  // What becomes git's input and arguments holds nothing but ids.
  if (const auto clone = git::parse_plain_clone(text))
    for (const git::Oid& want : clone->wants)
      if (!git::is_oid(want)) std::abort();
  std::vector<git::PushCommand> commands;
  (void)git::parse_push(text, commands);
  (void)git::capabilities_of(text);
  (void)git::protocol_version(text);
  if (const auto target = git::parse_reference(text); target && target->oid.empty() == target->symbolic.empty())
    std::abort();
  if (!git::fault_of_path(text) && (text.find("..") == 0 || git::means_dot_git(text))) {
    if (text.starts_with("../") || git::means_dot_git(text)) std::abort();
  }
  (void)git::fault_of_branch_name(text);
  (void)git::parse_lfs_pointer(text);
  return 0;
}
