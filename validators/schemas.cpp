#include "validators/schemas.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>

#include "crds/embedded.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"

namespace stackgate::validate {
namespace {

struct CompiledKind {
  std::once_flag once;
  json::Document definition;  // the schema's strings are views into it
  std::unique_ptr<schema::Schema> schema;
};

const json::Value* served_schema(const json::Value& definition) {
  for (const json::Value& version : json::items(&definition, {"spec", "versions"}))
    if (json::text(&version, {"name"}) == crds::api_version) return json::at(&version, {"schema", "openAPIV3Schema"});
  return nullptr;
}

void compile_kind(crds::Kind kind, CompiledKind& into) {
  const std::string name(crds::info(kind).name);
  const auto parsed = json::parse(crds::definition_json(kind), into.definition);
  if (!parsed) throw std::logic_error("the embedded CRD of " + name + " is not JSON: " + parsed.error().message);
  const json::Value* open_api = served_schema(*parsed);
  if (open_api == nullptr) throw std::logic_error("the embedded CRD of " + name + " has no schema for this version");
  auto compiled = schema::Schema::compile(*open_api, schema::Root::resource, crds::grammar_of);
  if (!compiled) throw std::logic_error("the embedded CRD of " + name + " does not compile: " + compiled.error());
  if (compiled->root().property("spec") == nullptr)
    throw std::logic_error("the embedded CRD of " + name + " has no spec");
  into.schema = std::make_unique<schema::Schema>(std::move(*compiled));
}

}  // namespace

const schema::Schema& schema_of(crds::Kind kind) {
  static std::array<CompiledKind, crds::kinds.size()> compiled;
  CompiledKind& own = compiled[static_cast<std::size_t>(kind)];
  std::call_once(own.once, [&] { compile_kind(kind, own); });
  return *own.schema;
}

const schema::Node& spec_node(crds::Kind kind) { return *schema_of(kind).root().property("spec"); }

}  // namespace stackgate::validate
