#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"

namespace stackgate::validate::tests {
namespace {

constexpr crds::Kind cache = crds::Kind::inference_cache;

std::string datastore(std::string_view more) {
  return "spec: {source: {registry: null, datastore: {endpoint: 'http://d:8000', " + std::string(more) + "}}}";
}

TEST(InferenceCacheRules, OneSourceAndNoOther) {
  expect_rule(rule::cache_source_exactly_one, cache,
              {{"spec: {source: {registry: null}}", {"spec.source"}},
               {"spec: {source: {datastore: {endpoint: 'http://d', repository: a/b}}}", {"spec.source"}},
               {datastore("repository: a/b"), {}}});
}

TEST(InferenceCacheRules, RepositoriesAndRevisionsAreGits) {
  expect_rule(rule::repository_name, cache,
              {{datastore("repository: team-a/llm_8b.v1"), {}},
               {datastore("repository: llm"), {"spec.source.datastore.repository"}},
               {datastore("repository: a/b/c"), {"spec.source.datastore.repository"}},
               {datastore("repository: a/b.git"), {"spec.source.datastore.repository"}},
               {datastore("repository: ../b"), {"spec.source.datastore.repository"}}});
  expect_rule(rule::git_revision, cache,
              {{datastore("repository: a/b, revision: feature/x-1"), {}},
               {datastore("repository: a/b, revision: 'HEAD~1'"), {"spec.source.datastore.revision"}},
               {datastore("repository: a/b, revision: a..b"), {"spec.source.datastore.revision"}},
               {datastore("repository: a/b, revision: '-x'"), {"spec.source.datastore.revision"}}});
}

TEST(InferenceCacheRules, ParallelismIsAPositiveNumberAsText) {
  const auto gpus = [](std::string_view text) {
    return "spec: {source: {registry: {model: {tensorParallelism: " + std::string(text) + "}}}}";
  };
  const std::string_view at = "spec.source.registry.model.tensorParallelism";
  expect_rule(rule::cache_tensor_parallelism, cache,
              {{gpus("'1'"), {}},
               {gpus("'1024'"), {}},
               {gpus("'0'"), {at}},
               {gpus("'-1'"), {at}},
               {gpus("'02'"), {at}},
               {gpus("two"), {at}},
               {gpus("'1025'"), {at}}});
  EXPECT_EQ(short_form(review_of(cache, gpus("2"))),
            (std::vector<std::string>{"error " + std::string(at) + " schema-type"}));
}

TEST(InferenceCacheRules, ProxiesAndTheirExceptions) {
  expect_rule(rule::endpoint_url, cache,
              {{"spec: {proxy: {httpsProxy: 'http://proxy:3128'}}", {}},
               {"spec: {proxy: {httpsProxy: 'http://'}}", {"spec.proxy.httpsProxy"}},
               {"spec: {proxy: {httpProxy: 'socks5://proxy:1080'}}", {"spec.proxy.httpProxy"}}});
  expect_rule(rule::url_user_info, cache,
              {{"spec: {proxy: {httpProxy: 'http://u:p@proxy:3128'}}", {"spec.proxy.httpProxy"}}});
  expect_rule(rule::no_proxy, cache,
              {{"spec: {proxy: {noProxy: '.svc,10.0.0.0/8,fd00::/8,[fd00::1]:443,localhost,*'}}", {}},
               {"spec: {proxy: {noProxy: '10.0.0.0/33'}}", {"spec.proxy.noProxy"}},
               {"spec: {proxy: {noProxy: '999.999.999.999'}}", {"spec.proxy.noProxy"}},
               {"spec: {proxy: {noProxy: '..-'}}", {"spec.proxy.noProxy"}}});
}

TEST(InferenceCacheRules, EachBadExceptionOfAProxyIsAFindingWithItsOwnCure) {
  const Findings found =
      of_rule(review_of(cache, "spec: {proxy: {noProxy: '10.0.0.0/33,.svc,[fd00::]/8,https://a'}}"), rule::no_proxy);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].problem, "\"10.0.0.0/33\" has the prefix length 33, which is above 32");
  EXPECT_EQ(found[0].fix, "write a prefix length between 0 and 32");
  EXPECT_EQ(found[1].problem, "\"[fd00::]/8\" has brackets around the address of a network");
  EXPECT_EQ(found[2].problem, "\"https://a\" is a URL");
  EXPECT_EQ(found[2].fix, "write the host alone, without a scheme and a path");
}

TEST(InferenceCacheRules, FilesBelongToSomeoneButRoot) {
  expect_rule(rule::cache_identity_root, cache,
              {{"spec: {userID: 1, groupID: 1}", {}},
               {"spec: {userID: 0}", {"spec.userID"}},
               {"spec: {groupID: 0}", {"spec.groupID"}}});
  EXPECT_EQ(short_form(review_of(cache, "spec: {userID: -1}")),
            (std::vector<std::string>{"error spec.userID schema-range"}));
}

TEST(InferenceCacheRules, AJobThatExistsTakesNoNewSettings) {
  using Lines = std::vector<std::string>;
  const auto changes = [](std::string_view status, std::string_view now) {
    return short_form(review_of_update(cache, "spec: {userID: 1}\nstatus: " + std::string(status), now));
  };
  const std::string_view user = "spec: {userID: 2}";
  for (const char* status : {"{state: Failed}", "{state: InProgress}", "{state: Started}", "{state: PVCCreated}",
                             "{state: Ready}", "{state: Pending, conditions: [{type: Ready, reason: Suspended}]}",
                             "{state: Failed, conditions: [{type: Ready, reason: Unauthorized}]}"})
    EXPECT_EQ(changes(status, user), Lines{"warning spec.userID cache-job-exists"}) << status;
  for (const char* status : {"null", "{}", "{state: NotReady}", "{state: Unknown}",
                             "{state: Pending, conditions: [{type: Ready, reason: Creating}]}",
                             "{state: Failed, conditions: [{type: Other, reason: X}, {type: Ready, reason: NoImage}]}",
                             "{state: Failed, conditions: [{type: Ready, reason: NameTaken}]}"})
    EXPECT_EQ(changes(status, user), Lines{}) << status;
  EXPECT_EQ(changes("{state: Failed}", "spec: {userID: 1}\nmetadata: {labels: {a: b}}"), Lines{});
  EXPECT_EQ(changes("{state: Failed}",
                    "spec: {groupID: 7, proxy: {httpsProxy: 'http://p:1'}, resources: {limits: {memory: 1Gi}}, "
                    "tolerations: [{operator: Exists}], nodeSelector: {a: b}}"),
            (Lines{"warning spec.userID cache-job-exists", "warning spec.groupID cache-job-exists",
                   "warning spec.proxy cache-job-exists", "warning spec.resources cache-job-exists",
                   "warning spec.tolerations cache-job-exists", "warning spec.nodeSelector cache-job-exists"}));
}

TEST(InferenceCacheRules, TheCommandThatMakesTheJobAnewIsNamed) {
  const auto fix = [](std::string_view status) {
    const Findings found = review_of_update(cache, "status: " + std::string(status), "spec: {userID: 2}");
    return found.size() == 1 ? found[0].fix : all_lines(found);
  };
  EXPECT_EQ(fix("{state: Failed}"), "to begin anew with it: `kubectl delete job llm-cache -n default`");
  EXPECT_EQ(fix("{state: Ready}"), "leave it as it was, or delete the cache and create it anew with this");
}

TEST(InferenceCacheRules, SourceAndStorageAreForGood) {
  const auto changes = [](std::string_view old, std::string_view now) {
    return short_form(review_of_update(cache, old, now));
  };
  using Lines = std::vector<std::string>;
  EXPECT_EQ(changes("{}", "spec: {userID: 7}"), Lines{});
  EXPECT_EQ(changes("{}", "spec: {storage: {pvc: {size: 200Gi}}}"),
            (Lines{"error spec.storage.pvc.size cache-immutable"}));
  EXPECT_EQ(changes("{}", "spec: {storage: {pvc: {storageClass: fast}}}"),
            (Lines{"error spec.storage.pvc.storageClass cache-immutable"}));
  EXPECT_EQ(changes("spec: {storage: {pvc: {storageClass: fast}}}", "{}"),
            (Lines{"error spec.storage.pvc.storageClass cache-immutable"}));
  EXPECT_EQ(changes("{}", "spec: {source: {registry: {authSecret: other, modelPuller: 'r/p:2'}}}"),
            (Lines{"error spec.source.registry.modelPuller cache-immutable",
                   "error spec.source.registry.authSecret cache-immutable"}));
  // The CRD's own rule compares the texts too, so both refuse what means the same.
  EXPECT_EQ(changes("spec: {storage: {pvc: {size: 1Gi}}}", "spec: {storage: {pvc: {size: 1024Mi}}}"),
            (Lines{"error spec.storage.pvc.size cache-immutable"}));
}

}  // namespace
}  // namespace stackgate::validate::tests
