#include "services/datastore/git/push.hpp"

#include <set>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "services/datastore/git/names.hpp"
#include "services/datastore/git/reference.hpp"
#include "services/datastore/git/write.hpp"
#include "services/kit/files/file.hpp"

namespace stackgate::datastore::git {
namespace {

constexpr std::string_view push_zero = "0000000000000000000000000000000000000000";
constexpr std::string_view heads = "refs/heads/";

}  // namespace

void clear_way(const std::string& repository, const std::vector<PushCommand>& commands, const WriterLock& own) {
  const auto clear = [&](const std::string& path) {
    struct stat about{};
    if (::stat(path.c_str(), &about) == 0) remove_stale_lock(repository, path, &own);
  };
  for (const PushCommand& command : commands)
    if (is_reference_name(command.reference)) clear(fmt::format("{}/{}.lock", repository, command.reference));
  clear(repository + "/packed-refs.lock");
}

Pushed settle_push(const std::string& repository, const std::vector<PushCommand>& commands) {
  Pushed out;
  std::set<std::string> folders{repository + "/objects/pack", repository};
  std::string first_branch;
  for (const PushCommand& command : commands) {
    if (!is_reference_name(command.reference)) continue;
    const auto now = read_reference(repository, command.reference);
    const bool deleted = command.after == push_zero;
    if (!now || (*now ? (*now)->oid != command.after : !deleted)) continue;
    ++out.moved;
    folders.insert(fmt::format("{}/{}", repository, command.reference.substr(0, command.reference.rfind('/'))));
    if (!deleted && command.reference.starts_with(heads) && (first_branch.empty() || command.reference < first_branch))
      first_branch = command.reference;
  }
  if (out.moved == 0) return out;
  if (commands.size() > many_references) {
    const files::File top(::open(repository.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (top) ::syncfs(top.fd());
  } else {
    for (const std::string& folder : folders) files::sync_directory(folder);
  }
  if (first_branch.empty()) return out;
  const auto head = read_reference(repository, "HEAD");
  if (!head || !*head || (*head)->symbolic.empty()) return out;
  const auto born = read_reference(repository, (*head)->symbolic);
  if (!born || *born) return out;
  std::string name = first_branch.substr(heads.size());
  if (set_default_branch(repository, name)) out.new_default = std::move(name);
  return out;
}

}  // namespace stackgate::datastore::git
