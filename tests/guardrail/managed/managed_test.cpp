// Configurations of the API over HTTP, on both databases: taken, refused, served, shared by replicas, kept.
#include "services/guardrail/managed/managed.hpp"

#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "services/guardrail/memory/conversations.hpp"
#include "services/kit/metrics/registry.hpp"
#include "tests/guardrail/store/folder_support.hpp"
#include "tests/kit/sql/engines.hpp"
#include "tests/kit/web/app_support.hpp"

namespace stackgate::guardrail {
namespace {

using testing::HasSubstr;
using web::test::Reply;

constexpr std::string_view configs = "/v1/guardrail/configs";
const std::string refuses = R"({"rails":{"input":{"flows":["refuse all"]}},"colang_content":)"
                            R"("define flow refuse all\n  bot refuse to respond\n  stop\n"})";

/// A server of these routes.
struct Replica {
  Replica(const std::shared_ptr<sql::Database>& database, const std::string& folder, KeptLimits limits = {},
          std::chrono::milliseconds look = {})
      : store(std::make_shared<Store>(StoreOptions{.folder = folder, .look = {}}, metrics)),
        managed(std::make_shared<ManagedConfigurations>(database, store, look, limits)),
        app(web::test::start(managed_routes(managed))) {
    EXPECT_TRUE(managed->refresh().has_value());
  }
  Reply ask(std::string_view method, std::string_view below, std::string_view body = {}) const {
    return web::test::ask(*app, fmt::format("{} {}{}", method, configs, below), body,
                          "Content-Type: application/json\r\n");
  }
  Reply create(std::string_view name, std::string_view data = "{}", std::string_view name_space = "default") const {
    return ask("POST", "", fmt::format(R"({{"name":"{}","namespace":"{}","data":{}}})", name, name_space, data));
  }
  bool serves(const std::string& id) const {
    const auto snapshot = store->snapshot();
    return snapshot->find(std::span(&id, 1)).configuration != nullptr;
  }

  metrics::Registry metrics;
  std::shared_ptr<Store> store;
  std::shared_ptr<ManagedConfigurations> managed;
  std::unique_ptr<web::App> app;
};

class ManagedTest : public sql::test::OnBothEngines {
 protected:
  void SetUp() override {
    OnBothEngines::SetUp();
    if (IsSkipped()) return;
    shared_ = open();
    const auto done = sql::migrate(*shared_, conversation_migrations());
    ASSERT_TRUE(done) << done.error().message;
    folder.write("mounted/config.yml", test::good);
  }
  Replica replica(KeptLimits limits = {}, std::chrono::milliseconds look = {}) const {
    return {shared_, folder.path(), limits, look};
  }

  const test::Folder folder{};
  std::shared_ptr<sql::Database> shared_;
};

TEST_P(ManagedTest, one_is_created_served_changed_and_deleted) {
  const Replica server = replica();
  const Reply created = server.create("strict", refuses, "team");
  EXPECT_EQ(created.status, 201);
  EXPECT_THAT(created.body, HasSubstr(R"("id":"team.strict")"));
  EXPECT_TRUE(server.serves("team.strict"));
  EXPECT_EQ(server.ask("GET", "/team/strict").body, created.body);

  const Reply patched = server.ask("PATCH", "/team/strict", R"({"description":"d","data":{"rails":{"input":null}}})");
  EXPECT_EQ(patched.status, 200) << patched.body;
  EXPECT_THAT(patched.body, HasSubstr(R"("description":"d")"));
  EXPECT_THAT(patched.body, HasSubstr("refuse all"));
  EXPECT_EQ(server.store->snapshot()->configurations().at("team.strict").configuration->input.flows.size(), 0U);
  const Reply replaced = server.ask("PUT", "/team/strict", R"({"data":{"models":[]}})");
  EXPECT_EQ(replaced.status, 200) << replaced.body;
  EXPECT_THAT(replaced.body, testing::Not(HasSubstr("refuse all")));
  EXPECT_THAT(replaced.body, HasSubstr(R"("description":null)"));

  EXPECT_THAT(server.ask("DELETE", "/team/strict").body, HasSubstr(R"("id":"team.strict")"));
  EXPECT_FALSE(server.serves("team.strict"));
  EXPECT_EQ(server.ask("GET", "/team/strict").status, 404);
}

TEST_P(ManagedTest, what_is_refused_changes_nothing) {
  const Replica server = replica();
  ASSERT_EQ(server.create("a").status, 201);
  ASSERT_EQ(server.create("b", "{}", "x").status, 201);
  const std::string before = server.ask("GET", "").body;
  struct Case {
    std::string_view method, below, body;
    int status;
    std::string_view says;
  };
  const Case cases[] = {
      {"POST", "", R"({"name":"a","data":{}})", 409, "already"},
      {"POST", "", R"({"name":"x.b","data":{}})", 409, "already"},
      {"POST", "", R"({"name":"mounted","data":{}})", 409, "folder"},
      {"POST", "", R"({"name":"a/b","data":{}})", 422, "is no name"},
      {"POST", "", R"({"name":"new","files_url":"hf://datasets/a/b"})", 422, "is not fetched"},
      {"POST", "", R"({"name":"new","data":{"rails":{"input":{"flows":["no such","nor this"]}}}})", 422, "nor this"},
      {"POST", "", R"({"name":"new","data":{"colang_content":"define flow a\n  bot x\n\tbot y\n"}})", 422, ":3:"},
      {"POST", "", R"({"name":"new","data":{"colang_version":"2.x"}})", 422, "Colang 2"},
      {"POST", "", "[]", 422, "object"},
      {"POST", "", "{", 400, ""},
      {"PATCH", "/default/a", R"({"name":"c"})", 422, "cannot change"},
      {"PATCH", "/default/a", R"({"data":{"rails":{"input":{"flows":["no such"]}}}})", 422, "no such"},
      {"PUT", "/default/a", R"({"namespace":"c","data":{}})", 422, "cannot change"},
      {"PUT", "/default/a", "{}", 422, "is missing"},
      {"PATCH", "/default/c", "{}", 404, "no configuration c"},
      {"PUT", "/x/a", R"({"data":{}})", 404, "namespace x"},
      {"DELETE", "/default/c", "", 404, "no configuration"},
      {"GET", "/default/mounted", "", 404, "no configuration"},
      {"GET", "?sort=size", "", 422, "created_at"},
  };
  for (const Case& each : cases) {
    const Reply reply = server.ask(each.method, each.below, each.body);
    EXPECT_EQ(reply.status, each.status) << each.method << each.below << each.body << reply.body;
    EXPECT_THAT(reply.body, HasSubstr(std::string(each.says))) << each.method << each.below << each.body;
  }
  EXPECT_EQ(server.ask("GET", "").body, before);
  EXPECT_FALSE(server.serves("new"));
}

TEST_P(ManagedTest, a_list_is_sorted_and_has_pages) {
  const Replica server = replica();
  for (const char* name : {"b", "c", "a"}) ASSERT_EQ(server.create(name).status, 201);
  const auto names = [&](std::string_view query) {
    const std::string body = server.ask("GET", query).body;
    std::string out;
    for (std::size_t at = body.find(R"("name":")"); at != std::string::npos; at = body.find(R"("name":")", at + 1))
      out += body[at + 8];
    return out;
  };
  EXPECT_EQ(names("?sort=name"), "abc");
  EXPECT_EQ(names("?sort=-name&page_size=2"), "cb");
  EXPECT_EQ(names("?sort=name&page_size=2&page=2"), "c");
  EXPECT_EQ(names("?page=9"), "");
  EXPECT_EQ(names("?page=1844674407370955161"), "");
  EXPECT_EQ(names("?sort=created_at"), "bca");
  EXPECT_EQ(names(""), "acb") << "the newest first";
  EXPECT_THAT(server.ask("GET", "").body, HasSubstr(R"("total_results":3)"));
}

TEST_P(ManagedTest, replicas_serve_the_same_and_a_start_finds_it) {
  const Replica one = replica(), other = replica({}, std::chrono::milliseconds(20));
  ASSERT_EQ(one.create("shared", refuses).status, 201);
  EXPECT_TRUE(web::test::soon([&] { return other.serves("shared"); }));
  EXPECT_EQ(replica().serves("shared"), true);
  ASSERT_EQ(other.ask("DELETE", "/default/shared").status, 200);
  EXPECT_EQ(one.ask("GET", "/default/shared").status, 404);
  EXPECT_FALSE(one.serves("shared"));
}

TEST_P(ManagedTest, no_change_is_lost) {
  const Replica one = replica(), other = replica();
  ASSERT_EQ(one.create("a").status, 201);
  const auto patch = [](const Replica& at, std::string_view key) {
    Reply reply{};
    for (int i = 0; i < 20 && reply.status != 200; ++i)
      reply = at.ask("PATCH", "/default/a", fmt::format(R"({{"custom_fields":{{"{}":1}}}})", key));
    EXPECT_EQ(reply.status, 200) << reply.body;
  };
  {
    const std::jthread first([&] {
      for (const char* key : {"a", "b", "c", "d"}) patch(one, key);
    });
    for (const char* key : {"e", "f", "g", "h"}) patch(other, key);
  }
  EXPECT_THAT(one.ask("GET", "/default/a").body,
              HasSubstr(R"("custom_fields":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1})"));
}

TEST_P(ManagedTest, there_is_room_for_so_many_and_no_more) {
  const Replica server = replica({.count = 2, .bytes = 2'000});
  ASSERT_EQ(server.create("a").status, 201);
  const std::string large = fmt::format(R"({{"custom_data":{{"x":"{}"}}}})", std::string(2'000, 'x'));
  EXPECT_EQ(server.create("large", large).status, 507);
  EXPECT_EQ(server.ask("PATCH", "/default/a", fmt::format(R"({{"data":{}}})", large)).status, 507);
  ASSERT_EQ(server.create("b").status, 201);
  const Reply third = server.create("c");
  EXPECT_EQ(third.status, 507);
  EXPECT_THAT(third.body, HasSubstr("2 configurations"));
  ASSERT_EQ(server.ask("DELETE", "/default/b").status, 200);
  EXPECT_EQ(server.create("c").status, 201);
  EXPECT_FALSE(server.serves("large"));
}

TEST_P(ManagedTest, one_of_the_folder_counts_instead_of_it) {
  const Replica server = replica();
  ASSERT_EQ(server.create("late", refuses).status, 201);
  folder.write("late/config.yml", test::good);
  server.store->reload();
  EXPECT_EQ(server.store->snapshot()->configurations().at("late").configuration->input.flows.size(), 0U);
  EXPECT_FALSE(server.store->snapshot()->configurations().at("late").managed);
  folder.remove("late");
  server.store->reload();
  EXPECT_EQ(server.store->snapshot()->configurations().at("late").configuration->input.flows.size(), 1U);
}

TEST_P(ManagedTest, what_cannot_be_read_is_passed_over) {
  must(
      "INSERT INTO kept_configuration (name_space, name, id, text, bytes, version) VALUES ('x', 'y', 'x.y', '{', 1, "
      "1)");
  const Replica server = replica();
  EXPECT_EQ(server.create("a").status, 201);
  EXPECT_FALSE(server.serves("x.y"));
}

ON_BOTH_ENGINES(ManagedTest);

}  // namespace
}  // namespace stackgate::guardrail
