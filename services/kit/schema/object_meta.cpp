#include <stdexcept>

#include "services/kit/json/parse.hpp"
#include "services/kit/schema/walker.hpp"

namespace stackgate::validate::schema {
namespace {

constexpr std::string_view object_meta_text = R"({
  "type": "object",
  "properties": {
    "name": {"type": "string", "description": "Name of the object, for example my-llm."},
    "generateName": {"type": "string", "description": "Beginning of a name that the API server completes."},
    "namespace": {"type": "string", "description": "Namespace of the object."},
    "selfLink": {"type": "string"},
    "uid": {"type": "string"},
    "resourceVersion": {"type": "string"},
    "generation": {"type": "integer", "format": "int64"},
    "creationTimestamp": {"type": "string", "format": "date-time"},
    "deletionTimestamp": {"type": "string", "format": "date-time"},
    "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    "finalizers": {"type": "array", "items": {"type": "string"}},
    "clusterName": {"type": "string"},
    "ownerReferences": {"type": "array", "items": {
      "type": "object", "required": ["apiVersion", "kind", "name", "uid"],
      "properties": {
        "apiVersion": {"type": "string"}, "kind": {"type": "string"}, "name": {"type": "string"},
        "uid": {"type": "string"}, "controller": {"type": "boolean"}, "blockOwnerDeletion": {"type": "boolean"}}}},
    "managedFields": {"type": "array", "items": {
      "type": "object",
      "properties": {
        "manager": {"type": "string"}, "operation": {"type": "string"}, "apiVersion": {"type": "string"},
        "time": {"type": "string", "format": "date-time"}, "fieldsType": {"type": "string"},
        "subresource": {"type": "string"},
        "fieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}}
  }
})";

struct BuiltIn {
  json::Document document;
  Schema schema;

  explicit BuiltIn(std::string_view text) : schema(make(text)) {}
  Schema make(std::string_view text) {
    const auto parsed = json::parse(text, document);
    if (!parsed) throw std::logic_error("the schema of metadata is not JSON: " + parsed.error().message);
    auto compiled = Schema::compile(*parsed, Root::value);
    if (!compiled) throw std::logic_error("the schema of metadata does not compile: " + compiled.error());
    return std::move(*compiled);
  }
};

}  // namespace

const Node& object_meta() {
  static const BuiltIn built_in(object_meta_text);
  return built_in.schema.root();
}

const Node& type_meta_text() {
  static const BuiltIn built_in(R"({"type": "string", "minLength": 1})");
  return built_in.schema.root();
}

}  // namespace stackgate::validate::schema
