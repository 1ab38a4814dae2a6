#include "crds/generator/tree.hpp"

#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "services/kit/yaml_writer/write.hpp"

namespace stackgate::crds::generator {

const Tree& at(const Tree& tree, std::string_view key, std::string_view where) {
  if (const Tree* found = find(tree, key)) return *found;
  throw SourceError(fmt::format("{}: no \"{}\"", where, key));
}

Tree read_yaml(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw SourceError(fmt::format("cannot read {}", file.string()));
  const yaml::Stream stream = yaml::parse(text);
  if (stream.failed)
    throw SourceError(
        fmt::format("{}:{}: {}", file.string(), yaml::locate(text, stream.error.offset).line, stream.error.message));
  if (stream.documents.size() != 1) throw SourceError(fmt::format("{}: is not one document", file.string()));
  return Tree::parse(json::to_json(stream.documents.front().root));
}

std::string to_yaml(const Tree& tree) {
  const std::string text = tree.dump();
  json::Document document;
  const auto root = json::parse(text, document);
  if (!root) throw SourceError(root.error().message);
  return yaml::to_yaml(*root);
}

}  // namespace stackgate::crds::generator
