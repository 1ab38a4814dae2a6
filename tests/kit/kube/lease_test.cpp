#include "services/kit/kube/lease.hpp"

#include <gtest/gtest.h>

#include "services/kit/json/parse.hpp"

namespace stackgate::kube::lease_test {
namespace {

LeaseRecord parsed(std::string_view text) {
  json::Document document;
  EXPECT_TRUE(json::parse(text, document));
  return read_lease(document.root);
}

const LeaseRecord held{
    "pod_1", std::chrono::seconds(15), "2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:02.000000Z", 3, "77"};

TEST(Lease, reads_what_it_writes) {
  LeaseRecord read = parsed(lease_json("ns", "operator", held));
  EXPECT_TRUE(same_words(read, held));
  EXPECT_EQ(read.resource_version, "") << "a new object has none";
  read = parsed(lease_patch(held));
  EXPECT_TRUE(same_words(read, held));
  EXPECT_EQ(read.resource_version, "77");
}

TEST(Lease, a_patch_takes_an_empty_holder_out) {
  LeaseRecord released = held;
  released.holder.clear();
  EXPECT_NE(lease_patch(released).find(R"("holderIdentity":null)"), std::string::npos);
}

TEST(Lease, reads_an_empty_or_odd_lease_as_free) {
  for (const char* text : {"{}", R"({"spec":{}})", R"({"spec":null})", R"({"spec":{"holderIdentity":5}})", "[]"}) {
    const LeaseRecord read = parsed(text);
    EXPECT_EQ(read.holder, "") << text;
    EXPECT_EQ(read.duration.count(), 0) << text;
  }
}

TEST(Lease, a_new_resource_version_alone_says_nothing_new) {
  LeaseRecord other = held;
  other.resource_version = "78";
  EXPECT_TRUE(same_words(held, other));
  other.renew_time = "2026-01-01T00:00:04.000000Z";
  EXPECT_FALSE(same_words(held, other));
}

}  // namespace
}  // namespace stackgate::kube::lease_test
