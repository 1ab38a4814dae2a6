// A random schema and a random object, both made from the bytes: the compiled checker and valijson must agree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/support/object_generator.hpp"
#include "tests/support/schema_generator.hpp"
#include "tests/support/schema_oracle.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  using namespace stackgate::testing;
  if (size < 8 || size > 4096) return 0;
  Dice dice(std::span(data, size));
  const Tree schema_tree = random_schema(dice);
  const std::string text = schema_tree.dump();
  json::Document document;
  const auto parsed = json::parse(text, document);
  if (!parsed) std::abort();
  const auto schema = validate::schema::Schema::compile(*parsed, validate::schema::Root::value);
  const auto oracle = validate::JsonSchema::compile(to_draft4(schema_tree).dump(), validate::Draft::v4);
  if (!schema || !oracle) std::abort();
  ObjectGenerator generator(dice);
  Tree object = generator.value(schema->root(), 0);
  for (int round = 0; round < 4; ++round) {
    if (const auto found = disagreement(schema->root(), *oracle, object)) {
      std::fprintf(stderr, "schema %s\n%s\n", text.c_str(), found->c_str());
      std::abort();
    }
    if (dice.used_up()) break;
    mutate(object, dice);
  }
  return 0;
}
