#include "crds/generator/definition.hpp"

#include <string>

#include <fmt/format.h>

namespace stackgate::crds::generator {
namespace {

Tree column(const Tree& authored, const std::string& where) {
  Tree out{{"name", at(authored, "name", where)}, {"type", at(authored, "type", where)}};
  for (const char* key : {"format", "priority"})
    if (const Tree* value = find(authored, key)) out[key] = *value;
  out["description"] = at(authored, "description", where);
  out["jsonPath"] = at(authored, "path", where);
  return out;
}

Tree columns(const Tree& source, const std::string& where) {
  Tree out = Tree::array();
  for (const Tree& each : at(source, "columns", where)) out.push_back(column(each, where + ": columns"));
  out.push_back(Tree{{"name", "Age"},
                     {"type", "date"},
                     {"description", "Time since the resource was created."},
                     {"jsonPath", ".metadata.creationTimestamp"}});
  return out;
}

Tree described_text(std::string description) { return {{"description", std::move(description)}, {"type", "string"}}; }

Tree root_schema(const KindInfo& kind, const Tree& source, const Fragments& fragments, Grammars& grammars,
                 const std::string& where) {
  const Tree properties{{"apiVersion", described_text(fmt::format("Version of this schema: {}.", api_group_version))},
                        {"kind", described_text(fmt::format("Kind of the resource: {}.", kind.name))},
                        {"metadata", {{"type", "object"}}},  // its schema is Kubernetes' own
                        {"spec", at(source, "spec", where)},
                        {"status", at(source, "status", where)}};
  Tree root{{"description", at(source, "description", where)},
            {"required", Tree::array({"spec"})},
            {"properties", properties}};
  if (const Tree* use = find(source, "$use")) root["$use"] = *use;
  if (const Tree* rules = find(source, "validations")) root["x-kubernetes-validations"] = *rules;
  Tree schema = fragments.expand(root, std::string(kind.name));
  take_grammars(schema, grammars, std::string(kind.name));
  return schema;
}

}  // namespace

Tree definition(const KindInfo& kind, const std::filesystem::path& folder, const Fragments& fragments,
                Grammars& grammars) {
  const std::filesystem::path file = folder / fmt::format("{}.yaml", kind.plural);
  const Tree source = read_yaml(file);
  const std::string where = file.string();
  if (at(source, "kind", where) != kind.name) throw SourceError(fmt::format("{}: kind is not {}", where, kind.name));

  std::string singular(kind.name);
  for (char& c : singular) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  const Tree names{{"kind", kind.name},
                   {"listKind", fmt::format("{}List", kind.name)},
                   {"plural", kind.plural},
                   {"singular", singular},
                   {"shortNames", Tree::array({kind.short_name})},
                   {"categories", Tree::array({"stackgate"})}};
  const Tree version{{"name", api_version},
                     {"served", true},
                     {"storage", true},
                     {"additionalPrinterColumns", columns(source, where)},
                     {"subresources", {{"status", Tree::object()}}},
                     {"schema", {{"openAPIV3Schema", root_schema(kind, source, fragments, grammars, where)}}}};
  const Tree labels{{"app.kubernetes.io/name", "stackgate"}, {"app.kubernetes.io/part-of", "stackgate"}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", fmt::format("{}.{}", kind.plural, api_group)}, {"labels", labels}}},
          {"spec",
           {{"group", api_group}, {"scope", "Namespaced"}, {"names", names}, {"versions", Tree::array({version})}}}};
}

}  // namespace stackgate::crds::generator
