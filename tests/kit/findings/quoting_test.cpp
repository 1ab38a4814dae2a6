#include "services/kit/findings/quoting.hpp"

#include <gtest/gtest.h>

#include "services/kit/json/document.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::validate {
namespace {

struct Case {
  std::string_view path;
  std::string_view value;  // JSON
  std::string_view quoted;
};

class Quoting : public testing::TestWithParam<Case> {};

TEST_P(Quoting, shows_a_value_unless_it_may_be_a_secret) {
  json::Document document;
  const auto value = json::parse(GetParam().value, document);
  ASSERT_TRUE(value);
  EXPECT_EQ(quoted_value(GetParam().path, &*value), GetParam().quoted) << GetParam().path;
}

INSTANTIATE_TEST_SUITE_P(
    Paths, Quoting,
    testing::Values(
        Case{"spec.replicas", "-1", "-1"}, Case{"spec.authSecret", R"("registry_api")", R"("registry_api")"},
        Case{"spec.env[0].name", R"("LOG LEVEL")", R"("LOG LEVEL")"}, Case{"spec.env[0].value", R"("hunter2")", ""},
        Case{"spec.pipeline.envValue", R"("hunter2")", ""}, Case{"spec.env[0]", R"("NAME=hunter2")", ""},
        Case{"spec.tag", R"("a=b")", R"("a=b")"}, Case{"spec.password", R"("hunter2")", ""},
        Case{"spec.passwordKey", R"("db")", R"("db")"}, Case{"spec.apiKey", R"("hunter2")", ""},
        Case{"spec.token", R"("hunter2")", ""}, Case{"token", R"("hunter2")", ""}, Case{"spec.tokenTTL", "5", ""},
        Case{"spec.automountServiceAccountToken", "1", "1"}, Case{"metadata.annotations", R"("hunter2")", ""},
        Case{"metadata.annotations.note", R"("hunter2")", ""},
        Case{"metadata.annotations[example.com/a]", R"("hunter2")", ""},
        Case{"spec.podAnnotations.note", R"("hunter2")", ""},
        Case{"spec.annotationsOff.annotations[x]", R"("hunter2")", ""},
        Case{"spec.annotationsOff", R"("yes")", R"("yes")"},
        Case{"spec.url", R"("https://me:hunter2@example.com/")", ""},
        Case{"spec.image", R"("llm@sha256:0")", R"("llm@sha256:0")"}));

}  // namespace
}  // namespace stackgate::validate
