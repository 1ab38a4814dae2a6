// What the schema checker costs, beside valijson: compiling the schemas, a small valid object, a large one.
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/schema/check.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/bench/figure.hpp"
#include "tests/support/schema_oracle.hpp"

namespace {

using namespace stackgate;
using stackgate::testing::OracleTree;

struct Compiled {
  json::Document definition;
  const json::Value* schema = nullptr;
};

void read_definition(crds::Kind kind, Compiled& into) {
  const auto parsed = json::parse(crds::definition_json(kind), into.definition);
  if (!parsed) std::abort();
  into.schema = parsed->find("spec")->find("versions")->items()[0].find("schema")->find("openAPIV3Schema");
}

// The specification's object of about 2.2 KB: the full sample's first members, as JSON.
std::string small_object() {
  const auto stream = yaml::parse(crds::full_sample(crds::Kind::inference_service));
  OracleTree tree = OracleTree::parse(json::to_json(stream.documents.front().root));
  while (tree.dump().size() > 2200 && tree["spec"].size() > 3) {
    const auto last = std::prev(tree["spec"].end());
    if (last.key() == "authSecret" || last.key() == "image" || last.key() == "resources") {
      OracleTree moved = *last;
      const std::string key = last.key();
      tree["spec"].erase(key);
      OracleTree front = {{key, std::move(moved)}};
      for (auto& [name, value] : tree["spec"].items()) front[name] = value;
      tree["spec"] = std::move(front);
      continue;
    }
    tree["spec"].erase(last.key());
  }
  return tree.dump();
}

std::string large_object(const std::string& small) {
  OracleTree tree = OracleTree::parse(small);
  tree["spec"]["env"] = OracleTree::array();
  for (int i = 0; i < 4000; ++i)
    tree["spec"]["env"].push_back({{"name", fmt::format("VARIABLE_{}", i)}, {"value", std::string(195, 'x')}});
  return tree.dump();
}

}  // namespace

int main() {
  const double before = bench::cpu_seconds();
  std::vector<Compiled> definitions(crds::kinds.size());
  std::vector<validate::schema::Schema> schemas;
  for (const crds::KindInfo& kind : crds::kinds)
    read_definition(kind.kind, definitions[static_cast<std::size_t>(kind.kind)]);
  const double parsed = bench::cpu_seconds();
  for (const Compiled& each : definitions) {
    auto compiled = validate::schema::Schema::compile(*each.schema);
    if (!compiled) std::abort();
    schemas.push_back(std::move(*compiled));
  }
  const double first_ms = (bench::cpu_seconds() - parsed) * 1e3;
  const double parse_ms = (parsed - before) * 1e3;

  const std::string spec_schema =
      stackgate::testing::to_draft4(
          OracleTree::parse(
              crds::definition_json(crds::Kind::inference_service))["spec"]["versions"][0]["schema"]["openAPIV3Schema"],
          false)
          .dump();
  const double oracle_begin = bench::cpu_seconds();
  const auto oracle = validate::JsonSchema::compile(spec_schema, validate::Draft::v4);
  if (!oracle) std::abort();
  const double oracle_ms = (bench::cpu_seconds() - oracle_begin) * 1e3;
  bench::print({.name = "schema-compile-eight-kinds",
                .value = first_ms,
                .unit = "ms",
                .limit = 5,
                .beside = oracle_ms * 8,
                .text = fmt::format("parsing them first {:.1f} ms; valijson {:.1f} ms for one", parse_ms, oracle_ms)});

  const validate::schema::Node& root = schemas[static_cast<std::size_t>(crds::Kind::inference_service)].root();
  const std::string small = small_object(), large = large_object(small);
  const auto figure = [&](std::string name, const std::string& text, double limit) {
    json::Document document;
    const auto value = json::parse(text, document);
    if (!value) std::abort();
    const auto check = [&] {
      if (!validate::schema::check(root, *value).empty()) std::abort();
    };
    const double ours = bench::microseconds(check);
    const double theirs = bench::microseconds([&] { (void)oracle->check(*value); }, 0.05, 3);
    bench::print({.name = std::move(name),
                  .value = ours,
                  .unit = "us",
                  .limit = limit,
                  .beside = theirs,
                  .text = fmt::format("{} bytes; valijson {:.0f} us", text.size(), theirs)});
  };
  figure("schema-check-small-object", small, 3);
  figure("schema-check-4000-env", large, 1000);
  return bench::exit_status;
}
