// Bodies of answers, the table of routes and what the OpenAPI document says of it.
#include "services/evaluator/front/show.hpp"

#include <set>

#include <gmock/gmock.h>

#include "services/evaluator/front/results_zip.hpp"
#include "services/evaluator/front/route_table.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::evaluator {
namespace show_tests {

using testing::ElementsAre;

/// A tree and what it stands in.
struct Tree {
  std::string text;
  json::Document document{};
  json::Value root;
  explicit Tree(std::string from) : text(std::move(from)), root(json::parse(text, document).value()) {}
  std::string at(json::MemberPath path) const { return std::string(json::text(&root, path)); }
};

const Evaluation& running() {
  static const Evaluation one{.id = "eval-1",
                              .name = "mine",
                              .request = R"({"name":"mine","framework":"custom","api_key":"******","tasks":["t"]})",
                              .state = State::running,
                              .message = "waits",
                              .progress = R"({"task_status":{"t":"running"},"progress":40})",
                              .results = R"({"complete":false,"tasks":{"b":{},"a":{}},"groups":{}})",
                              .warnings = "[]",
                              .created_at = 1'800'000'000,
                              .changed_at = 1'800'000'001};
  return one;
}

TEST(Show, is_nemos_job_with_the_request_in_it) {
  const Tree shown(evaluation_json(running()));
  EXPECT_EQ(shown.at({"id"}), "eval-1");
  EXPECT_EQ(shown.at({"status"}), "running");
  EXPECT_EQ(shown.at({"status_details", "message"}), "waits");
  EXPECT_EQ(shown.at({"status_details", "task_status", "t"}), "running");
  EXPECT_EQ(json::integer(&shown.root, {"status_details", "progress"}), 40);
  EXPECT_EQ(shown.at({"created_at"}), "2027-01-15T08:00:00Z");
  EXPECT_TRUE(shown.root.find("ended_at")->is_null());
  EXPECT_EQ(shown.at({"framework"}), "custom");
  EXPECT_EQ(shown.at({"api_key"}), "******");
}

TEST(Show, has_results_of_a_part_and_of_nothing) {
  const Tree part(results_answer(running(), "http://e"));
  EXPECT_FALSE(json::flag(&part.root, {"complete"}));
  EXPECT_NE(json::at(&part.root, {"tasks", "a"}), nullptr);
  EXPECT_EQ(part.at({"files_url"}), "http://e/v1/evaluations/mine/results?format=zip");
  Evaluation fresh = running();
  fresh.results.clear();
  const Tree nothing(results_answer(fresh, "http://e"));
  EXPECT_TRUE(json::members(&nothing.root, {"tasks"}).empty());
  EXPECT_NE(nothing.root.find("groups"), nullptr);
  EXPECT_THAT(tasks_of(running()), ElementsAre("b", "a"));
  EXPECT_THAT(tasks_of(fresh), ElementsAre("t"));
}

TEST(Show, writes_a_log_line_for_each_event) {
  EXPECT_EQ(log_line({.number = 1, .at = 1'800'000'000, .message = "running"}), "2027-01-15T08:00:00Z running\n");
}

TEST(OpenApi, has_every_route_and_no_other) {
  const Tree document(openapi_document());
  EXPECT_EQ(document.at({"openapi"}), "3.1.0");
  std::set<std::string> said, served;
  for (const json::Member& path : json::members(&document.root, {"paths"}))
    for (const json::Member& method : path.value.members()) {
      std::string name(method.key);
      for (char& c : name) c = static_cast<char>(c & ~0x20);
      said.insert(name + " " + std::string(path.key));
      EXPECT_FALSE(json::text(&method.value, {"summary"}).empty());
      EXPECT_NE(json::at(&method.value, {"responses", "default"}), nullptr);
    }
  for (const web::Route& route : routes(nullptr))
    served.insert(std::string(route.method) + " " + std::string(route.pattern));
  EXPECT_EQ(said, served);
  EXPECT_GE(served.size(), 19U);
}

TEST(OpenApi, has_the_header_that_a_stream_of_events_begins_behind) {
  const Tree document(openapi_document());
  for (const json::Member& path : json::members(&document.root, {"paths"}))
    for (const json::Member& method : path.value.members()) {
      std::string headers;
      for (const json::Value& each : json::items(&method.value, {"parameters"}))
        if (json::text(&each, {"in"}) == "header") headers += json::text(&each, {"name"});
      EXPECT_EQ(headers, path.key == "/v1/evaluations/{name}/events" ? "Last-Event-ID" : "") << path.key;
    }
}

/// Every "#/components/schemas/…" of it.
void collect_references(const json::Value& value, std::set<std::string>& out) {
  for (const json::Member& each : value.members()) {
    if (each.key == "$ref") out.insert(std::string(each.value.string()));
    collect_references(each.value, out);
  }
  for (const json::Value& each : value.items()) collect_references(each, out);
}

TEST(OpenApi, has_every_schema_that_it_refers_to) {
  const Tree document(openapi_document());
  std::set<std::string> references;
  collect_references(document.root, references);
  EXPECT_GE(references.size(), 3U);
  for (const std::string& each : references) {
    const std::string name = each.substr(std::string_view("#/components/schemas/").size());
    EXPECT_NE(json::at(&document.root, {"components", "schemas", name}), nullptr) << each;
  }
}

}  // namespace show_tests
}  // namespace stackgate::evaluator
