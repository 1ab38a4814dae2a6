#include <fmt/format.h>

#include "services/datastore/git/child.hpp"
#include "services/datastore/git/identity_line.hpp"
#include "services/datastore/git/library.hpp"
#include "services/datastore/git/lock.hpp"
#include "services/datastore/git/names.hpp"
#include "services/datastore/git/pack_writer.hpp"
#include "services/datastore/git/reference.hpp"
#include "services/datastore/git/write.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

Expected<void> check_commit(const std::string& repository, const Oid& oid) {
  const auto handle = TRY(open_handle(repository));
  const auto id = TRY(commit_id(oid));
  if (!lookup_commit(handle.get(), id)) return git_error_of(Fault::missing, fmt::format("there is no commit {}", oid));
  return {};
}

Expected<Oid> current(const std::string& repository, const std::string& name) {
  const auto now = TRY(read_reference(repository, name));
  return now ? now->oid : Oid{};
}

/// Packed references are rewritten by git itself, which knows that dance best.
Expected<void> delete_reference(const std::string& repository, const std::string& name, std::string_view what) {
  const auto lock = TRY(WriterLock::share(repository));
  const auto now = TRY(current(repository, name));
  if (now.empty()) return git_error_of(Fault::missing, fmt::format("there is no {}", what));
  for (const std::string& file : {repository + "/packed-refs.lock", fmt::format("{}/{}.lock", repository, name)})
    remove_stale_lock(repository, file, &lock);
  const auto done = run_git(
      {.arguments = {"--git-dir=" + repository, "update-ref", "--no-deref", "-d", name, now}, .keep_fd = lock.fd()},
      {});
  if (done) return {};
  const auto after = current(repository, name);
  if (after && *after != now)
    return git_error_of(Fault::conflict, fmt::format("{} was moved by somebody else meanwhile: try again", what));
  return std::unexpected(done.error());
}

}  // namespace

Expected<void> create_branch(const std::string& repository_path, std::string_view name, const Oid& at, bool overwrite) {
  if (auto fault = fault_of_branch_name(name)) return git_error_of(Fault::invalid, std::move(*fault));
  TRY(check_commit(repository_path, at));
  const auto lock = TRY(WriterLock::share(repository_path));
  const std::string reference = fmt::format("refs/heads/{}", name);
  for (int attempt = 0;; ++attempt) {
    const auto before = TRY(current(repository_path, reference));
    if (!before.empty() && !overwrite)
      return git_error_of(Fault::exists, fmt::format("branch \"{}\" is there already", name));
    if (before == at) return {};
    const auto moved = move_reference(repository_path, reference, before, at, &lock);
    if (moved || moved.error().fault != Fault::conflict || attempt == 10) return moved;
  }
}

Expected<void> delete_branch(const std::string& repository_path, std::string_view name) {
  if (auto fault = fault_of_branch_name(name)) return git_error_of(Fault::invalid, std::move(*fault));
  const std::string reference = fmt::format("refs/heads/{}", name);
  const auto head = TRY(read_reference(repository_path, "HEAD"));
  if (head && head->symbolic == reference)
    return git_error_of(Fault::invalid,
                        fmt::format("branch \"{}\" is the default branch: make another one the default first", name));
  return delete_reference(repository_path, reference, fmt::format("branch \"{}\"", name));
}

Expected<void> create_tag(const std::string& repository_path, std::string_view name, const Oid& at,
                          std::string_view message, const Signature& tagger) {
  if (auto fault = fault_of_branch_name(name)) return git_error_of(Fault::invalid, std::move(*fault));
  TRY(check_commit(repository_path, at));
  const auto lock = TRY(WriterLock::share(repository_path));
  const std::string reference = fmt::format("refs/tags/{}", name);
  const auto before = TRY(current(repository_path, reference));
  const auto exists = [&] { return git_error_of(Fault::exists, fmt::format("tag \"{}\" is there already", name)); };
  if (!before.empty()) return exists();
  Oid target = at;
  if (!message.empty()) {
    PackWriter pack(repository_path);
    std::string text = fmt::format("object {}\ntype commit\ntag {}\ntagger {}\n\n", at, name, format_identity(tagger));
    for (const char c : message)
      if (c != '\0') text.push_back(c);
    if (!text.ends_with('\n')) text.push_back('\n');
    target = TRY(pack.add(ObjectType::tag, text));
    TRY(pack.finish());
  }
  const auto moved = move_reference(repository_path, reference, {}, target, &lock);
  if (!moved && moved.error().fault == Fault::conflict) return exists();
  return moved;
}

Expected<void> delete_tag(const std::string& repository_path, std::string_view name) {
  if (auto fault = fault_of_branch_name(name)) return git_error_of(Fault::invalid, std::move(*fault));
  return delete_reference(repository_path, fmt::format("refs/tags/{}", name), fmt::format("tag \"{}\"", name));
}

Expected<void> set_default_branch(const std::string& repository_path, std::string_view name) {
  if (auto fault = fault_of_branch_name(name)) return git_error_of(Fault::invalid, std::move(*fault));
  const auto lock = TRY(WriterLock::share(repository_path));
  return point_symbolic(repository_path, "HEAD", fmt::format("refs/heads/{}", name), &lock);
}

}  // namespace stackgate::datastore::git
