// HTTP contracts as tables: a request, and the status, the headers and the parts of the body that a client relies on.
// Rows of a table run in order on one store with a few repositories whose commits are the same every time.
#pragma once
#include <filesystem>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "services/datastore/git/write.hpp"
#include "tests/datastore/whole/running_support.hpp"

namespace stackgate::datastore::whole_test {

/// Types of a request's body.
inline constexpr std::string_view form_type = "Content-Type: application/x-www-form-urlencoded\r\n";

enum class As : std::uint8_t { nobody, administrator, ann, bob, reader, wrong };  // reader: a read-only token of ann's

/// In texts "$head" and "$first" are the ids of the two commits of ann/whole.
struct Row {
  As as = As::nobody;
  std::string_view request;              // "GET /path?query"
  std::string_view send{};               // the body
  std::string_view headers{};            // of the request, lines with "\r\n"; JSON is the body's type without
  int status = 200;                      // and what follows is the answer's
  std::vector<std::string_view> with{};  // "Name: value" is a line of the head, "!Name" none of it
  std::vector<std::string_view> body{};  // "=text" is the whole body, "!text" no part of it, else a part
};

/// ann/whole (two commits on main, the first also feature/x and v1), ann/secret (private), ann/empty, ann/damaged
/// (whose folder is lost), the dataset ann/data; the organisation team is ann's.
class Contract : public Running {
 protected:
  void SetUp() override {
    Running::SetUp();
    for (const char* name : {"ann", "bob"})
      made("POST /api/v1/admin/users",
           std::string(R"({"password":"correct-horse-battery","username":")") + name + "\"}");
    const std::string ann = basic("ann", password);
    for (const char* body : {R"({"name":"whole","description":"d"})", R"({"name":"secret","private":true})",
                             R"({"name":"empty"})", R"({"name":"damaged"})"})
      made("POST /api/v1/user/repos", body, ann);
    std::filesystem::remove_all(repository(4));
    ASSERT_EQ(as(ann, "POST /v1/hf/api/repos/create", R"({"type":"dataset","name":"data"})").status, 200);
    made("POST /api/v1/orgs", R"({"username":"team"})", ann);
    const auto token = as(ann, "POST /api/v1/users/ann/tokens", R"({"name":"r","scopes":["read"]})");
    ASSERT_EQ(token.status, 201) << token.body;
    const auto at = token.body.find("hf_");
    who_ = {{As::nobody, ""},
            {As::administrator, basic(admin, password)},
            {As::ann, ann},
            {As::bob, basic("bob", password)},
            {As::reader, "Authorization: Bearer " + token.body.substr(at, token.body.find('"', at) - at) + "\r\n"},
            {As::wrong, basic("ann", "wrong")}};
    first_ = commit({{.path = "README.md", .content = "# whole\n"},
                     {.path = "dir/a.txt", .content = "a\n"},
                     {.path = "big.bin",
                      .content = "version https://git-lfs.github.com/spec/v1\n"
                                 "oid sha256:0000000000000000000000000000000000000000000000000000000000000001\n"
                                 "size 5\n"}});
    ASSERT_TRUE(git::create_branch(repository(1), "feature/x", first_, false));
    ASSERT_TRUE(git::create_tag(repository(1), "v1", first_, "", signature()));
    head_ = commit({{.path = "README.md", .content = "# whole, changed\n"}});
  }

  void holds(std::span<const Row> rows) const {
    for (const Row& row : rows) {
      SCOPED_TRACE(std::string(row.request).append(" ").append(row.send));
      std::string headers = who_.at(row.as);
      if (!row.send.empty() && !row.headers.contains("Content-Type:")) headers += "Content-Type: application/json\r\n";
      headers += row.headers;
      http::test::Client client(app_->port());
      client.send(web::test::request_text(expand(row.request), expand(row.send), headers + "Connection: close\r\n"));
      const web::test::Reply reply = web::test::split(client.rest(std::chrono::seconds(30)));
      EXPECT_EQ(reply.status, row.status) << reply.head << reply.body;
      for (const std::string_view line : row.with)
        if (line.starts_with('!'))
          EXPECT_EQ(reply.header(line.substr(1)), "") << line;
        else
          EXPECT_THAT(reply.head, testing::HasSubstr("\r\n" + expand(line) + "\r\n"));
      for (const std::string_view text : row.body)
        if (text.starts_with('='))
          EXPECT_EQ(reply.body, expand(text.substr(1)));
        else if (text.starts_with('!'))
          EXPECT_THAT(reply.body, testing::Not(testing::HasSubstr(expand(text.substr(1)))));
        else
          EXPECT_THAT(reply.body, testing::HasSubstr(expand(text)));
    }
  }

 private:
  static git::Signature signature() { return {.name = "Ann", .email = "ann@example.org", .seconds = 1'700'000'000}; }
  void made(std::string_view line, std::string_view body, std::string_view who = {}) const {
    const auto reply = as(who.empty() ? basic(admin, password) : std::string(who), line, body);
    ASSERT_EQ(reply.status, 201) << line << body << reply.body;
  }
  git::Oid commit(const std::vector<git::Change>& changes) const {
    auto done = git::commit_changes(
        repository(1), {.branch = "main", .message = "A commit\n", .author = signature(), .committer = signature()},
        changes);
    return done ? done->oid : done.error().message;
  }
  std::string expand(std::string_view text) const {
    std::string out(text);
    for (const auto& [name, value] :
         {std::pair<std::string_view, const std::string&>{"$head", head_}, {"$first", first_}})
      for (auto at = out.find(name); at != std::string::npos; at = out.find(name)) out.replace(at, name.size(), value);
    return out;
  }

  std::map<As, std::string> who_;
  git::Oid first_, head_;
};

}  // namespace stackgate::datastore::whole_test
