// What the puller says of itself, read by the operator: the ConfigMap, the termination message, the exit code.
#include <cerrno>
#include <set>

#include <gtest/gtest.h>

#include "reconcile/status/cache.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/puller/plan/progress.hpp"

namespace stackgate::puller {
namespace agreement_tests {

constexpr Cause causes[] = {Cause::network,  Cause::settings, Cause::refused,    Cause::no_space, Cause::missing,
                            Cause::checksum, Cause::volume,   Cause::bad_answer, Cause::stopped};

/// Sentences as users meet them; some have numbers in them that look like statuses.
std::vector<Failure> failures() {
  std::vector<Failure> out;
  for (const int status : {401, 403, 404, 407, 408, 410, 418, 429, 500, 502, 503, 504})
    out.push_back(*failure_of_status(status, "https://hub/api/models/a/b", "no such thing"));
  for (const int error : {ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, EIO})
    out.push_back(failure_of_system("write /model-store/.stackgate-pull/parts/x.part", error));
  out.push_back(*fault_of_space(14'015'401, 401'401, "/model-store"));
  out.push_back({Cause::checksum, "model.safetensors: its SHA-256 is 401f401", "start it again"});
  out.push_back({Cause::bad_answer, "a: 4010 bytes were listed"});
  return out;
}

std::string pod_ended(const Failure& failure) {
  return json::object_text([&](json::Writer& out) {
    out.object("metadata", [&] { out.member("name", "llm-x"); });
    out.object("spec", [&] { out.member("restartPolicy", "Never"); });
    out.object("status", [&] {
      out.member("phase", "Failed");
      out.key("containerStatuses");
      out.array([&] {
        out.object([&] {
          out.member("name", "puller");
          out.object("state", [&] {
            out.object("terminated", [&] {
              out.member("exitCode", exit_code(failure.cause));
              out.member("reason", "Error");
              out.member("message", sentence(failure));
            });
          });
        });
      });
    });
  });
}

/// The status of a cache whose Job has ended so, and whose ConfigMap got this patch.
reconcile::Status status_of(const char* condition, const std::string& patch, const std::optional<Failure>& failure) {
  json::Document job_text, report_text, pod_text;
  const std::string text =
      std::string(R"({"status":{"conditions":[{"type":")") + condition + R"(","status":"True"}]}})";
  const auto job = json::parse(text, job_text);
  const auto report = json::parse(patch, report_text);
  std::vector<reconcile::PodFacts> pods;
  const std::string pod = failure ? pod_ended(*failure) : "";
  if (failure) pods.push_back(reconcile::pod_facts(*json::parse(pod, pod_text)));
  return reconcile::cache_status(
      {.name = "llm", .job = &*job, .claim_name = "c", .pods = pods, .report = report ? &*report : nullptr});
}

TEST(PullerAgreement, ReasonsAreOneList) {
  std::set<std::string_view> said;
  for (const Cause cause : causes) said.insert(reason(cause));
  EXPECT_EQ(said, std::set<std::string_view>(reconcile::puller_reasons.begin(), reconcile::puller_reasons.end()));
}

TEST(PullerAgreement, TheStatusHasReasonAndCure) {
  for (const Failure& failure : failures()) {
    const auto patch = report_patch({}, failure, std::nullopt);
    const auto with_pod = status_of("Failed", patch, failure).conditions.at(0),
               without_pod = status_of("Failed", patch, std::nullopt).conditions.at(0);
    EXPECT_EQ(with_pod.reason, reason(failure.cause)) << failure.message;
    EXPECT_EQ(without_pod.reason, reason(failure.cause)) << failure.message;
    EXPECT_TRUE(with_pod.message.contains(sentence(failure))) << with_pod.message;
    EXPECT_TRUE(with_pod.message.contains("exit code " + std::to_string(exit_code(failure.cause)))) << with_pod.message;
    EXPECT_TRUE(without_pod.message.contains(sentence(failure))) << without_pod.message;
  }
}

TEST(PullerAgreement, WithoutTheReportTheMessageIsNotMisunderstood) {
  for (const Failure& failure : failures()) {
    const auto told = status_of("Failed", "", failure).conditions.at(0);
    EXPECT_TRUE(told.reason == reason(failure.cause) || told.reason == "DownloadFailed")
        << told.reason << ": " << told.message;
    EXPECT_TRUE(told.message.contains(sentence(failure))) << told.message;
  }
  EXPECT_EQ(status_of("Failed", "", failure_of_status(401, "u", "")).conditions.at(0).reason, "Unauthorized");
  EXPECT_EQ(status_of("Failed", "", *fault_of_space(2, 1, "/m")).conditions.at(0).reason, "VolumeFull");
}

TEST(PullerAgreement, ProgressAndProfilesAreRead) {
  const auto pulled = status_of(
      "Complete",
      report_patch({.downloaded = 7, .total = 7, .file = "x"}, std::nullopt, Pulled{.model = "a/b", .revision = "c"}),
      std::nullopt);
  EXPECT_EQ(pulled.state, reconcile::State::ready);
  EXPECT_EQ(pulled.progress.value().downloaded_bytes, 7);
  EXPECT_EQ(pulled.progress.value().total_bytes, 7);
  ASSERT_EQ(pulled.profiles.size(), 1U);
  EXPECT_EQ(pulled.profiles[0].name, "a/b");
  EXPECT_EQ(pulled.profiles[0].release, "c");
}

}  // namespace agreement_tests
}  // namespace stackgate::puller
