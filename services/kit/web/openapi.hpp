// An OpenAPI document of a table of routes, so that what is served is what it says. Pure.
// https://spec.openapis.org/oas/v3.1.0: its schemas are JSON Schema, so those that bodies are checked with stand in it.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace stackgate::web {

struct Operation {
  std::string_view method, pattern, summary;
  std::string_view body{};  // the name of a schema; "": none
  std::string_view success = "200";
  std::string_view type = "application/json";  // of its answer; a 204 has none
  std::string_view query{}, headers{};         // names, with commas between them
};

struct NamedSchema {
  std::string_view name, text;  // JSON
};

/// OpenAPI 3.1. Answers that are no success have the schema "Error", that of Dialect::nemo, which is added.
std::string openapi_document(std::string_view title, std::span<const Operation> operations,
                             std::span<const NamedSchema> schemas);

}  // namespace stackgate::web
