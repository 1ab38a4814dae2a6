#include <gtest/gtest.h>

#include "tests/validators/rules/rule_cases.hpp"
#include "validators/rule_ids.hpp"
#include "validators/rules/stack_parts.hpp"

namespace stackgate::validate::tests {
namespace stack_datastore_test {

constexpr auto kind = crds::Kind::stack_datastore;

std::string store(std::string_view changes) {
  std::string out =
      "spec: {objectStoreConfig: {credentials: {user: u, secretName: object-store, passwordKey: secretKey}";
  if (changes.find("endpoint:") == std::string_view::npos) out += ", endpoint: 'minio.storage:9000'";
  if (changes.find("bucketName:") == std::string_view::npos) out += ", bucketName: large-files";
  return out + ", " + std::string(changes) + "}}";
}

TEST(StackDatastoreRules, WithoutAClaimASingleReplicaLosesItsData) {
  expect_rule(rule::datastore_without_volume, kind,
              {{"spec: {pvc: null}", {"spec.pvc"}},
               {"spec: {pvc: null, replicas: 0}", {"spec.pvc"}},
               {"spec: {replicas: 1}", {}},
               {"spec: {pvc: {name: data, create: false}}", {}}});
}

TEST(StackDatastoreRules, WithoutAClaimSeveralReplicasDisagree) {
  expect_rule(rule::datastore_replicas_without_volume, kind,
              {{"spec: {pvc: null, replicas: 2}", {"spec.pvc"}},
               {"spec: {pvc: null, replicas: 1}", {}},
               {"spec: {pvc: {volumeAccessMode: ReadWriteMany}, replicas: 2}", {}}});
}

TEST(StackDatastoreRules, ReplicasOnSeveralNodesNeedAClaimForSeveralNodes) {
  expect_rule(rule::replicas_share_volume, kind,
              {{"spec: {replicas: 2}", {"spec.pvc.volumeAccessMode"}},
               {"spec: {replicas: 1}", {}},
               {"spec: {replicas: 2, pvc: {volumeAccessMode: ReadWriteMany}}", {}}});
  expect_rule(rule::replicas_exclusive_volume, kind,
              {{"spec: {replicas: 2, pvc: {volumeAccessMode: ReadWriteOncePod}}", {"spec.pvc.volumeAccessMode"}},
               {"spec: {replicas: 1, pvc: {volumeAccessMode: ReadWriteOncePod}}", {}},
               {"spec: {replicas: 0, pvc: {volumeAccessMode: ReadWriteOncePod}}", {}}});
}

TEST(StackDatastoreRules, RepositoriesAreWritten) {
  expect_rule(rule::claim_read_only, kind,
              {{"spec: {pvc: {volumeAccessMode: ReadOnlyMany}}", {"spec.pvc.volumeAccessMode"}},
               {"spec: {pvc: {volumeAccessMode: ReadWriteOnce}}", {}}});
}

TEST(StackDatastoreRules, EachSecretIsSharedOnce) {
  expect_rule(rule::datastore_secrets_shared, kind,
              {{"spec: {secrets: {lfsJwtSecret: datastore-git-admin}}", {"spec.secrets.lfsJwtSecret"}},
               {"spec: {secrets: {gitAdminSecret: all, lfsJwtSecret: all, datastoreInitSecret: all}}",
                {"spec.secrets.lfsJwtSecret", "spec.secrets.datastoreInitSecret"}},
               {"{}", {}}});
}

TEST(StackDatastoreRules, AnObjectStoresEndpointIsHostAndPort) {
  expect_rule(rule::object_store_endpoint, kind,
              {{store("endpoint: 'minio:9000'"), {}},
               {store("endpoint: 'minio:65535'"), {}},
               {store("endpoint: 'minio:1'"), {}},
               {store("endpoint: '10.0.0.7:9000'"), {}},
               {store("endpoint: '[fd00::7]:9000'"), {}},
               {store("endpoint: 'minio:65536'"), {"spec.objectStoreConfig.endpoint"}},
               {store("endpoint: 'minio:0'"), {"spec.objectStoreConfig.endpoint"}},
               {store("endpoint: '999.0.0.7:9000'"), {"spec.objectStoreConfig.endpoint"}},
               {store("endpoint: '-minio:9000'"), {"spec.objectStoreConfig.endpoint"}},
               {store("endpoint: 'https://minio:9000'"), {"spec.objectStoreConfig.endpoint"}},
               {store("endpoint: 'minio'"), {"spec.objectStoreConfig.endpoint"}}});
}

TEST(StackDatastoreRules, AUrlInTheEndpointIsCuredByItsHostAndPort) {
  const auto fix = [](std::string_view endpoint) {
    const Findings found =
        of_rule(review_of(kind, store("endpoint: '" + std::string(endpoint) + "'")), rule::object_store_endpoint);
    return found.size() == 1 ? found[0].fix : all_lines(found);
  };
  EXPECT_EQ(fix("https://minio.storage:9000/files"), "write \"minio.storage:9000\"");
  EXPECT_EQ(fix("https://s3.example.com"), "write \"s3.example.com:443\"");
  EXPECT_EQ(fix("http://[fd00::7]"), "write \"[fd00::7]:80\"");
  EXPECT_EQ(fix("https://user:password@minio:9000"),
            "write the host and the port alone, for example \"minio.storage:9000\"");
}

TEST(StackDatastoreRules, AMissingPortIsThatOfTlsWhereItIsSpoken) {
  const auto fix = [](std::string_view fields) {
    const Findings found = of_rule(review_of(kind, store(fields)), rule::object_store_endpoint);
    return found.size() == 1 ? found[0].fix : all_lines(found);
  };
  const auto example = [](std::string_view address) {
    return "write the port behind the host, for example \"" + std::string(address) + "\"";
  };
  EXPECT_EQ(fix("endpoint: s3.amazonaws.com, ssl: true"), example("s3.amazonaws.com:443"));
  EXPECT_EQ(fix("endpoint: s3.amazonaws.com"), example("s3.amazonaws.com:443"));
  EXPECT_EQ(fix("endpoint: s3.amazonaws.com, ssl: false"), example("s3.amazonaws.com:443") + ", and ssl: true");
  EXPECT_EQ(fix("endpoint: S3.eu-west-1.AmazonAWS.com, ssl: true"), example("S3.eu-west-1.AmazonAWS.com:443"));
  EXPECT_EQ(fix("endpoint: s3.example.com, ssl: true"), example("s3.example.com:443"));
  EXPECT_EQ(fix("endpoint: minio.storage, ssl: false"), example("minio.storage:9000"));
  EXPECT_EQ(fix("endpoint: minio.storage"), example("minio.storage:9000"));
}

TEST(StackDatastoreRules, ThePortSaysWhetherItIsTls) {
  expect_rule(rule::object_store_tls_port, kind,
              {{store("endpoint: 's3:443', ssl: false"), {"spec.objectStoreConfig.ssl"}},
               {store("endpoint: 's3:80', ssl: true"), {"spec.objectStoreConfig.ssl"}},
               {store("endpoint: 's3:443', ssl: true"), {}},
               {store("endpoint: 's3:80', ssl: false"), {}},
               {store("endpoint: 's3:443'"), {}},
               {store("endpoint: 's3:9000', ssl: false"), {}}});
}

TEST(StackDatastoreRules, ARegionIsOneWord) {
  expect_rule(rule::object_store_region, kind,
              {{store("region: eu-central-1"), {}},
               {store("region: garage"), {}},
               {store("region: eu central 1"), {"spec.objectStoreConfig.region"}},
               {store("region: 'https://s3'"), {"spec.objectStoreConfig.region"}},
               {store("region: 'zürich'"), {"spec.objectStoreConfig.region"}}});
}

TEST(StackDatastoreRules, ABucketNameIsOneThatStoresAccept) {
  for (const std::string_view good : {"abc", "large-files", "a.b.c", "0files9", "1.2.3", "a--b"})
    EXPECT_FALSE(check_bucket_name(good)) << good;
  EXPECT_FALSE(check_bucket_name(std::string(63, 'a')));
  for (const std::string_view bad : {"ab", "Large", "large_files", "-files", "files-", ".files", "files.", "a..b",
                                     "10.0.0.7", "files/2024", "fi les", "größe"})
    EXPECT_TRUE(check_bucket_name(bad)) << bad;
  EXPECT_TRUE(check_bucket_name(std::string(64, 'a')));
  EXPECT_EQ(check_bucket_name("Large_Files")->fix, "write \"large-files\", if the bucket is called that");
  expect_rule(rule::object_store_bucket, kind,
              {{store("bucketName: a..b"), {"spec.objectStoreConfig.bucketName"}}, {store("bucketName: a.b"), {}}});
}

}  // namespace stack_datastore_test
}  // namespace stackgate::validate::tests
