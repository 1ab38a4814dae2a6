// The real git as the judge.
#pragma once
#include <string>
#include <vector>

#include "services/datastore/git/write.hpp"
#include "tests/support/temp_dir.hpp"

namespace stackgate::datastore::git::test {

/// `git <arguments>` through the shell, in `directory`; standard output. Throws when it fails.
std::string shell_git(const std::string& directory, const std::string& arguments);
/// The same for any command.
std::string shell(const std::string& command);

struct Put {
  std::string path, content;
};
/// A commit on `branch`; returns its id. Throws with the error's message.
Oid commit_files(const std::string& repository, const std::vector<Put>& files, const std::string& branch = "main",
                 const std::string& message = "change");

/// A repository that lives as long as the test.
struct Fresh {
  stackgate::test::TempDir folder;
  std::string path = folder / "it.git";
  explicit Fresh(const std::string& branch = "main");
};

}  // namespace stackgate::datastore::git::test
