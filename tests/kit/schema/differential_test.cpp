// Two schema engines must agree: the compiled checker and valijson, on our CRDs and on random schemas.
#include <string>

#include <gtest/gtest.h>

#include "crds/embedded.hpp"
#include "tests/support/object_generator.hpp"
#include "tests/support/schema_generator.hpp"
#include "tests/support/schema_oracle.hpp"

namespace stackgate {
namespace {

using testing::Dice;
using testing::ObjectGenerator;
using testing::Tree;
using validate::Draft;
using validate::JsonSchema;
using validate::schema::Root;
using validate::schema::Schema;

// The schema of a kind's spec.
struct SpecSchema {
  std::string text;
  json::Document document;
  std::unique_ptr<Schema> schema;
  std::unique_ptr<JsonSchema> oracle;

  explicit SpecSchema(const Tree& schema_tree) : text(schema_tree.dump()) {
    const auto parsed = json::parse(text, document);
    EXPECT_TRUE(parsed);
    auto compiled = Schema::compile(*parsed, Root::value);
    EXPECT_TRUE(compiled) << (compiled ? "" : compiled.error()) << text;
    if (compiled) schema = std::make_unique<Schema>(std::move(*compiled));
    auto other = JsonSchema::compile(testing::to_draft4(schema_tree).dump(), Draft::v4);
    EXPECT_TRUE(other) << (other ? "" : other.error());
    if (other) oracle = std::make_unique<JsonSchema>(std::move(*other));
  }
};

Tree spec_schema_of(crds::Kind kind) {
  return Tree::parse(
      crds::definition_json(kind))["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
}

TEST(SchemaEngines, AgreeOnGeneratedObjectsOfOurKinds) {
  std::size_t valid = 0, refused = 0;
  for (const crds::KindInfo& kind : crds::kinds) {
    const SpecSchema spec(spec_schema_of(kind.kind));
    ASSERT_TRUE(spec.schema && spec.oracle);
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      Dice dice(seed + 1);
      ObjectGenerator generator(dice);
      Tree object = generator.value(spec.schema->root(), 0);
      EXPECT_TRUE(generator.gave_up.empty()) << kind.name << ": no text in the pool fits " << generator.gave_up.front();
      const auto first = testing::disagreement(spec.schema->root(), *spec.oracle, object);
      ASSERT_FALSE(first) << kind.name << " seed " << seed << ": " << *first;
      json::Document document;
      const std::string text = object.dump();
      const auto faults = validate::schema::check(spec.schema->root(), *json::parse(text, document));
      EXPECT_TRUE(faults.empty()) << kind.name << " seed " << seed << ": " << faults[0].path << " "
                                  << faults[0].problem;
      valid += faults.empty() ? 1 : 0;
      for (int round = 0; round < 6; ++round) {
        Tree changed = object;
        const std::string how = testing::mutate(changed, dice);
        const auto second = testing::disagreement(spec.schema->root(), *spec.oracle, changed);
        ASSERT_FALSE(second) << kind.name << " seed " << seed << ", " << how << ": " << *second;
        json::Document changed_document;
        const std::string changed_text = changed.dump();
        refused +=
            validate::schema::check(spec.schema->root(), *json::parse(changed_text, changed_document)).empty() ? 0 : 1;
      }
    }
  }
  // A generator that makes nothing, or nothing wrong, would prove nothing.
  EXPECT_EQ(valid, crds::kinds.size() * 60);
  EXPECT_GT(refused, crds::kinds.size() * 60 * 2);
}

TEST(SchemaEngines, AgreeOnRandomSchemas) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    Dice dice(seed + 1);
    const SpecSchema spec(testing::random_schema(dice));
    ASSERT_TRUE(spec.schema && spec.oracle) << seed;
    ObjectGenerator generator(dice);
    Tree object = generator.value(spec.schema->root(), 0);
    for (int round = 0; round < 5; ++round) {
      const auto found = testing::disagreement(spec.schema->root(), *spec.oracle, object);
      ASSERT_FALSE(found) << "seed " << seed << " schema " << spec.text << ": " << *found;
      json::Document document;
      const std::string text = object.dump();
      refused += validate::schema::check(spec.schema->root(), *json::parse(text, document)).empty() ? 0 : 1;
      testing::mutate(object, dice);
    }
  }
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace stackgate
