#include "services/kit/web/openapi.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "services/kit/base/ascii.hpp"
#include "services/kit/base/version.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::web {
namespace openapi_detail {

constexpr NamedSchema error_schema{
    "Error", R"({"type": "object", "required": ["detail"], "properties": {"detail": {"oneOf": [{"type": "string"},
      {"type": "array", "items": {"type": "object", "required": ["loc", "msg", "type"], "properties": {
        "loc": {"type": "array"}, "msg": {"type": "string"}, "type": {"type": "string"},
        "severity": {"type": "string"}}}}]}}})"};

void write_reference(json::Writer& w, std::string_view name) {
  w.object("schema", [&] { w.member("$ref", "#/components/schemas/" + std::string(name)); });
}

void write_parameter(json::Writer& w, std::string_view name, std::string_view in) {
  w.object([&] {
    w.member("name", name);
    w.member("in", in);
    w.member("required", in == "path");
    w.object("schema", [&] { w.member("type", "string"); });
  });
}

/// Of "/v1/{a}/{b}".
std::vector<std::string_view> path_parameters(std::string_view pattern) {
  std::vector<std::string_view> out;
  for (std::size_t begin = pattern.find('{'); begin != std::string_view::npos; begin = pattern.find('{', begin + 1)) {
    const std::size_t end = pattern.find('}', begin);
    if (end == std::string_view::npos) break;
    out.push_back(pattern.substr(begin + 1, end - begin - 1));
  }
  return out;
}

std::vector<std::string_view> words_of(std::string_view list) {
  std::vector<std::string_view> out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    out.push_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return out;
}

void write_answers(json::Writer& w, const Operation& operation) {
  w.object("responses", [&] {
    w.object(operation.success, [&] {
      w.member("description", operation.summary);
      if (operation.success != "204")
        w.object("content", [&] { w.object(operation.type, [&] { w.object("schema", [] {}); }); });
    });
    w.object("default", [&] {
      w.member("description", "What is wrong, and what to do");
      w.object("content", [&] { w.object("application/json", [&] { write_reference(w, error_schema.name); }); });
    });
  });
}

void write_operation(json::Writer& w, const Operation& operation) {
  w.object(ascii::to_lower(operation.method), [&] {
    w.member("summary", operation.summary);
    w.array("parameters", [&] {
      for (const std::string_view name : path_parameters(operation.pattern)) write_parameter(w, name, "path");
      for (const std::string_view name : words_of(operation.query)) write_parameter(w, name, "query");
      for (const std::string_view name : words_of(operation.headers)) write_parameter(w, name, "header");
    });
    if (!operation.body.empty())
      w.object("requestBody", [&] {
        w.member("required", true);
        w.object("content", [&] { w.object("application/json", [&] { write_reference(w, operation.body); }); });
      });
    write_answers(w, operation);
  });
}

}  // namespace openapi_detail

std::string openapi_document(std::string_view title, std::span<const Operation> operations,
                             std::span<const NamedSchema> schemas) {
  using namespace openapi_detail;
  std::map<std::string_view, std::vector<const Operation*>> paths;
  for (const Operation& each : operations) paths[each.pattern].push_back(&each);
  return json::object_text([&](json::Writer& w) {
    w.member("openapi", "3.1.0");
    w.object("info", [&] {
      w.member("title", title);
      w.member("version", version);
    });
    w.object("paths", [&] {
      for (const auto& [path, of_path] : paths)
        w.object(path, [&] {
          for (const Operation* each : of_path) write_operation(w, *each);
        });
    });
    w.object("components", [&] {
      w.object("schemas", [&] {
        const auto write = [&w](const NamedSchema& schema) {
          w.key(schema.name);
          w.raw(schema.text);
        };
        for (const NamedSchema& each : schemas) write(each);
        write(error_schema);
      });
    });
  });
}

}  // namespace stackgate::web
