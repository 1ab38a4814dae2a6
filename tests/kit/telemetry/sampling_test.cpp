#include "services/kit/telemetry/sampling.hpp"

#include <gtest/gtest.h>

#include "services/kit/web/trace_context.hpp"

namespace stackgate::telemetry {
namespace {

constexpr std::string_view low = "ffffffffffffffff0000000000000001", high = "0000000000000001ffffffffffffffff";

TEST(Sampler, follows_the_caller_where_it_is_based_on_it) {
  struct Case {
    std::string_view word;
    std::optional<bool> parent;
    bool sampled;
  };
  for (const auto& [word, parent, sampled] : std::initializer_list<Case>{
           {"always_on", {}, true},
           {"always_on", false, true},
           {"always_off", {}, false},
           {"always_off", true, false},
           {"parentbased_always_on", {}, true},
           {"parentbased_always_on", false, false},
           {"parentbased_always_on", true, true},
           {"parentbased_always_off", {}, false},
           {"parentbased_always_off", true, true},
       }) {
    const auto sampler = parse_sampler(word);
    ASSERT_TRUE(sampler) << word;
    EXPECT_EQ(sampler->samples(low, parent), sampled) << word;
  }
  EXPECT_FALSE(parse_sampler("jaeger_remote"));
  EXPECT_FALSE(parse_sampler("parentbased_"));
}

TEST(Sampler, takes_the_share_of_traces_that_it_is_told_by_their_ids) {
  Sampler sampler{.root = Sampler::Root::ratio, .parent_based = true, .ratio = 0.5};
  EXPECT_TRUE(sampler.samples(low, {}));
  EXPECT_FALSE(sampler.samples(high, {}));
  EXPECT_TRUE(sampler.samples(high, true));
  sampler.ratio = 1;
  EXPECT_TRUE(sampler.samples(high, {}));
  sampler.ratio = 0;
  EXPECT_FALSE(sampler.samples("00000000000000010000000000000000", {}));
  sampler.ratio = 0.1;
  int taken = 0;
  for (int i = 0; i < 20'000; ++i) taken += sampler.samples(web::random_hex(32), {}) ? 1 : 0;
  EXPECT_NEAR(taken, 2'000, 300);
}

TEST(Sampler, takes_only_ratios_from_0_to_1) {
  EXPECT_EQ(parse_ratio("0.25"), 0.25);
  EXPECT_EQ(parse_ratio("1"), 1.0);
  for (const char* text : {"", "-0.1", "1.01", "nan", "0.5x", "half"}) EXPECT_FALSE(parse_ratio(text)) << text;
}

TEST(ExcludedUrls, are_found_anywhere_in_the_url) {
  std::string error;
  const auto urls = ExcludedUrls::compile(" health , ^https?://[^/]+/internal/,,\\?debug=1$", error);
  EXPECT_EQ(error, "");
  for (const char* url :
       {"http://h/v1/health", "http://h/healthz?x=1", "https://h:8000/internal/x", "http://h/a?debug=1"})
    EXPECT_TRUE(urls.contains(url)) << url;
  for (const char* url : {"http://h/v1/heal", "http://h/x/internal/", "http://h/a?debug=10"})
    EXPECT_FALSE(urls.contains(url)) << url;
  EXPECT_FALSE(ExcludedUrls::compile("", error).contains("http://h/"));
}

TEST(ExcludedUrls, leave_out_what_is_no_expression_and_say_so) {
  std::string error;
  const auto urls = ExcludedUrls::compile("(,health", error);
  EXPECT_NE(error, "");
  EXPECT_TRUE(urls.contains("http://h/health"));
}

}  // namespace
}  // namespace stackgate::telemetry
