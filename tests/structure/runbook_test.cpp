// The runbook for operators against the reasons in the sources: each is in it, and nothing else is.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/paths.hpp"

namespace stackgate::structure {
namespace {

namespace fs = std::filesystem;
using Words = std::set<std::string>;

const fs::path runbook_top = test::source_dir();

/// Literals of the same form that are no reason of ours: states, types and reasons of conditions that are read, kinds,
/// words of other APIs.
constexpr std::string_view no_reasons =
    "Always Apply Bound ClusterIP Complete ConfigMap ContainerCannotRun ContainerCreating "
    "ContainersReady CreateContainerConfigError DependenciesReady EACCES ErrImageNeverPull ErrImagePull "
    "ErrInvalidImageName Failed False Gateway ImageInspectError InProgress "
    "LeaderWorkerSet Lost Never NotReady OOMKilled OnRootMismatch Opaque OptionalAPIs PATCH PVCCreated "
    "PathPrefix Pending PermissionError PersistentVolumeClaim PodInitializing PodScheduled Prefix Progressing "
    "ReadWriteMany ReadWriteOnce ReadWriteOncePod Ready Recreate RecreateGroupOnPodRestart "
    "ReferencesResolved RegistryUnavailable ReplicaFailure Resource Role RollingUpdate Running RuntimeDefault "
    "Secret Service ServiceAccount SignatureValidationFailed StartError Started Succeeded TCP True "
    "Unknown Update Utilization ";

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Words found_in(const std::string& text, const std::regex& pattern) {
  Words out;
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at) out.insert((*at)[1].str());
  return out;
}

Words capitalized_literals() {
  Words out;
  for (const char* folder : {"reconcile/status", "reconcile/plan", "reconcile/control", "services/kit/pod_problems"})
    for (const auto& entry : fs::recursive_directory_iterator(runbook_top / folder))
      if (entry.path().extension() == ".cpp" || entry.path().extension() == ".hpp")
        out.merge(found_in(text_of(entry.path()), std::regex("\"([A-Z][A-Za-z]+)\"")));
  return out;
}

Words words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

Words without(const Words& all, const Words& some) {
  Words out;
  std::ranges::set_difference(all, some, std::inserter(out, out.end()));
  return out;
}

TEST(Runbook, has_every_reason_of_the_sources_and_no_other) {
  const std::string guide = text_of(runbook_top / "chart/OPERATING.md");
  const auto at = guide.find("\n## Runbook\n");
  ASSERT_NE(at, std::string::npos);
  const Words told = found_in(guide.substr(at), std::regex("`([A-Z][A-Za-z]+)`"));
  const Words literals = capitalized_literals(), others = words_of(std::string(no_reasons));
  ASSERT_GT(literals.size(), 100U);
  EXPECT_THAT(without(without(literals, others), told), testing::IsEmpty())
      << "new reasons: give each a row in chart/OPERATING.md, or name it there among those that pass (or above, if it "
         "is no reason of a condition)";
  EXPECT_THAT(without(told, literals), testing::IsEmpty()) << "no source gives these reasons any more";
  EXPECT_THAT(without(others, literals), testing::IsEmpty()) << "no source has these words any more";
}

}  // namespace
}  // namespace stackgate::structure
