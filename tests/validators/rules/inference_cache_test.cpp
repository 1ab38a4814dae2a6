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

TEST(InferenceCacheRules, FilesBelongToSomeoneButRoot) {
  expect_rule(rule::cache_identity_root, cache,
              {{"spec: {userID: 1, groupID: 1}", {}},
               {"spec: {userID: 0}", {"spec.userID"}},
               {"spec: {groupID: 0}", {"spec.groupID"}}});
  EXPECT_EQ(short_form(review_of(cache, "spec: {userID: -1}")),
            (std::vector<std::string>{"error spec.userID schema-range"}));
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
