#include "tests/datastore/git/real_git_support.hpp"

#include <cstdio>
#include <stdexcept>

namespace stackgate::datastore::git::test {

std::string shell(const std::string& command) {
  FILE* pipe = ::popen(("set -e; export HOME=/nonexistent GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=T GIT_AUTHOR_EMAIL=t@t "
                        "GIT_COMMITTER_NAME=T GIT_COMMITTER_EMAIL=t@t GIT_AUTHOR_DATE='1700000000 +0000' "
                        "GIT_COMMITTER_DATE='1700000000 +0000'; " +
                        command)
                           .c_str(),
                       "r");
  if (pipe == nullptr) throw std::runtime_error("popen");
  std::string out;
  char piece[4096];
  for (std::size_t got = 0; (got = std::fread(piece, 1, sizeof piece, pipe)) > 0;) out.append(piece, got);
  if (::pclose(pipe) != 0) throw std::runtime_error(command + " failed: " + out);
  return out;
}

std::string shell_git(const std::string& directory, const std::string& arguments) {
  std::string out = shell("git -c safe.directory='*' -C '" + directory + "' " + arguments);
  while (out.ends_with('\n')) out.pop_back();
  return out;
}

Oid commit_files(const std::string& repository, const std::vector<Put>& files, const std::string& branch,
                 const std::string& message) {
  std::vector<Change> changes;
  for (const Put& file : files) changes.push_back({Change::Kind::put, file.path, file.content});
  CommitRequest request{
      branch, message, {"Ann", "ann@example.org", 1'700'000'000, 60}, {"Ann", "ann@example.org", 1'700'000'000, 60}};
  const auto done = commit_changes(repository, request, changes);
  if (!done) throw std::runtime_error(done.error().message);
  return done->oid;
}

Fresh::Fresh(const std::string& branch) {
  if (const auto made = create_repository(path, branch); !made) throw std::runtime_error(made.error().message);
}

}  // namespace stackgate::datastore::git::test
