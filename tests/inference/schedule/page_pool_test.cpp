#include "services/inference/schedule/page_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stackgate::inference {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Tokens = std::vector<std::uint32_t>;

TEST(PagePool, gives_each_page_once_until_it_comes_back) {
  PagePool pool(2, 4);
  const auto a = pool.allocate(), b = pool.allocate();
  ASSERT_TRUE(a && b);
  EXPECT_NE(*a, *b);
  EXPECT_FALSE(pool.allocate());
  pool.release(*b);
  EXPECT_EQ(pool.allocate(), b);
}

TEST(PagePool, finds_what_was_published_in_whole_pages_and_leaves_one_token) {
  PagePool pool(4, 2);
  const Beginning root = pool.root();
  const Page first = *pool.allocate(), second = *pool.allocate();
  const Beginning middle = pool.publish(root, Tokens{1, 2}, first);
  const Beginning end = pool.publish(middle, Tokens{3, 4}, second);
  EXPECT_THAT(pool.take(root, Tokens{1, 2, 3, 4, 5}).pages, ElementsAre(first, second));
  EXPECT_EQ(pool.take(root, Tokens{1, 2, 3, 4, 5}).beginning, end);
  EXPECT_THAT(pool.take(root, Tokens{1, 2, 3, 4}).pages, ElementsAre(first)) << "the last token's logits are wanted";
  EXPECT_THAT(pool.take(root, Tokens{1, 2}).pages, IsEmpty());
  EXPECT_THAT(pool.take(root, Tokens{1, 2, 9, 4, 5}).pages, ElementsAre(first));
  EXPECT_THAT(pool.take(root, Tokens{3, 4, 5}).pages, IsEmpty()) << "not what it continues";
}

TEST(PagePool, never_shares_what_belongs_to_another_root) {
  PagePool pool(4, 2);
  const Beginning base = pool.root(), adapter = pool.root();
  pool.publish(base, Tokens{1, 2}, *pool.allocate());
  EXPECT_THAT(pool.take(adapter, Tokens{1, 2, 3}).pages, IsEmpty());
}

TEST(PagePool, keeps_published_pages_until_they_are_needed_and_takes_the_oldest) {
  PagePool pool(2, 1);
  const Beginning root = pool.root();
  const Page old = *pool.allocate(), young = *pool.allocate();
  pool.publish(root, Tokens{1}, old);
  pool.publish(root, Tokens{2}, young);
  pool.release(old);
  pool.release(young);
  EXPECT_EQ(pool.available(), 2U);
  EXPECT_EQ(pool.allocate(), old);
  EXPECT_THAT(pool.take(root, Tokens{1, 9}).pages, IsEmpty()) << "its page is another's now";
  EXPECT_THAT(pool.take(root, Tokens{2, 9}).pages, ElementsAre(young));
  EXPECT_EQ(pool.available(), 0U);
}

TEST(PagePool, a_second_page_of_the_same_beginning_stays_private) {
  PagePool pool(2, 1);
  const Beginning root = pool.root();
  const Page first = *pool.allocate(), second = *pool.allocate();
  const Beginning end = pool.publish(root, Tokens{1}, first);
  EXPECT_EQ(pool.publish(root, Tokens{1}, second), end);
  pool.release(second);
  EXPECT_EQ(pool.allocate(), second) << "free at once";
  EXPECT_THAT(pool.take(root, Tokens{1, 2}).pages, ElementsAre(first));
}

}  // namespace
}  // namespace stackgate::inference
