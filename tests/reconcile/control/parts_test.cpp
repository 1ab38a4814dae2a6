// The small pieces of observe and control.
#include <fstream>

#include <gtest/gtest.h>

#include "cluster_state/pruning.hpp"
#include "reconcile/control/refusal.hpp"
#include "reconcile/control/ssh_key.hpp"
#include "reconcile/observe/key.hpp"
#include "tests/reconcile/control/parsed.hpp"

namespace stackgate::reconcile {
namespace {

using tests::Parsed;

TEST(ContentHash, depends_on_names_keys_and_values_but_not_on_their_order) {
  const auto hash = [](const char* json) { return cluster::content_hash(Parsed(json)); };
  const std::string one = hash(R"({"metadata":{"name":"a"},"data":{"x":"1","y":"2"}})");
  EXPECT_EQ(one.size(), 16U);
  EXPECT_EQ(one, hash(R"({"metadata":{"name":"a","resourceVersion":"9"},"data":{"y":"2","x":"1"}})"));
  EXPECT_NE(one, hash(R"({"metadata":{"name":"b"},"data":{"x":"1","y":"2"}})"));
  EXPECT_NE(one, hash(R"({"metadata":{"name":"a"},"data":{"x":"1","y":"3"}})"));
  EXPECT_NE(hash(R"({"metadata":{"name":"a"},"data":{"x":"12","y":""}})"),
            hash(R"({"metadata":{"name":"a"},"data":{"x":"1","y":"2"}})"));
}

TEST(CreateEntry, is_ours_of_a_plain_write) {
  EXPECT_EQ(cluster::create_entry(Parsed(R"({"metadata":{}})")), -1);
  EXPECT_EQ(cluster::create_entry(Parsed(R"({"metadata":{"managedFields":[
      {"manager":"kubelet","operation":"Update"},
      {"manager":"stackgate","operation":"Apply"},
      {"manager":"stackgate","operation":"Update","subresource":"status"},
      {"manager":"stackgate","operation":"Update"}]}})")),
            3);
}

TEST(OwnerOf, is_the_controller_or_what_the_labels_say) {
  const auto owner = [](const char* json) {
    const auto key = owner_of(Parsed(json));
    return key ? to_string(*key) : std::string("(none)");
  };
  EXPECT_EQ(owner(R"({"metadata":{"namespace":"ml","ownerReferences":[{"apiVersion":"stackgate.dev/v1alpha1",
                   "kind":"StackGuardrail","name":"g","controller":true}]}})"),
            "StackGuardrail ml/g");
  EXPECT_EQ(owner(R"({"metadata":{"namespace":"ml","ownerReferences":[{"apiVersion":"stackgate.dev/v1alpha1",
                   "kind":"StackGuardrail","name":"g"}]}})"),
            "(none)")
      << "an owner that does not control it";
  EXPECT_EQ(owner(R"({"metadata":{"namespace":"ml","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet",
                   "name":"r","controller":true}],"labels":{"app.kubernetes.io/managed-by":"stackgate",
                   "app.kubernetes.io/component":"datastore","app.kubernetes.io/instance":"d"}}})"),
            "StackDatastore ml/d");
  EXPECT_EQ(owner(R"({"metadata":{"namespace":"ml","labels":{"app.kubernetes.io/managed-by":"Helm",
                   "app.kubernetes.io/component":"datastore","app.kubernetes.io/instance":"d"}}})"),
            "(none)");
}

struct RefusalCase {
  const char* name;
  int code;
  const char* message;
  const char* reason;  // nullptr: another try cures it
  bool lasting;
};
class Refusal : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(Refusal, is_told_to_users_when_it_lasts) {
  const auto& [name, code, message, reason, lasting] = GetParam();
  const auto problem =
      refusal("Deployment", "llm",
              {.failure = kube::Failure::answered, .code = code, .reason = {}, .message = message, .retry_after = {}});
  ASSERT_EQ(problem.has_value(), reason != nullptr);
  if (!problem) return;
  EXPECT_EQ(problem->reason, reason);
  EXPECT_EQ(problem->lasting, lasting);
}

INSTANTIATE_TEST_SUITE_P(
    All, Refusal,
    ::testing::Values(
        RefusalCase{"quota", 403, "deployments \"llm\" is forbidden: exceeded quota: q", "QuotaExceeded", false},
        RefusalCase{"namespace_goes", 403, "because it is being terminated", "NamespaceTerminating", false},
        RefusalCase{"other_webhook", 403, "admission webhook \"p\" denied the request: no", "ChildRefused", true},
        RefusalCase{"rights", 403, "cannot create resource", "Forbidden", true},
        RefusalCase{"invalid", 422, "spec.x: Invalid value", "ChildRefused", true},
        RefusalCase{"conflict", 409, "modified", nullptr, false}, RefusalCase{"busy", 429, "later", nullptr, false},
        RefusalCase{"broken", 500, "oops", nullptr, false}, RefusalCase{"gone", 404, "no namespace", nullptr, false}),
    [](const auto& each) { return std::string(each.param.name); });

TEST(Refusal, an_api_server_that_is_away_is_no_trouble_of_the_resource) {
  EXPECT_FALSE(
      refusal("Deployment", "llm",
              {.failure = kube::Failure::timed_out, .code = 0, .reason = {}, .message = "x", .retry_after = {}}));
}

TEST(SshKey, is_one_that_ssh_itself_reads) {
  if (std::system("command -v ssh-keygen >/dev/null") != 0) GTEST_SKIP() << "ssh-keygen is not installed";
  const SshKey key = make_ssh_key();
  const std::string file = ::testing::TempDir() + "stackgate-ssh-key";
  std::ofstream(file) << key.private_key;
  ASSERT_EQ(std::system(("chmod 600 " + file + " && ssh-keygen -y -f " + file + " > " + file + ".pub").c_str()), 0);
  std::ifstream read(file + ".pub");
  std::string algorithm, blob;
  read >> algorithm >> blob;
  EXPECT_EQ(algorithm + " " + blob, key.public_key.substr(0, key.public_key.rfind(' ')));
  EXPECT_NE(make_ssh_key().private_key, key.private_key);
}

}  // namespace
}  // namespace stackgate::reconcile
