#include <map>
#include <queue>
#include <set>

#include "services/datastore/git/repository_impl.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {

/// Commits backwards, newest first, each once. What goes on behind a commit is the caller's choice.
struct Repository::Impl::HistoryWalk {
  struct Waiting {
    git_time_t when;
    std::size_t order;  // among equals: first come
    git_oid id;
    bool operator<(const Waiting& other) const { return when != other.when ? when < other.when : order > other.order; }
  };
  Impl& repository;
  std::priority_queue<Waiting> queue{};
  std::set<std::string> seen{};
  std::map<std::string, CommitHandle> held{};

  std::map<std::string, git_oid> places{};  // commit → what stands at the path asked for

  bool out_of_time() {
    if (repository.deadline && std::chrono::steady_clock::now() > *repository.deadline) repository.out_of_time = true;
    return repository.out_of_time;
  }

  static std::string key(const git_oid& id) { return {reinterpret_cast<const char*>(id.id), GIT_OID_RAWSZ}; }

  Expected<const git_commit*> get(const git_oid& id) {
    auto& kept = held[key(id)];
    if (!kept) {
      kept = TRY(repository.commit_at(id));
    }
    return kept.get();
  }
  Expected<void> push(const git_oid& id) {
    if (!seen.insert(key(id)).second) return {};
    const auto commit = TRY(get(id));
    queue.push({git_commit_time(commit), seen.size(), id});
    return {};
  }
  CommitHandle pop() {
    const std::string name = key(queue.top().id);
    queue.pop();
    CommitHandle out = std::move(held[name]);
    held.erase(name);
    return out;
  }
  Expected<void> push_parents(const git_commit& commit) {
    for (unsigned i = 0; i < git_commit_parentcount(&commit); ++i) TRY(push(*git_commit_parent_id(&commit, i)));
    return {};
  }
  /// The same for a commit; found once, as a parent, and kept until it is a commit's turn itself.
  Expected<git_oid> at(const git_commit& commit, const std::string& path) {
    const std::string name = key(*git_commit_id(&commit));
    if (const auto known = places.find(name); known != places.end()) return known->second;
    auto found = at(*git_commit_tree_id(&commit), path);
    if (found) places.emplace(name, *found);
    return found;
  }
  /// What stands at a path in a commit's tree; all zeroes for nothing.
  Expected<git_oid> at(const git_oid& tree, const std::string& path) {
    if (path.empty()) return tree;
    const auto root = TRY(repository.tree_at(tree));
    const auto entry = entry_at(root.get(), path);
    if (!entry) return git_oid{};
    // The mode counts as well: a file that becomes executable has changed.
    git_oid out = *git_tree_entry_id(entry.get());
    const bool executable = git_tree_entry_filemode(entry.get()) == GIT_FILEMODE_BLOB_EXECUTABLE;
    out.id[0] = static_cast<unsigned char>(out.id[0] ^ (executable ? 1 : 0));
    return out;
  }
};

void Repository::set_deadline(std::chrono::steady_clock::time_point deadline) { impl_->deadline = deadline; }
bool Repository::out_of_time() const { return impl_->out_of_time; }

Expected<std::vector<Commit>> Repository::log(const Oid& commit, std::string_view path, std::size_t skip,
                                              std::size_t limit) {
  const auto start = TRY(commit_id(commit));
  Impl::HistoryWalk walk{*impl_};
  TRY(walk.push(start));
  const std::string where(path);
  std::vector<Commit> out;
  while (!walk.queue.empty() && out.size() < limit && !walk.out_of_time()) {
    const CommitHandle at = walk.pop();
    bool shown = true;
    if (!where.empty()) {
      // git log's own simplification: a parent that has the same is all that matters.
      const auto here = TRY(walk.at(*at, where));
      shown = git_commit_parentcount(at.get()) > 0 || !git_oid_is_zero(&here);
      std::optional<git_oid> same;
      for (unsigned i = 0; i < git_commit_parentcount(at.get()) && !same; ++i) {
        const git_oid& id = *git_commit_parent_id(at.get(), i);
        const auto parent = TRY(impl_->commit_at(id));
        const auto there = TRY(walk.at(*parent, where));
        if (git_oid_cmp(&here, &there) == 0) same = id;
      }
      walk.places.erase(Impl::HistoryWalk::key(*git_commit_id(at.get())));
      if (same) {
        TRY(walk.push(*same));
        continue;
      }
    }
    if (shown) {
      if (skip > 0) {
        --skip;
      } else {
        out.push_back(to_commit(*at));
      }
    }
    TRY(walk.push_parents(*at));
  }
  return out;
}

Expected<std::size_t> Repository::count_commits(const Oid& commit, std::size_t at_most) {
  const auto start = TRY(commit_id(commit));
  Impl::HistoryWalk walk{*impl_};
  TRY(walk.push(start));
  std::size_t count = 0;
  while (!walk.queue.empty() && count < at_most && !walk.out_of_time()) {
    ++count;
    TRY(walk.push_parents(*walk.pop()));
  }
  return count;
}

Expected<std::vector<std::pair<std::string, Commit>>> Repository::last_commits(const Oid& commit,
                                                                               std::string_view folder,
                                                                               const std::vector<std::string>& names,
                                                                               std::size_t at_most) {
  const auto start = TRY(commit_id(commit));
  Impl::HistoryWalk walk{*impl_};
  TRY(walk.push(start));
  const std::string where(folder);
  std::map<std::string, std::set<std::size_t>> wanted;  // commit → names whose last change lies there or behind
  for (std::size_t i = 0; i < names.size(); ++i) wanted[Impl::HistoryWalk::key(start)].insert(i);
  std::map<std::size_t, Commit> found;

  // Nothing for a folder that is not there.
  const auto folder_of = [&](const git_commit& of) -> Expected<TreeHandle> {
    auto root = impl_->tree_at(*git_commit_tree_id(&of));
    if (!root || where.empty()) return root;
    const auto entry = entry_at(root->get(), where);
    if (!entry || git_tree_entry_type(entry.get()) != GIT_OBJECT_TREE) return TreeHandle{};
    return impl_->tree_at(*git_tree_entry_id(entry.get()));
  };
  const auto same_in = [&](std::size_t name, const TreeHandle& a, const TreeHandle& b) {
    const git_tree_entry* left = a ? git_tree_entry_byname(a.get(), names[name].c_str()) : nullptr;
    const git_tree_entry* right = b ? git_tree_entry_byname(b.get(), names[name].c_str()) : nullptr;
    if (left == nullptr || right == nullptr) return left == right;
    return git_oid_cmp(git_tree_entry_id(left), git_tree_entry_id(right)) == 0 &&
           git_tree_entry_filemode(left) == git_tree_entry_filemode(right);
  };

  for (std::size_t looked = 0;
       !walk.queue.empty() && looked < at_most && found.size() < names.size() && !walk.out_of_time(); ++looked) {
    const CommitHandle at = walk.pop();
    std::set<std::size_t> pending = std::move(wanted[Impl::HistoryWalk::key(*git_commit_id(at.get()))]);
    wanted.erase(Impl::HistoryWalk::key(*git_commit_id(at.get())));
    std::erase_if(pending, [&](std::size_t name) { return found.contains(name); });
    if (pending.empty()) continue;
    const auto here = TRY(folder_of(*at));
    for (unsigned i = 0; i < git_commit_parentcount(at.get()) && !pending.empty(); ++i) {
      const git_oid& id = *git_commit_parent_id(at.get(), i);
      const auto parent = TRY(impl_->commit_at(id));
      const auto there = TRY(folder_of(*parent));
      const bool alike = here && there && git_oid_cmp(git_tree_id(here.get()), git_tree_id(there.get())) == 0;
      std::set<std::size_t> passed;
      for (const std::size_t name : pending)
        if (alike || same_in(name, here, there)) passed.insert(name);
      if (passed.empty()) continue;
      for (const std::size_t name : passed) pending.erase(name);
      wanted[Impl::HistoryWalk::key(id)].merge(passed);
      TRY(walk.push(id));
    }
    for (const std::size_t name : pending)
      if (here && git_tree_entry_byname(here.get(), names[name].c_str()) != nullptr)
        found.emplace(name, to_commit(*at));
  }
  std::vector<std::pair<std::string, Commit>> out;
  out.reserve(found.size());
  for (auto& [name, last] : found) out.emplace_back(names[name], std::move(last));
  return out;
}

}  // namespace stackgate::datastore::git
