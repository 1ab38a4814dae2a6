// Texts of kubelet 1.20 to 1.36 with containerd, CRI-O and dockershim.
#include <gtest/gtest.h>

#include "services/kit/json/write.hpp"
#include "services/kit/pod_problems/pod.hpp"
#include "tests/kit/pod_problems/pods.hpp"
#include "tests/support/parsed.hpp"

namespace stackgate::pods::tests {
namespace pod_images {

Problem problem_of(std::string_view reason, std::string_view message, bool with_pull_secret = true) {
  std::string container = R"("state": {"waiting": {"reason": ")" + std::string(reason) + R"(", "message": )";
  json::append_quoted(container, message);
  container += "}}";
  std::string text = pod_text({.container = container});
  if (!with_pull_secret) text.replace(text.find("imagePullSecrets"), 16, "x");
  const test::Parsed pod(text);
  return pod_problem(*pod).value();
}

struct Case {
  std::string_view message;  // with ErrImagePull
  std::string_view detail;
};

class Images : public ::testing::TestWithParam<Case> {};

TEST_P(Images, AreToldWithTheCause) {
  const Problem problem = problem_of("ErrImagePull", GetParam().message);
  EXPECT_EQ(problem.reason, "ImagePullBackOff");
  EXPECT_EQ(problem.message,
            fmt::format("the image registry.example.com/llm:1.8 cannot be pulled: {}", GetParam().detail));
  EXPECT_FALSE(problem.lasting);
  EXPECT_TRUE(is_waiting(problem));
}

constexpr std::string_view refused =
    "the pull secret registry-pull was refused by the registry (401 Unauthorized), or there is no such image";
constexpr std::string_view absent = "the registry has no such image; check its name and tag";
constexpr std::string_view unreachable = "the registry cannot be reached from the node";

INSTANTIATE_TEST_SUITE_P(
    Messages, Images,
    ::testing::Values(
        Case{
            "rpc error: code = Unknown desc = failed to pull and unpack image \"registry.example.com/llm:1.8\": failed "
            "to "
            "resolve reference \"registry.example.com/llm:1.8\": failed to authorize: failed to fetch anonymous token: "
            "unexpected status: 401 Unauthorized",
            refused},
        Case{"rpc error: code = Unknown desc = Error response from daemon: pull access denied for "
             "registry.example.com/llm, "
             "repository does not exist or may require 'docker login': denied: requested access to the resource is "
             "denied",
             refused},
        Case{"unable to retrieve auth token: invalid username/password: unauthorized: authentication required",
             refused},
        Case{"rpc error: code = NotFound desc = failed to pull and unpack image \"registry.example.com/llm:1.8\": "
             "failed to "
             "resolve reference \"registry.example.com/llm:1.8\": registry.example.com/llm:1.8: not found",
             absent},
        Case{"reading manifest 1.8 in registry.example.com/llm: manifest unknown", absent},
        Case{"rpc error: code = Unknown desc = failed to do request: Head "
             "\"https://registry.example.com/v2/llm/manifests/1.8\": "
             "dial tcp: lookup registry.example.com on 10.96.0.10:53: no such host",
             unreachable},
        Case{"Error response from daemon: Get https://registry.example.com/v2/: dial tcp 10.0.0.1:443: connect: "
             "connection refused",
             unreachable},
        Case{"failed to do request: Head \"https://registry.example.com/v2/\": net/http: TLS handshake timeout",
             unreachable},
        Case{"tls: failed to verify certificate: x509: certificate signed by unknown authority",
             "the node does not trust the registry's certificate"},
        Case{"toomanyrequests: You have reached your pull rate limit",
             "the registry limits the number of pulls (429); they are tried again"},
        Case{"no match for platform in manifest: not found", "it is not built for the node's architecture"},
        Case{"write /var/lib/containerd/x: no space left on device", "the node has no space left for it"},
        Case{"something that nobody has seen", "something that nobody has seen"}));

TEST(Images, AreToldAlikeWhileKubeletWaits) {
  EXPECT_EQ(problem_of("ImagePullBackOff", "Back-off pulling image \"registry.example.com/llm:1.8\""),
            (Problem{"ImagePullBackOff", "the image registry.example.com/llm:1.8 cannot be pulled"}));
  // From 1.31 on the wait tells the cause too.
  EXPECT_EQ(problem_of("ImagePullBackOff",
                       "Back-off pulling image \"registry.example.com/llm:1.8\": ErrImagePull: manifest unknown"),
            problem_of("ErrImagePull", "manifest unknown"));
}

TEST(Images, WithoutAPullSecretAreToldSo) {
  EXPECT_EQ(
      problem_of("ErrImagePull", "401 Unauthorized", false).message,
      "the image registry.example.com/llm:1.8 cannot be pulled: the registry refused it (401 Unauthorized): no pull "
      "secret is named, or there is no such image");
}

TEST(Images, MayHaveAnyNameWithoutBeingTakenForACause) {
  std::string text = pod_text(
      {.container =
           R"("state": {"waiting": {"reason": "ErrImagePull", "message": "pulling reg/timeout:x509 failed oddly"}})"});
  for (std::size_t at = text.find("registry.example.com/llm:1.8"); at != std::string::npos;
       at = text.find("registry.example.com/llm:1.8"))
    text.replace(at, 28, "reg/timeout:x509");
  const test::Parsed pod(text);
  EXPECT_EQ(pod_problem(*pod).value().message,
            "the image reg/timeout:x509 cannot be pulled: pulling reg/timeout:x509 failed oddly");
}

TEST(Images, WithABadNameFailForGood) {
  EXPECT_EQ(
      problem_of("InvalidImageName", "Failed to apply default image tag \"x\": couldn't parse image reference"),
      (Problem{"InvalidImageName", "the image name registry.example.com/llm:1.8 is not valid; correct it", true}));
}

TEST(Images, ThatMustNotBePulledAreTold) {
  EXPECT_EQ(problem_of("ErrImageNeverPull", "Container image is not present with pull policy of Never").reason,
            "ImageNeverPulled");
}

}  // namespace pod_images
}  // namespace stackgate::pods::tests
