// Git processes of ours: clean environment, explicit settings, no hooks.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/datastore/git/objects.hpp"
#include "services/kit/subprocess/process.hpp"

namespace stackgate::datastore::git {

using Child = subprocess::Process;

struct ChildSpec {
  std::vector<std::string> arguments;          // after "git"
  std::vector<std::string> settings{};         // "name=value", over ours
  std::vector<std::string> environment{};      // "NAME=value", beside ours
  int keep_fd = -1;                            // inherited as descriptor 3: a lock that must outlive us
  std::chrono::milliseconds silence{600'000};  // without a byte in or out: killed
};

Expected<std::unique_ptr<Child>> start_git(const ChildSpec& spec);

/// Whether its words are that the disk is full.
bool is_out_of_space(const Child& child);

/// Runs to the end: standard output, at most `most` bytes. Fault::broken with git's own words when it failed.
Expected<std::string> run_git(const ChildSpec& spec, std::string_view input, std::size_t most = 16U << 20U);

}  // namespace stackgate::datastore::git
