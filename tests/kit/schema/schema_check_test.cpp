#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/schema/check.hpp"
#include "services/kit/schema/pattern.hpp"

namespace stackgate::validate::schema {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Faults as "path keyword".
std::vector<std::string> faults_of(std::string_view schema_text, std::string_view value_text, Root root = Root::value) {
  static constexpr std::string_view words[] = {"type",   "null",    "required", "unknown",   "enum",       "range",
                                               "length", "pattern", "format",   "duplicate", "combination"};
  json::Document schema_document, document;
  const auto schema = json::parse(schema_text, schema_document);
  const auto value = json::parse(value_text, document);
  EXPECT_TRUE(schema) << schema_text << (schema ? "" : schema.error().message);
  EXPECT_TRUE(value) << value_text << (value ? "" : value.error().message);
  const auto compiled = Schema::compile(*schema, root);
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error());
  std::vector<std::string> out;
  if (!compiled) return {"no schema"};
  for (const SchemaFault& each : check(compiled->root(), *value)) {
    EXPECT_FALSE(each.problem.empty() || each.fix.empty()) << each.path;
    out.push_back(each.path + " " + std::string(words[static_cast<std::size_t>(each.fault)]));
  }
  return out;
}

SchemaFault only_fault(std::string_view schema_text, std::string_view value_text) {
  json::Document schema_document, document;
  const auto schema = json::parse(schema_text, schema_document);
  const auto value = json::parse(value_text, document);
  const auto compiled = Schema::compile(*schema, Root::value, crds::grammar_of);
  EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error());
  auto faults = check(compiled->root(), *value);
  EXPECT_EQ(faults.size(), 1U) << schema_text << value_text;
  return faults.empty() ? SchemaFault{} : faults[0];
}

struct Row {
  std::string_view schema, value;
  std::vector<std::string> faults;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows)
    EXPECT_EQ(faults_of(row.schema, row.value), row.faults) << row.schema << "\n" << row.value;
}

TEST(SchemaTypes, AreHeldAsTheApiServerHoldsThem) {
  expect_rows({
      {R"({"type":"string"})", R"("a")", {}},
      {R"({"type":"string"})", "1", {" type"}},
      {R"({"type":"integer"})", "1", {}},
      {R"({"type":"integer"})", "1.0", {}},
      {R"({"type":"integer"})", "1e3", {}},
      {R"({"type":"integer"})", "1.5", {" type"}},
      {R"({"type":"integer"})", "1e30", {" type"}},
      {R"({"type":"integer"})", "9223372036854775807", {}},
      {R"({"type":"integer"})", R"("1")", {" type"}},
      {R"({"type":"number"})", "1", {}},
      {R"({"type":"number"})", "1.5", {}},
      {R"({"type":"boolean"})", "true", {}},
      {R"({"type":"boolean"})", R"("true")", {" type"}},
      {R"({"type":"array","items":{"type":"string"}})", "{}", {" type"}},
      {R"({"type":"object"})", "[]", {" type"}},
      {R"({"x-kubernetes-int-or-string":true})", "1", {}},
      {R"({"x-kubernetes-int-or-string":true})", R"("1")", {}},
      {R"({"x-kubernetes-int-or-string":true})", "1.5", {" type"}},
      {R"({"x-kubernetes-int-or-string":true})", "true", {" type"}},
      {R"({"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}]})", "{}", {" type"}},
      {R"({"x-kubernetes-int-or-string":true,"pattern":"^a$"})", R"("b")", {" pattern"}},
      {R"({"x-kubernetes-int-or-string":true,"pattern":"^a$"})", "7", {}},
  });
}

TEST(SchemaNull, IsDroppedFromFieldsAndRefusedInLists) {
  expect_rows({
      {R"({"type":"object","properties":{"a":{"type":"string"}}})", R"({"a":null})", {}},
      {R"({"type":"object","required":["a"],"properties":{"a":{"type":"string"}}})", R"({"a":null})", {"a null"}},
      {R"({"type":"object","required":["a"],"properties":{"a":{"type":"string","nullable":true}}})",
       R"({"a":null})",
       {}},
      {R"({"type":"object","required":["a"],"properties":{"a":{"type":"string","default":"x"}}})", R"({"a":null})", {}},
      {R"({"type":"object","additionalProperties":{"type":"string"}})", R"({"a":null})", {}},
      {R"({"type":"array","items":{"type":"string"}})", R"([null,"a",null])", {"[0] null", "[2] null"}},
      {R"({"type":"array","items":{"type":"string","nullable":true}})", "[null]", {}},
      {R"({"type":"array","items":{"type":"string","default":"x"}})", "[null]", {}},
      {R"({"type":"string","nullable":true,"enum":["a"]})", "null", {" enum"}},
      {R"({"type":"string","nullable":true,"enum":["a",null]})", "null", {}},
      {R"({"type":"object","minProperties":1,"properties":{"a":{"type":"string"}}})", R"({"a":null})", {" length"}},
  });
}

TEST(SchemaFields, AreRequiredKnownAndDefaulted) {
  expect_rows({
      {R"({"type":"object","required":["a","b"],"properties":{"a":{"type":"string"},"b":{"type":"string"}}})",
       "{}",
       {"a required", "b required"}},
      {R"({"type":"object","required":["a"],"properties":{"a":{"type":"string","default":"x"}}})", "{}", {}},
      {R"({"type":"object","required":["b"],"additionalProperties":{"type":"string"}})",
       R"({"a":"x"})",
       {"b required"}},
      {R"({"type":"object","properties":{"a":{"type":"string"}}})", R"({"b":1,"a":1})", {"b unknown", "a type"}},
      {R"({"type":"object"})", R"({"b":1})", {"b unknown"}},
      {R"({"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"a":{"type":"string"}}})",
       R"({"b":1,"a":1})",
       {"a type"}},
      {R"({"type":"object","additionalProperties":{"type":"integer"}})", R"({"x/y":"s"})", {"[x/y] type"}},
      {R"({"type":"object","additionalProperties":true})", R"({"a":1,"b":{"c":1}})", {"b.c unknown"}},
      {R"({"type":"object","properties":{"a":{"type":"object","properties":{"b":{"type":"string"}}}}})",
       R"({"a":{"c":{"d":1}}})",
       {"a.c unknown"}},
      {R"({"type":"object","maxProperties":1,"additionalProperties":{"type":"string"}})",
       R"({"a":"","b":""})",
       {" length"}},
      {R"({"type":"object","minProperties":1,"properties":{"a":{"type":"string","default":"x"}}})", "{}", {}},
  });
}

TEST(SchemaStrings, HaveLengthPatternAndFormat) {
  expect_rows({
      {R"({"type":"string","minLength":2})", R"("é")", {" length"}},
      {R"({"type":"string","minLength":2})", R"("éé")", {}},
      {R"({"type":"string","maxLength":2})", R"("éé")", {}},
      {R"({"type":"string","maxLength":2})", R"("ééé")", {" length"}},
      {R"({"type":"string","minLength":1,"pattern":"^a"})", R"("")", {" length"}},
      {R"({"type":"string","pattern":"b"})", R"("abc")", {}},
      {R"({"type":"string","pattern":"^b"})", R"("abc")", {" pattern"}},
      {R"({"type":"string","enum":["a","b"],"pattern":"^b$"})", R"("c")", {" enum"}},
      {R"({"type":"string","format":"date-time"})", R"("2025-01-31T08:00:00Z")", {}},
      {R"({"type":"string","format":"date-time"})", R"("2025-01-31T08:00:00.5+01:00")", {}},
      {R"({"type":"string","format":"date-time"})", R"("2025-02-30T08:00:00Z")", {" format"}},
      {R"({"type":"string","format":"date-time"})", R"("2025-01-31 08:00:00Z")", {" format"}},
      {R"({"type":"string","format":"date"})", R"("2024-02-29")", {}},
      {R"({"type":"string","format":"date"})", R"("2025-02-29")", {" format"}},
      {R"({"type":"string","format":"duration"})", R"("1h30m")", {}},
      {R"({"type":"string","format":"duration"})", R"("22 ns")", {}},
      {R"({"type":"string","format":"duration"})", R"("1 day 2 hours")", {}},
      {R"({"type":"string","format":"duration"})", R"("soon")", {" format"}},
      {R"({"type":"string","format":"duration"})", R"("")", {" format"}},
      {R"({"type":"string","format":"uri"})", R"("https://a/b?c")", {}},
      {R"({"type":"string","format":"uri"})", R"("/a")", {}},
      {R"({"type":"string","format":"uri"})", R"("a b")", {" format"}},
      {R"({"type":"string","format":"uri"})", R"("http://a:x/")", {" format"}},
      {R"({"type":"string","format":"byte"})", R"("aGVsbG8=")", {}},
      {R"({"type":"string","format":"byte"})", R"("aGVsbG8")", {" format"}},
      {R"({"type":"string","format":"byte"})", R"("")", {" format"}},
      {R"({"type":"string","format":"ipv4"})", R"("10.0.0.1")", {}},
      {R"({"type":"string","format":"ipv6"})", R"("10.0.0.1")", {" format"}},
      {R"({"type":"string","format":"cidr"})", R"("10.0.0.0/8")", {}},
      {R"({"type":"string","format":"uuid"})", R"("3f2b8c1e-0d5a-4c69-9e3b-7a1f60d2c845")", {}},
      {R"({"type":"string","format":"uuid"})", R"("3f2b8c1e")", {" format"}},
      {R"({"type":"string","format":"no-such-format"})", R"("x")", {}},
  });
}

TEST(SchemaNumbers, HaveBounds) {
  expect_rows({
      {R"({"type":"integer","minimum":1,"maximum":3})", "0", {" range"}},
      {R"({"type":"integer","minimum":1,"maximum":3})", "1", {}},
      {R"({"type":"integer","minimum":1,"maximum":3})", "3", {}},
      {R"({"type":"integer","minimum":1,"maximum":3})", "4", {" range"}},
      {R"({"type":"integer","minimum":1,"exclusiveMinimum":true})", "1", {" range"}},
      {R"({"type":"number","maximum":1,"exclusiveMaximum":true})", "1", {" range"}},
      {R"({"type":"number","maximum":1,"exclusiveMaximum":true})", "0.999", {}},
      {R"({"type":"integer","multipleOf":8})", "16", {}},
      {R"({"type":"integer","multipleOf":8})", "12", {" range"}},
      {R"({"type":"number","multipleOf":0.5})", "1.5", {}},
      {R"({"type":"number","multipleOf":0.5})", "1.6", {" range"}},
      {R"({"type":"integer","format":"int32"})", "2147483648", {" format"}},
      {R"({"type":"integer","format":"int32"})", "-2147483648", {}},
      {R"({"type":"integer","format":"int64"})", "2147483648", {}},
  });
}

TEST(SchemaLists, HaveSizesSetsAndMaps) {
  const std::string_view keyed =
      R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["p","q"],"items":{"type":"object",
    "required":["p"],"properties":{"p":{"type":"integer"},"q":{"type":"string","default":"TCP"},"r":{"type":"string"}}}})";
  expect_rows({
      {R"({"type":"array","minItems":1,"items":{"type":"string"}})", "[]", {" length"}},
      {R"({"type":"array","maxItems":1,"items":{"type":"string"}})", R"(["a","b"])", {" length"}},
      {R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}})",
       R"(["a","b","a","a"])",
       {"[2] duplicate", "[3] duplicate"}},
      {R"({"type":"array","x-kubernetes-list-type":"set","items":{"type":"number"}})", "[1,2,1.0]", {"[2] duplicate"}},
      {R"({"type":"array","items":{"type":"string"}})", R"(["a","a"])", {}},
      {R"({"type":"array","uniqueItems":true,"items":{"type":"object","x-kubernetes-preserve-unknown-fields":true}})",
       R"([{"a":1,"b":[2]},{"b":[2],"a":1}])",
       {"[1] duplicate"}},
      {keyed, R"([{"p":1,"q":"TCP"},{"p":1,"q":"UDP"},{"p":2}])", {}},
      {keyed, R"([{"p":1,"q":"TCP"},{"p":1,"r":"x"}])", {"[1] duplicate"}},
      {keyed, R"([{"q":"TCP"},{"q":"TCP"}])", {"[0].p required", "[1].p required"}},
      {keyed, R"([1,{"p":"x"}])", {"[0] type", "[1].p type"}},
  });
}

TEST(SchemaCombinations, AreHeld) {
  expect_rows({
      {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
       "{}",
       {" combination"}},
      {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
       R"({"a":"","b":""})",
       {" combination"}},
      {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
       R"({"a":"","b":null})",
       {}},
      {R"({"type":"object","properties":{"a":{"type":"string","default":"x"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
       R"({"b":""})",
       {" combination"}},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"not":{"required":["a"]}})",
       R"({"a":""})",
       {" combination"}},
      {R"({"type":"object","properties":{"a":{"type":"string"}},"allOf":[{"properties":{"a":{"minLength":2}}},{"properties":{"a":{"pattern":"^x"}}}]})",
       R"({"a":"y"})",
       {"a length", "a pattern"}},
      {R"({"type":"string","anyOf":[{"pattern":"^a"},{"pattern":"^b"}]})", R"("c")", {" combination"}},
      {R"({"type":"string","anyOf":[{"pattern":"^a"},{"pattern":"^b"}]})", R"("b")", {}},
      {R"({"type":"string","anyOf":[{"pattern":"^a"},{"pattern":"^b"}]})", "1", {" type"}},
  });
}

constexpr std::string_view resource =
    R"({"type":"object","properties":{"metadata":{"type":"object","properties":{"name":{"type":"string","maxLength":5}}},
  "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}})";

TEST(SchemaResources, HaveMetadataWithoutSayingSo) {
  const std::vector<Row> rows{
      {resource,
       R"({"apiVersion":"a/v1","kind":"K","metadata":{"name":"n","labels":{"a":"b"},"annotations":{"x":"y"}},"spec":{"any":1}})",
       {}},
      {resource, R"({"metadata":{"name":"n"}})", {"apiVersion required", "kind required"}},
      {resource, R"({"apiVersion":"","kind":1})", {"apiVersion length", "kind type"}},
      {resource,
       R"({"apiVersion":"a/v1","kind":"K","metadata":{"name":1,"labels":{"a":1},"nmae":"x","creationTimestamp":null}})",
       {"metadata.name type", "metadata.labels.a type", "metadata.nmae unknown"}},
      {resource, R"({"apiVersion":"a/v1","kind":"K","metadata":{"name":"longer-name"}})", {"metadata.name length"}},
      {resource,
       R"({"apiVersion":"a/v1","kind":"K","metadata":{"ownerReferences":[{"kind":"K"}],"finalizers":[1]}})",
       {"metadata.ownerReferences[0].apiVersion required", "metadata.ownerReferences[0].name required",
        "metadata.ownerReferences[0].uid required", "metadata.finalizers[0] type"}},
      {resource, R"({"apiVersion":"a/v1","kind":"K","spce":{}})", {"spce unknown"}},
      {resource, "[]", {" type"}},
      {R"({"type":"object","properties":{"t":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}}})",
       R"({"apiVersion":"a/v1","kind":"K","t":{"kind":"P","metadata":{"labels":1},"spec":{}}})",
       {"t.apiVersion required", "t.metadata.labels type"}},
  };
  for (const Row& row : rows) EXPECT_EQ(faults_of(row.schema, row.value, Root::resource), row.faults) << row.value;
}

TEST(SchemaFaults, SayWhatToWrite) {
  struct {
    std::string_view schema, value, problem, fix;
  } const table[] = {
      {R"({"type":"object","properties":{"configStore":{"type":"string"}}})", R"({"configstore":"x"})",
       "did you mean \"configStore\"?", "write configStore"},
      {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}})", R"({"something":"x"})",
       "unknown field", "the fields here are a and b"},
      {R"({"type":"string","enum":["INFO","DEBUG"]})", R"("info")", "must be one of INFO or DEBUG", "write INFO"},
      {R"({"type":"string","enum":["INFO","DEBUG"]})", R"("verbose")", "must be one of INFO or DEBUG",
       "write one of them"},
      {R"({"type":"integer","minimum":1,"maximum":65535})", "70000", "must be between 1 and 65535",
       "between 1 and 65535"},
      {R"({"type":"integer"})", R"("8000")", "must be an integer, but is a string", "write 8000 without quotes"},
      {R"({"type":"string"})", "8000", "must be a string, but is an integer",
       "write it in quotes, as you mean it: without them it is the number 8000"},
      {R"({"type":"string"})", "1.1", "must be a string, but is a number", "without them it is the number 1.1"},
      {R"({"type":"string"})", "true", "must be a string, but is a boolean", "without them it is the boolean true"},
      {R"({"type":"string","enum":["v1","v2"]})", "1", "must be a string", "write one of v1 or v2"},
      {R"({"type":"string","pattern":"^[a-z]+$"})", "1", "must be a string",
       "write it in quotes, as a text that matches ^[a-z]+$"},
      {R"({"type":"object","properties":{"service":{"type":"object","properties":{"port":{"type":"integer"},"type":{"type":"string"}}}}})",
       R"({"service":{"nodePort":1}})", "unknown field", "remove it; the fields here are port and type"},
      {R"({"type":"object","properties":{"image":{"type":"object","properties":{"pullSecrets":{"type":"string"}}}}})",
       R"({"imagePullSecret":"x"})", "did you mean \"image.pullSecrets\"?", "write pullSecrets under image"},
      {R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}})",
       R"({"A":"b"})", "must be a list", "write a list of names and values: - {name: A, value: …}"},
      {R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}})",
       R"("A=b")", "must be a list", "write a list of names and values: - {name: A, value: …}"},
      {R"({"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string"}}}})",
       R"({"name":"b","value":"c"})", "must be a list", "put \"- \" in front of the first field"},
      {R"({"type":"object","properties":{"a":{"type":"string","minLength":1}}})", R"({"a":""})", "must not be empty",
       "write a text, or leave the field out"},
      {R"({"type":"array","items":{"type":"string","minLength":1}})", R"([""])", "must not be empty",
       "write a text, or take the item out"},
      {R"({"type":"string","pattern":"^https?://[^/]+$"})", R"("HTTPS://a")", "has a scheme in capital letters",
       "write https in lower case"},
      {R"({"type":"string","pattern":"^a$"})", R"("${A}")", "looks like a template that was not rendered",
       "render the template first"},
      {R"({"type":"boolean"})", R"("yes")", "must be true or false", "write true without quotes"},
      {R"({"type":"array","items":{"type":"string"}})", R"("health")", "must be a list", "[\"health\"]"},
      {R"({"type":"object","required":["size"],"properties":{"size":{"type":"string","description":"Size of the claim, for example 10Gi."}}})",
       "{}", "is required, but missing", "for example 10Gi"},
      {R"({"type":"object","required":["port"],"properties":{"port":{"type":"integer","minimum":1,"maximum":9,"description":"Port of the Service. More."}}})",
       "{}", "required", "an integer between 1 and 9 (Port of the Service)"},
      {R"({"type":"string","pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"})", R"("My_App")", "'M' (character 1)",
       "write \"my-app\""},
      {R"({"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}})",
       R"([{"name":"a"},{"name":"a"}])", "has the same name as item 0", "remove one of them"},
      {R"({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]})",
       "{}", "needs a or b", "add a or b"},
  };
  for (const auto& each : table) {
    const SchemaFault fault = only_fault(each.schema, each.value);
    EXPECT_THAT(fault.problem, HasSubstr(std::string(each.problem)));
    EXPECT_THAT(fault.fix, HasSubstr(std::string(each.fix)));
  }
}

TEST(SchemaFaults, DoNotRepeatWhatMayBeSecret) {
  const std::string_view schema =
      R"({"type":"object","properties":{"password":{"type":"string"},"apiKey":{"type":"string"},"env":{"type":"array","items":{"type":"object","properties":{"value":{"type":"string"}}}}}})";
  json::Document schema_document, document;
  const auto compiled = Schema::compile(*json::parse(schema, schema_document), Root::value);
  ASSERT_TRUE(compiled);
  const auto faults = check(compiled->root(),
                            *json::parse(R"({"password":271828,"apiKey":271828,"env":[{"value":271828}]})", document));
  ASSERT_EQ(faults.size(), 3U);
  for (const SchemaFault& each : faults) EXPECT_THAT(each.problem + each.fix, ::testing::Not(HasSubstr("271828")));
}

TEST(SchemaFaults, OfAnEmptyTextDoNotOfferToLeaveOutWhatIsRequired) {
  const SchemaFault fault = only_fault(
      R"({"type":"object","properties":{"a":{"type":"object","required":["b"],"properties":{"b":{"type":"string","minLength":1}}}}})",
      R"({"a":{"b":""}})");
  EXPECT_EQ(fault.problem, "must not be empty");
  EXPECT_EQ(fault.fix, "write a text");
}

TEST(SchemaFaults, OfPatternsMayBeLeftForTheCallerToExplain) {
  json::Document schema_document, document;
  const auto compiled = Schema::compile(
      *json::parse(R"({"type":"array","items":{"type":"string","pattern":"^[a-z]+$"}})", schema_document), Root::value);
  const auto value = json::parse(R"(["a","1"])", document);
  const auto faults = check(compiled->root(), *value, nullptr, {.explain_mismatches = false});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_TRUE(faults[0].problem.empty() && faults[0].fix.empty());
  ASSERT_NE(faults[0].pattern, nullptr);
  const auto words = explain_mismatch(*faults[0].pattern, faults[0].value->string());
  const auto explained = check(compiled->root(), *value);
  EXPECT_EQ(explained[0].problem, words.problem);
  EXPECT_EQ(explained[0].fix, words.fix);
}

TEST(SchemaFaults, OfAllowedFormsAreAlwaysExplained) {
  json::Document schema_document, document;
  const auto compiled = Schema::compile(
      *json::parse(R"({"type":"string","anyOf":[{"pattern":"^[a-z]+$"},{"maxLength":0}]})", schema_document),
      Root::value);
  const auto faults = check(compiled->root(), *json::parse(R"("1")", document), nullptr, {.explain_mismatches = false});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_THAT(faults[0].problem, HasSubstr("does not have the form"));
}

TEST(SchemaFaults, AreBounded) {
  json::Document schema_document, document;
  const auto compiled =
      Schema::compile(*json::parse(R"({"type":"array","items":{"type":"string"}})", schema_document), Root::value);
  std::string many = "[1";
  for (int i = 0; i < 500; ++i) many += ",1";
  const auto value = json::parse(many + "]", document);
  EXPECT_EQ(check(compiled->root(), *value).size(), 100U);
  EXPECT_EQ(check(compiled->root(), *value, nullptr, {.max_faults = 3}).size(), 3U);
}

TEST(SchemaFaults, StandAtTheirPlace) {
  json::Document schema_document, document;
  const auto compiled = Schema::compile(
      *json::parse(R"({"type":"object","properties":{"a":{"type":"string"}}})", schema_document), Root::value);
  const Path at{nullptr, "spec"};
  const auto faults = check(compiled->root(), *json::parse(R"({"x":1, "a":2})", document), &at);
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].path, "spec.x");
  EXPECT_EQ(faults[0].offset, 1U);
  EXPECT_EQ(faults[1].offset, 12U);
  EXPECT_TRUE(
      check(compiled->root(), *json::parse(R"({"x":1})", document), nullptr, {.unknown_fields = false}).empty());
}

TEST(SchemaCompile, RefusesWhatItWouldNotEnforceAndSaysWhere) {
  const std::pair<std::string_view, std::string_view> table[] = {
      {R"({"type":"object","properties":{"a":{"$ref":"#/x"}}})", "properties.a.$ref"},
      {R"({"type":"string","pattern":"("})", "pattern"},
      {R"({"type":"strin"})", "type"},
      {R"({"type":"string","format":"isbn"})", "format"},
      {R"({"type":"object","additionalProperties":false})", "additionalProperties"},
      {R"({"type":"object","patternProperties":{}})", "patternProperties"},
      {R"({"type":"array"})", "items"},
      {R"({"type":"integer","minimum":"1"})", "minimum"},
      {R"({"type":"string","minLength":-1})", "minLength"},
      {R"({"type":"integer","exclusiveMinimum":1})", "exclusiveMinimum"},
      {R"({"type":"integer","multipleOf":0})", "multipleOf"},
      {R"({"type":"string","enum":[]})", "enum"},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"map"})", "x-kubernetes-list-map-keys"},
      {R"({"type":"array","items":{"type":"object"},"x-kubernetes-list-type":"bag"})", "x-kubernetes-list-type"},
      {R"({"type":"object","properties":[]})", "properties"},
      {R"({"type":"object","required":"a"})", "required"},
      {"[]", "schema"},
      {R"({"type":"string"})", "type object"},
  };
  for (const auto& [text, place] : table) {
    json::Document document;
    const auto compiled = Schema::compile(*json::parse(text, document), Root::resource);
    ASSERT_FALSE(compiled) << text;
    EXPECT_THAT(compiled.error(), HasSubstr(std::string(place))) << text;
  }
}

TEST(Nearest, FindsTheLikelyWord) {
  const std::vector<std::string_view> known{"configStore", "image", "replicas", "expose", "env"};
  EXPECT_EQ(nearest("configstore", known), "configStore");
  EXPECT_EQ(nearest("imgae", known), "image");
  EXPECT_EQ(nearest("replica", known), "replicas");
  EXPECT_EQ(nearest("ports", std::vector<std::string_view>{"port"}), "port");
  EXPECT_EQ(nearest("x", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("somethingelse", known), "");
  EXPECT_EQ(nearest(std::string(100000, 'a'), known), "");
}

TEST(SimilarField, IsFoundByWholeWordsAndBeginnings) {
  struct {
    std::string_view word, known, found;
  } const table[] = {
      {"accessMode", "volumeAccessMode", "volumeAccessMode"},
      {"storageClassName", "storageClass", "storageClass"},
      {"serviceAccount", "serviceAccountName", "serviceAccountName"},
      {"repo", "repository", "repository"},
      {"hostname", "host", "host"},
      {"config_store", "configStore", "configStore"},
      {"imageRepository", "repository", "repository"},
      {"nodePort", "port", ""},
      {"targetPort", "port", ""},
      {"data", "metadata", ""},
      {"name", "serviceAccountName", ""},
      {"node", "nodeSelector", ""},
      {"imagePullSecrets", "image", ""},
  };
  for (const auto& each : table)
    EXPECT_EQ(similar_field(each.word, std::vector{each.known}), each.found) << each.word << " " << each.known;
}

TEST(PathText, PutsOddKeysInBrackets) {
  const Path spec{nullptr, "spec"}, limits{&spec, "limits"}, gpu{&limits, "nvidia.com/gpu"}, env{&spec, "env"},
      item{&env, {}, 2}, name{&item, "name"};
  EXPECT_EQ(to_string(nullptr), "");
  EXPECT_EQ(to_string(&gpu), "spec.limits[nvidia.com/gpu]");
  EXPECT_EQ(to_string(&name), "spec.env[2].name");
  const Path odd{nullptr, "a\nb"}, empty{nullptr, ""}, dashed{nullptr, "ephemeral-storage"};
  EXPECT_EQ(to_string(&odd), "[a\\u000ab]");
  EXPECT_EQ(to_string(&empty), "[]");
  EXPECT_EQ(to_string(&dashed), "ephemeral-storage");
  const std::string giant(5000, 'x');
  const Path long_key{nullptr, giant};
  EXPECT_LT(to_string(&long_key).size(), 300U);
}

}  // namespace
}  // namespace stackgate::validate::schema
