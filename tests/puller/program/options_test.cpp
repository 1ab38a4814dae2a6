#include "services/puller/program/options.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/reconcile/plan/planned_settings.hpp"

namespace stackgate::puller {
namespace options_tests {

using reconcile::tests::Environment;

Environment planned(std::string_view patch, bool from_full = false) {
  using namespace reconcile::tests;
  constexpr crds::Kind kind = crds::Kind::inference_cache;
  return environment_of(plan_of(from_full ? full(kind, patch) : minimal(kind, patch)), "Job");
}

const char* const datastore =
    "spec: {source: {registry: null, datastore: {endpoint: 'http://datastore:8000', repository: team/llm, revision: "
    "v1, "
    "authSecret: s}}}";

Asked asked(const Environment& environment, const std::vector<const char*>& flags = {}) {
  const auto read = reconcile::tests::read_settings(program(), environment, flags);
  Asked out = asked_of(read.values);
  for (const auto& finding : read.findings) out.findings.push_back(finding);
  return out;
}

/// What libcurl and OpenSSL read, not we.
const std::set<std::string> of_libraries{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy",
                                         "NO_PROXY",   "no_proxy",   "SSL_CERT_DIR"};
/// Set by people at a command line, or by the customizer: the plan has no field for them.
const std::set<std::string> of_people{
    "STACKGATE_PULL_INCLUDE",    "STACKGATE_PULL_EXCLUDE",       "STACKGATE_REGISTRY_ENDPOINT",
    "STACKGATE_DATASTORE_URL",   "STACKGATE_PULL_DIRECTORY_URL", "STACKGATE_PULL_CA_FILE",
    "STACKGATE_PULL_PARALLEL",   "STACKGATE_PULL_VERIFY",        "STACKGATE_PULL_CHECKSUM_LIST",
    "STACKGATE_TERMINATION_LOG", "STACKGATE_LOG_LEVEL",          "STACKGATE_LOG_FORMAT",
    "STACKGATE_PULL_KIND"};

/// The customizer's: tests/customizer/objects holds them against its plan.
const std::set<std::string> of_uploads{"STACKGATE_UPLOAD_URL", "STACKGATE_UPLOAD_ARCHIVE", "STACKGATE_UPLOAD_METADATA",
                                       "STACKGATE_UPLOAD_WAIT"};

TEST(PullerOptions, AndTheOperatorsPlanAreOneList) {
  std::set<std::string> given, read;
  for (const Environment& each :
       {planned("{}", true), planned("spec: {source: {registry: {model: {profiles: [a/b]}}}}"), planned(datastore)})
    for (const auto& [name, value] : each)
      if (!of_libraries.contains(name)) given.insert(name);
  for (const settings::Setting& setting : program().settings) {
    const std::string name = settings::variable_of(setting);
    if (name != settings::no_variable && !of_people.contains(name) && !of_uploads.contains(name)) read.insert(name);
  }
  EXPECT_EQ(given, read) << "the variables of the Job, and those that the program reads";
  EXPECT_TRUE(given.contains("REGISTRY_API_KEY"));
  EXPECT_TRUE(given.contains("STACKGATE_NAMESPACE"));
}

TEST(PullerOptions, APlannedJobIsUnderstood) {
  const Asked from_datastore = asked(planned(datastore));
  EXPECT_TRUE(from_datastore.findings.empty());
  EXPECT_EQ(from_datastore.pull.source.base, "http://datastore:8000/v1/hf");
  EXPECT_EQ(from_datastore.pull.source.model.repository, "team/llm");
  EXPECT_EQ(from_datastore.pull.source.model.revision, "v1");
  EXPECT_EQ(from_datastore.pull.access.authorization, "Basic Z2l2ZW46Z2l2ZW4=");
  EXPECT_EQ(from_datastore.pull.output, "/model-store");

  const Asked hub = asked(planned("spec: {source: {registry: {model: {profiles: ['meta/llama@v2']}}}}"));
  EXPECT_TRUE(hub.findings.empty());
  EXPECT_EQ(hub.pull.source.base, "https://huggingface.co");
  EXPECT_EQ(hub.pull.source.model.repository, "meta/llama");
  EXPECT_EQ(hub.pull.source.model.revision, "v2");
  EXPECT_EQ(hub.pull.access.authorization, "Bearer given");

  const Asked directory = asked(planned("spec: {source: {registry: {endpoint: 'https://files.example.com/llama/'}}}"));
  EXPECT_TRUE(directory.findings.empty());
  EXPECT_TRUE(directory.pull.source.is_directory());
  EXPECT_EQ(directory.pull.source.base, "https://files.example.com/llama");
  EXPECT_TRUE(directory.pull.patterns.everything);
}

TEST(PullerOptions, WhatAnotherPullerWouldChooseIsRefusedByName) {
  const Asked full = asked(planned("{}", true));
  std::set<std::string> paths;
  for (const auto& finding : full.findings) paths.insert(finding.path);
  for (const char* flag : {"--engine", "--tensor-parallelism", "--precision", "--lora"})
    EXPECT_TRUE(paths.contains(flag)) << flag;
}

TEST(PullerOptions, FlagsThatDoNotFitTogetherAreAllNamed) {
  const auto paths = [](const std::vector<const char*>& flags) {
    std::string out;
    for (const auto& finding : asked({}, flags).findings) out += finding.path + " ";
    return out;
  };
  EXPECT_EQ(paths({"--model", "a/b", "--output", "m"}), "");
  EXPECT_EQ(paths({"--model", "a/b", "--output", "m", "--registry-endpoint", "https://h"}), "");
  EXPECT_EQ(paths({"--directory-url", "https://h/x", "--output", "m"}), "");
  EXPECT_EQ(paths({"--output", "m"}), "--model ") << "neither a model nor a directory";
  EXPECT_EQ(paths({"--model", "a/b"}), "--output ");
  EXPECT_EQ(paths({"--model", "a b", "--output", "m"}), "--model ");
  EXPECT_EQ(paths({"--model", "a/b", "--directory-url", "https://h/x", "--output", "m"}), "--model ");
  EXPECT_EQ(paths({"--source", "datastore", "--output", "m"}), "--datastore-url --model ");
  EXPECT_EQ(
      paths({"--datastore-url", "http://d", "--registry-endpoint", "http://h", "--model", "a/b", "--output", "m"}),
      "--registry-endpoint ");
  EXPECT_EQ(paths({"--directory-url", "http://d", "--output", "m", "--checksum-list", "../x"}), "--checksum-list ");
}

}  // namespace options_tests
}  // namespace stackgate::puller
