#include "services/datastore/git/child.hpp"

#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "services/datastore/git/library.hpp"
#include "services/kit/base/out_of_space.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

/// The same for every call; a repository's own configuration file cannot overrule the command line.
constexpr std::array settings{
    "safe.directory=*",  // the path comes from a record; the volume may belong to another user
    "core.hooksPath=/dev/null",
    "core.fsync=committed,pack-metadata,reference",
    "core.fsyncMethod=fsync",
    "core.bigFileThreshold=32m",  // larger files are neither held in memory nor searched for deltas
    "pack.windowMemory=64m",
    "gc.auto=0",
    "maintenance.auto=false",
    "receive.autogc=false",
    "receive.unpackLimit=1",  // one pack, synced once, instead of a synced file for each object
    "receive.fsckObjects=true",
    "receive.fsck.missingSpaceBeforeDate=warn",  // faults of old tools that long histories have
    "receive.fsck.zeroPaddedFilemode=warn",
    "receive.fsck.badTimezone=warn",
    "receive.denyCurrentBranch=ignore",
    "receive.advertisePushOptions=false",
    "uploadpack.allowFilter=true",
    "uploadpack.allowAnySHA1InWant=true",  // what protocol 2 grants anyway
};

std::vector<std::string> clean_environment(const std::vector<std::string>& more) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> out{fmt::format("PATH={}", path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path),
                               "HOME=/nonexistent",
                               "XDG_CONFIG_HOME=/nonexistent",
                               "GIT_CONFIG_NOSYSTEM=1",
                               "GIT_CONFIG_GLOBAL=/dev/null",
                               "GIT_TERMINAL_PROMPT=0",
                               "LC_ALL=C"};
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

}  // namespace

Expected<std::unique_ptr<Child>> start_git(const ChildSpec& spec) {
  std::vector<std::string> words{"git"};
  const auto set = [&words](std::string_view setting) {
    words.emplace_back("-c");
    words.emplace_back(setting);
  };
  for (const char* each : settings) set(each);
  for (const std::string& each : spec.settings) set(each);
  words.insert(words.end(), spec.arguments.begin(), spec.arguments.end());
  auto child = Child::start({.arguments = std::move(words),
                             .environment = clean_environment(spec.environment),
                             .keep_fd = spec.keep_fd,
                             .silence = spec.silence});
  if (!child) return system_error(child.error().number, "git cannot be started");
  return std::move(*child);
}

bool is_out_of_space(const Child& child) { return reports_out_of_space(child.errors()); }

Expected<std::string> run_git(const ChildSpec& spec, std::string_view input, std::size_t most) {
  auto child = TRY(start_git(spec));
  std::string out;
  const auto take = [&](std::string_view piece) {
    out.append(piece);
    return out.size() <= most;
  };
  const auto name = spec.arguments.empty() ? std::string("git") : "git " + spec.arguments.front();
  if (child->feed(input, take) == Child::Fed::failed) return git_error_of(Fault::broken, name + " was stopped");
  child->close_input();
  if (!child->drain(take)) return git_error_of(Fault::broken, name + " was stopped: too slow, or too much to say");
  if (const int status = child->wait(); status != 0) {
    return git_error_of(is_out_of_space(*child) ? Fault::full : Fault::broken,
                        fmt::format("{} ended with {}: {}", name, status, child->errors()));
  }
  return out;
}

}  // namespace stackgate::datastore::git
