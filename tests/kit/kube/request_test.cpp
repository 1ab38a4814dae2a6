#include "services/kit/kube/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::kube::request_test {
namespace {

struct Meaning {
  const char *method, *path, *verb, *resource, *subresource;
  const char* content_type = "application/json";
};

TEST(RequestInfo, names_verb_resource_and_subresource_as_the_api_server_does) {
  for (const Meaning& each : std::vector<Meaning>{
           {"GET", "/api/v1/namespaces/ml/secrets/hub", "get", "secrets", ""},
           {"GET", "/api/v1/namespaces/ml/secrets?limit=500", "list", "secrets", ""},
           {"GET", "/api/v1/secrets", "list", "secrets", ""},
           {"GET", "/api/v1/secrets?limit=5&watch=1", "watch", "secrets", ""},
           {"GET", "/api/v1/secrets?watch=true", "watch", "secrets", ""},
           {"GET", "/api/v1/secrets?labelSelector=watch%3D1", "list", "secrets", ""},
           {"GET", "/api/v1/namespaces", "list", "namespaces", ""},
           {"GET", "/api/v1/namespaces/ml", "get", "namespaces", ""},
           {"PUT", "/api/v1/namespaces/ml/status", "update", "namespaces", "status"},
           {"PUT", "/api/v1/namespaces/ml/finalize", "update", "namespaces", "finalize"},
           {"POST", "/apis/apps/v1/namespaces/ml/deployments?fieldManager=x", "create", "deployments.apps", ""},
           {"PUT", "/apis/coordination.k8s.io/v1/namespaces/ml/leases/a", "update", "leases.coordination.k8s.io", ""},
           {"PATCH", "/apis/apps/v1/namespaces/ml/deployments/a", "patch", "deployments.apps", "",
            "application/merge-patch+json"},
           {"PATCH", "/apis/apps/v1/namespaces/ml/deployments/a", "apply", "deployments.apps", "",
            "application/apply-patch+yaml"},
           {"PATCH", "/apis/stackgate.dev/v1alpha1/namespaces/ml/inferenceservices/a/status", "apply",
            "inferenceservices.stackgate.dev", "status", "application/apply-patch+yaml"},
           {"DELETE", "/api/v1/namespaces/ml/secrets/hub", "delete", "secrets", ""},
           {"DELETE", "/api/v1/namespaces/ml/secrets", "deletecollection", "secrets", ""},
           {"POST", "/api/v1/namespaces/ml/pods/a/eviction", "create", "pods", "eviction"},
           {"GET", "/apis/storage.k8s.io/v1/storageclasses/fast", "get", "storageclasses.storage.k8s.io", ""},
           {"GET", "/version", "get", "", ""},
           {"GET", "/apis", "get", "", ""},
           {"GET", "/apis/apps/v1", "get", "", ""},
           {"GET", "/api/v1", "get", "", ""},
           {"GET", "", "get", "", ""},
           {"GET", "///", "get", "", ""},
           {"BREW", "/api/v1/pods/a", "other", "pods", ""}}) {
    const RequestInfo info = request_info(each.method, each.path, each.content_type);
    EXPECT_EQ(info.verb, each.verb) << each.method << " " << each.path;
    EXPECT_EQ(info.resource, each.resource) << each.method << " " << each.path;
    EXPECT_EQ(info.subresource, each.subresource) << each.method << " " << each.path;
  }
}

TEST(Request, says_whether_it_may_be_sent_twice) {
  const ResourceType& type = types::secrets;
  EXPECT_TRUE(Request::get(type, "ns", "a").idempotent);
  EXPECT_TRUE(Request::apply(type, "ns", "a", "{}").idempotent);
  EXPECT_TRUE(Request::remove(type, "ns", "a").idempotent);
  EXPECT_FALSE(Request::create(type, "ns", "{}").idempotent);
  EXPECT_FALSE(Request::replace(type, "ns", "a", "{}").idempotent);
  EXPECT_FALSE(Request::patch(type, "ns", "a", PatchType::json, "[]").idempotent);
}

TEST(Request, keeps_a_name_in_its_path_segment) {
  EXPECT_EQ(Request::get(types::secrets, "a/b", "../x").path, "/api/v1/namespaces/a%2Fb/secrets/..%2Fx");
}

TEST(Request, names_the_kind_of_its_patch) {
  EXPECT_EQ(Request::patch(types::secrets, "ns", "a", PatchType::json, "[]").content_type,
            "application/json-patch+json");
  EXPECT_EQ(Request::patch(types::secrets, "ns", "a", PatchType::merge, "{}").content_type,
            "application/merge-patch+json");
  EXPECT_EQ(Request::patch(types::secrets, "ns", "a", PatchType::strategic, "{}").content_type,
            "application/strategic-merge-patch+json");
}

TEST(Request, deletes_on_conditions) {
  EXPECT_EQ(Request::remove(types::secrets, "ns", "a", {.uid = "u", .resource_version = "7"}).body,
            R"({"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Background",)"
            R"("preconditions":{"uid":"u","resourceVersion":"7"}})");
}

}  // namespace
}  // namespace stackgate::kube::request_test
