#include "crds/generator/definition.hpp"

#include <string>

#include <fmt/format.h>

namespace stackgate::crds::generator {
namespace {

Tree column(const Tree& authored, const std::string& where) {
  Tree out = Tree::map({{"name", authored.at("name", where)}, {"type", authored.at("type", where)}});
  for (const char* key : {"format", "priority"})
    if (const Tree* value = authored.find(key)) out.set(key, *value);
  out.set("description", authored.at("description", where));
  out.set("jsonPath", authored.at("path", where));
  return out;
}

Tree columns(const Tree& source, const std::string& where) {
  Tree out = Tree::list();
  for (const Tree& each : source.at("columns", where).items) out.items.push_back(column(each, where + ": columns"));
  out.items.push_back(Tree::map({{"name", Tree::text("Age")},
                                 {"type", Tree::text("date")},
                                 {"description", Tree::text("Time since the resource was created.")},
                                 {"jsonPath", Tree::text(".metadata.creationTimestamp")}}));
  return out;
}

Tree root_schema(const KindInfo& kind, const Tree& source, const Fragments& fragments, Grammars& grammars,
                 const std::string& where) {
  Tree properties = Tree::map();
  properties.set("apiVersion",
                 Tree::map({{"description", Tree::text(fmt::format("Version of this schema: {}.", api_group_version))},
                            {"type", Tree::text("string")}}));
  properties.set("kind", Tree::map({{"description", Tree::text(fmt::format("Kind of the resource: {}.", kind.name))},
                                    {"type", Tree::text("string")}}));
  properties.set("metadata", Tree::map({{"type", Tree::text("object")}}));  // its schema is Kubernetes' own
  properties.set("spec", source.at("spec", where));
  properties.set("status", source.at("status", where));
  Tree root = Tree::map({{"description", source.at("description", where)},
                         {"required", Tree::list({Tree::text("spec")})},
                         {"properties", properties}});
  if (const Tree* use = source.find("$use")) root.set("$use", *use);
  if (const Tree* rules = source.find("validations")) root.set("x-kubernetes-validations", *rules);
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
  if (source.at("kind", where).scalar != kind.name)
    throw SourceError(fmt::format("{}: kind is not {}", where, kind.name));

  std::string singular(kind.name);
  for (char& c : singular) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  Tree names = Tree::map({{"kind", Tree::text(kind.name)},
                          {"listKind", Tree::text(fmt::format("{}List", kind.name))},
                          {"plural", Tree::text(kind.plural)},
                          {"singular", Tree::text(singular)},
                          {"shortNames", Tree::list({Tree::text(kind.short_name)})},
                          {"categories", Tree::list({Tree::text("stackgate")})}});
  Tree version =
      Tree::map({{"name", Tree::text(api_version)},
                 {"served", Tree::boolean(true)},
                 {"storage", Tree::boolean(true)},
                 {"additionalPrinterColumns", columns(source, where)},
                 {"subresources", Tree::map({{"status", Tree::map()}})},
                 {"schema", Tree::map({{"openAPIV3Schema", root_schema(kind, source, fragments, grammars, where)}})}});
  return Tree::map(
      {{"apiVersion", Tree::text("apiextensions.k8s.io/v1")},
       {"kind", Tree::text("CustomResourceDefinition")},
       {"metadata", Tree::map({{"name", Tree::text(fmt::format("{}.{}", kind.plural, api_group))},
                               {"labels", Tree::map({{"app.kubernetes.io/name", Tree::text("stackgate")},
                                                     {"app.kubernetes.io/part-of", Tree::text("stackgate")}})}})},
       {"spec", Tree::map({{"group", Tree::text(api_group)},
                           {"scope", Tree::text("Namespaced")},
                           {"names", names},
                           {"versions", Tree::list({version})}})}});
}

}  // namespace stackgate::crds::generator
