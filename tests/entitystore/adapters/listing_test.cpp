#include "services/entitystore/adapters/listing.hpp"

#include <gmock/gmock.h>

namespace stackgate::entitystore {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<ListedPtr> some() {
  std::vector<ListedPtr> out;
  const auto add = [&](const char* id, const char* name, const char* version, Status status, const char* model,
                       std::vector<std::string> tags) {
    Record r;
    r.id = id;
    r.name = name;
    r.version = version;
    r.status = status;
    r.base_model = model;
    r.tags = std::move(tags);
    r.created_at = r.updated_at = std::string("2026-01-0") + std::to_string(out.size() + 1) + "T00:00:00.000Z";
    out.push_back(make_listed(std::move(r)));
  };
  add("1", "bot", "1.9.0", Status::ready, "m1", {"prod"});
  add("2", "bot", "1.10.0", Status::ready, "m1", {});
  add("3", "bot", "2.0.0", Status::pending, "m1", {});
  add("4", "art", "0.1.0", Status::ready, "M2", {"prod", "x"});
  return out;
}

std::vector<std::string> ids(std::string_view query) {
  const auto read = read_list_query(web::Query::parse(query));
  if (!read) return {"refused"};
  static std::vector<ListedPtr> all = some();
  std::vector<std::string> out;
  for (const Listed* row : select(all, *read).rows) out.push_back(row->record.id);
  return out;
}

std::vector<std::string> faults(std::string_view query) {
  const auto read = read_list_query(web::Query::parse(query));
  std::vector<std::string> out;
  if (!read)
    for (const auto& finding : read.error().findings) out.push_back(finding.path + " " + to_line(finding));
  return out;
}

TEST(Lists, TellWhichParameterIsWrongOrUnknown) {
  EXPECT_THAT(faults("page=0"),
              ElementsAre("query.page is no number from 1 to 2147483647 (value: 0); count pages from 1 "
                          "[query-parameter]"));
  EXPECT_THAT(faults("page_size=x"),
              ElementsAre("query.page_size is no number from 1 to 2147483647 (value: x); write how many to a page, at "
                          "most 1000 [query-parameter]"));
  EXPECT_THAT(faults("page=-1&page_size=0"), testing::SizeIs(2));
  EXPECT_THAT(faults("stauts=ready"),
              ElementsAre("query.stauts is no parameter of this list; write status, or leave it "
                          "out [query-parameter]"));
  EXPECT_THAT(faults("filter[name]=x"), ElementsAre(testing::HasSubstr("the parameters are status, base_model")));
  EXPECT_TRUE(read_list_query(web::Query::parse("filter[name]=x"), Unknown::let_be));
}

TEST(Lists, HoldEverythingInOrderOfCreationUnlessAsked) { EXPECT_THAT(ids(""), ElementsAre("1", "2", "3", "4")); }

TEST(Lists, AreFilteredSortedAndCutIntoPages) {
  EXPECT_THAT(ids("status=ready"), ElementsAre("1", "2", "4"));
  EXPECT_THAT(ids("status=pending,failed"), ElementsAre("3"));
  EXPECT_THAT(ids("status=pending&status=ready&name=BOT"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(ids("base_model=m2"), ElementsAre("4"));
  EXPECT_THAT(ids("tag=prod"), ElementsAre("1", "4"));
  EXPECT_THAT(ids("tag=pro"), IsEmpty());
  EXPECT_THAT(ids("search=AR"), ElementsAre("4"));
  EXPECT_THAT(ids("updated_since=2026-01-03T00:00:00Z"), ElementsAre("3", "4"));
  EXPECT_THAT(ids("updated_since=2026-01-04"), ElementsAre("4"));
  EXPECT_THAT(ids("latest=true"), ElementsAre("3", "4"));
  EXPECT_THAT(ids("latest=true&status=ready"), ElementsAre("2", "4"));
  EXPECT_THAT(ids("sort=-created_at"), ElementsAre("4", "3", "2", "1"));
  EXPECT_THAT(ids("sort=name"), ElementsAre("4", "1", "2", "3"));
  EXPECT_THAT(ids("sort=-version"), ElementsAre("3", "2", "1", "4"));
  EXPECT_THAT(ids("page_size=3"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(ids("page=2&page_size=3"), ElementsAre("4"));
  EXPECT_THAT(ids("page=3&page_size=3"), IsEmpty());
  EXPECT_THAT(ids("page=1000000&page_size=1000"), IsEmpty());
  EXPECT_THAT(ids("unknown=1"), ElementsAre("refused"));
}

TEST(Lists, RefuseWhatTheyDoNotUnderstand) {
  for (const char* query :
       {"status=redy", "updated_since=yesterday", "sort=rank", "page=0", "page_size=x", "latest=maybe"})
    EXPECT_THAT(ids(query), ElementsAre("refused")) << query;
  const auto failure = read_list_query(web::Query::parse("status=a,b&updated_since=c"));
  ASSERT_FALSE(failure);
  EXPECT_EQ(failure.error().status, 422);
  EXPECT_EQ(failure.error().findings.size(), 3U);
}

TEST(EntityTags, ChangeWithTheAnswerOnly) {
  std::vector<ListedPtr> all = some();
  const auto tag = [&](std::string_view query) {
    return etag_of(select(all, *read_list_query(web::Query::parse(query))));
  };
  const std::string ready = tag("status=ready"), pending = tag("status=pending"), page = tag("page_size=1");
  EXPECT_NE(ready, pending);
  Record changed = all[2]->record;
  changed.status = Status::failed;
  changed.changed = 9;
  all[2] = make_listed(changed);
  EXPECT_EQ(tag("status=ready"), ready);
  EXPECT_NE(tag("status=pending"), pending);
  EXPECT_EQ(tag("page_size=1"), page);
  all.pop_back();
  EXPECT_NE(tag("page_size=1"), page);  // the total has changed
}

}  // namespace
}  // namespace stackgate::entitystore
