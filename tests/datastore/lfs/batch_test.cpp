#include "services/datastore/lfs/batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::datastore::lfs {
namespace {

using testing::HasSubstr;

const std::string oid_a(64, 'a'), oid_b(64, 'b'), oid_c(64, 'c');

std::expected<BatchRequest, web::Failure> parse(const std::string& text) {
  static json::Document document;
  const auto root = json::parse(text, document);
  EXPECT_TRUE(root) << text;
  return parse_batch(*root);
}

BatchRequest upload_of(std::vector<Wanted> files, bool multipart = false) {
  return {.operation = Operation::upload, .basic = true, .multipart = multipart, .objects = std::move(files)};
}

Known known(const std::string& oid, std::uint64_t size, bool linked) {
  return {.oid = oid, .stat = {.size = size, .state = State::trusted, .key = key_of(oid)}, .linked = linked};
}

TEST(ParseBatch, ReadsWhatGitLfsSends) {
  const auto request = parse(R"({"operation":"upload","transfers":["lfs-standalone-file","basic","ssh"],)"
                             R"("ref":{"name":"refs/heads/main"},"hash_algo":"sha256","objects":[{"oid":")" +
                             oid_a + R"(","size":12}]})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->operation, Operation::upload);
  EXPECT_TRUE(request->basic);
  EXPECT_FALSE(request->multipart);
  ASSERT_EQ(request->objects.size(), 1U);
  EXPECT_EQ(request->objects[0].oid, oid_a);
  EXPECT_EQ(request->objects[0].size, 12U);
  EXPECT_TRUE(request->objects[0].fault.empty());
}

TEST(ParseBatch, ReadsBothSpellingsOfTheHash) {
  for (const std::string hash : {"sha256", "sha_256"})
    EXPECT_TRUE(parse(R"({"operation":"download","hash_algo":")" + hash + R"(","objects":[]})")) << hash;
  EXPECT_EQ(parse(R"({"operation":"download","hash_algo":"sha1","objects":[]})").error().status, 409);
}

TEST(ParseBatch, TakesAMissingTransferListForBasic) {
  for (const std::string transfers :
       {"", R"("transfers":[],)", R"("transfers":null,)", R"("transfers":["xet","basic"],)"})
    EXPECT_TRUE(parse("{" + transfers + R"("operation":"download","objects":[]})")->basic) << transfers;
}

TEST(ParseBatch, RefusesWhatIsNoBatch) {
  const struct {
    std::string body, says;
    int status = 422;
  } cases[] = {
      {"[]", "must be a JSON object"},
      {"{}", "operation"},
      {R"({"operation":"delete","objects":[]})", "operation"},
      {R"({"operation":7,"objects":[]})", "operation"},
      {R"({"operation":"upload"})", "\"objects\" must be an array"},
      {R"({"operation":"upload","objects":{}})", "\"objects\" must be an array"},
      {R"({"operation":"upload","transfers":"basic","objects":[]})", "transfers"},
      {R"({"operation":"upload","transfers":["xet"],"objects":[]})", "no transfer in common"},
  };
  for (const auto& c : cases) {
    const auto request = parse(c.body);
    ASSERT_FALSE(request) << c.body;
    EXPECT_EQ(request.error().status, c.status) << c.body;
    EXPECT_THAT(request.error().message, HasSubstr(c.says)) << c.body;
  }
}

TEST(ParseBatch, RefusesMoreObjectsThanItTakes) {
  std::string body = R"({"operation":"upload","objects":[)";
  for (std::size_t i = 0; i <= batch_objects; ++i) body += i == 0 ? "{}" : ",{}";
  EXPECT_EQ(parse(body + "]}").error().status, 413);
}

TEST(ParseBatch, KeepsTheFaultsOfSingleObjectsWithThem) {
  const auto request =
      parse(R"({"operation":"upload","objects":[{"oid":"short","size":1},{"size":1},)"
            R"({"oid":")" +
            std::string(64, 'A') + R"(","size":1},{"oid":")" + oid_a + R"(","size":-1},{"oid":")" + oid_a +
            R"(","size":1.5},{"oid":")" + oid_a + R"("},7,{"oid":")" + oid_b + R"(","size":0}]})");
  ASSERT_TRUE(request);
  ASSERT_EQ(request->objects.size(), 8U);
  for (std::size_t i = 0; i < 7; ++i) EXPECT_FALSE(request->objects[i].fault.empty()) << i;
  EXPECT_TRUE(request->objects[7].fault.empty());
  EXPECT_EQ(request->oids(), std::vector<std::string>{oid_b});
}

TEST(Decide, AsksForWhatTheRepositoryDoesNotHaveEvenIfAnotherHasIt) {
  const std::vector<Known> all = {known(oid_a, 1, true), known(oid_b, 2, false)};
  const Plan plan = decide(upload_of({{oid_a, 1}, {oid_b, 2}, {oid_c, 3}}), {.known = all});
  EXPECT_EQ(plan.transfer, "basic");
  EXPECT_EQ(plan.objects[0].step, Step::none);
  EXPECT_EQ(plan.objects[1].step, Step::upload);
  EXPECT_EQ(plan.objects[2].step, Step::upload);
}

TEST(Decide, DoesNotTellTheSizeOfAFileThatOnlyOthersHave) {
  const std::vector<Known> all = {known(oid_a, 1, false)};
  EXPECT_EQ(decide(upload_of({{oid_a, 99}}), {.known = all}).objects[0].step, Step::upload);
  BatchRequest download{.objects = {{oid_a, 99}, {oid_b, 99}}};
  const Plan plan = decide(download, {.known = all});
  EXPECT_EQ(plan.objects[0].status, 404);
  EXPECT_EQ(plan.objects[0].message, plan.objects[1].message);
}

TEST(Decide, RefusesAnotherSizeThanTheLinkedFileHas) {
  const std::vector<Known> all = {known(oid_a, 1, true)};
  EXPECT_EQ(decide(upload_of({{oid_a, 2}}), {.known = all}).objects[0].status, 422);
  EXPECT_EQ(decide({.objects = {{oid_a, 2}}}, {.known = all}).objects[0].status, 422);
}

TEST(Decide, HandsOutLinkedFilesAndGivesTheRestAnErrorEach) {
  const std::vector<Known> all = {known(oid_a, 1, true)};
  const BatchRequest request{.objects = {{oid_a, 1}, {oid_b, 1}}};
  EXPECT_EQ(decide(request, {.known = all}).objects[0].step, Step::download);
  EXPECT_EQ(decide(request, {.known = all, .direct = true}).objects[0].step, Step::download_direct);
  EXPECT_EQ(decide(request, {.known = all}).objects[1].status, 404);
}

TEST(Decide, SendsThroughUsWhatIsNotHashedYet) {
  Known waiting = known(oid_a, 1, true);
  waiting.stat.state = State::unverified;
  const std::vector<Known> all = {waiting};
  EXPECT_EQ(decide({.objects = {{oid_a, 1}}}, {.known = all, .direct = true}).objects[0].step, Step::download);
}

TEST(Decide, HoldsTheLimits) {
  const Facts limits{.limits = {.file = 10, .repository = 25, .total = 1000}, .usage = {.repository = 5, .total = 5}};
  const Plan plan = decide(upload_of({{oid_a, 11}, {oid_b, 10}, {oid_c, 10}, {std::string(64, 'd'), 1}}), limits);
  EXPECT_EQ(plan.objects[0].status, 413);
  EXPECT_EQ(plan.objects[1].step, Step::upload);
  EXPECT_EQ(plan.objects[2].step, Step::upload);
  EXPECT_EQ(plan.objects[3].status, 507) << "the files before it have used the room up";
  const Facts full{.limits = {.total = 10}, .usage = {.repository = 0, .total = 11}};
  EXPECT_EQ(decide(upload_of({{oid_a, 0}}), full).objects[0].status, 507);
}

TEST(Decide, ChoosesTheWayBySizeAndClient) {
  const Facts direct{.direct = true, .largest_put = 1000, .parts_from = 500};
  const Facts through{.direct = false, .parts_from = 500};
  const struct {
    bool multipart;
    std::uint64_t size;
    const Facts& facts;
    Step step;
  } cases[] = {
      {false, 10, direct, Step::upload_direct}, {false, 1000, direct, Step::upload_direct},
      {false, 1001, direct, Step::upload},      {true, 499, direct, Step::upload_direct},
      {true, 500, direct, Step::upload_parts},  {true, 500, through, Step::upload_parts},
      {false, 500, through, Step::upload},      {true, 0, through, Step::upload},
  };
  for (const auto& c : cases) {
    const Plan plan = decide(upload_of({{oid_a, c.size}}, c.multipart), c.facts);
    EXPECT_EQ(plan.objects[0].step, c.step) << c.size;
    EXPECT_EQ(plan.transfer, c.step == Step::upload_parts ? "multipart" : "basic") << c.size;
  }
}

TEST(Render, WritesActionsAndErrorsAsTheProtocolHasThem) {
  BatchRequest request = upload_of({{oid_a, 1}, {oid_b, 2}, {oid_c, 3}});
  request.hash_algo = "sha256";
  Plan plan;
  plan.objects = {{.file = {oid_a, 1}, .step = Step::upload},
                  {.file = {oid_b, 2}, .step = Step::none},
                  {.file = {oid_c, 3}, .step = Step::refuse, .status = 404, .message = "no \"such\" file"}};
  std::vector<Actions> actions(3);
  actions[0].upload = Link{"http://h/u", {{"Authorization", "Bearer x"}}, 60};
  actions[0].verify = Link{"http://h/v"};
  EXPECT_EQ(render(request, plan, actions),
            R"({"transfer":"basic","objects":[{"oid":")" + oid_a +
                R"(","size":1,"authenticated":true,"actions":{"upload":{"href":"http://h/u","header":)"
                R"({"Authorization":"Bearer x"},"expires_in":60},"verify":{"href":"http://h/v"}}},{"oid":")" +
                oid_b + R"(","size":2,"authenticated":true},{"oid":")" + oid_c +
                R"(","size":3,"error":{"code":404,"message":"no \"such\" file"}}],"hash_algo":"sha256"})");
}

}  // namespace
}  // namespace stackgate::datastore::lfs
