#include "services/customizer/catalogue/part_reader.hpp"
#include "services/kit/yaml/lines.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::customizer {
namespace catalogue_detail {
namespace {

constexpr json::ParseLimits limits{.max_depth = 32, .max_bytes = 4U << 20U};

std::string place_text(const CatalogueFile& file, const yaml::Lines& lines, std::uint32_t offset,
                       std::string_view path) {
  return fmt::format("{}:{}: {}", file.name, lines.locate(offset).line, path);
}

struct TemplateFile {
  const CatalogueFile* file;
  std::vector<TemplatePlace> places;
};

class CatalogueReader {
 public:
  enum class Folder : std::uint8_t { models, training };

  void read_file(const CatalogueFile& file, Folder folder) {
    Findings found;
    JsonReport report(found, "", {"catalogue-type", "catalogue-missing", "catalogue-value"});
    const yaml::Stream stream = yaml::parse(file.text, limits);
    if (stream.failed)
      found.push_back({.rule = "catalogue-yaml",
                       .problem = stream.error.message,
                       .fix = "write one document of YAML or JSON",
                       .offset = stream.error.offset});
    else if (stream.documents.size() > 1)
      report.wrong("catalogue-yaml", {"", stream.documents[1].root}, "is a second document", "keep one in each file");
    else if (!stream.documents.empty()) {
      const JsonPlace top{"", stream.documents.front().root};
      std::vector<TemplatePlace> places;
      if (!top.value.is_object())
        report.wrong_type(top, "a map");
      else if (folder == Folder::models)
        read_models(report, found, out.catalogue, file.name, top, places);
      else
        read_training(report, out.catalogue, top);
      template_files_.push_back({&file, std::move(places)});
    }
    const yaml::Lines lines(file.text);
    for (Finding& each : found) {
      each.path = place_text(file, lines, each.offset, each.path);
      if (each.path.ends_with(": ")) each.path.resize(each.path.size() - 2);
      out.findings.push_back(std::move(each));
    }
  }

  /// Targets may stand in a later file than the templates.
  void check_templates() {
    for (const auto& [file, places] : template_files_) {
      const yaml::Lines lines(file->text);
      for (const auto& [name, path, offset] : places) {
        const auto found = out.catalogue.templates.find(name);
        if (found == out.catalogue.templates.end() || out.catalogue.targets.contains(found->second.target)) continue;
        std::vector<std::string_view> known;
        known.reserve(out.catalogue.targets.size());
        for (const auto& each : out.catalogue.targets) known.push_back(each.first);
        const std::string_view meant = validate::nearest(found->second.target, known);
        out.findings.push_back(
            {.rule = "catalogue-target",
             .path = place_text(*file, lines, offset, path),
             .problem = fmt::format("there is no good target \"{}\"", found->second.target),
             .fix = meant.empty() ? "name one of customizationTargets" : fmt::format("did you mean \"{}\"?", meant),
             .offset = offset});
        out.catalogue.templates.erase(found);
      }
    }
  }

  CatalogueRead out;

 private:
  std::vector<TemplateFile> template_files_;
};

}  // namespace

std::string_view without_ending(std::string_view name) {
  for (const std::string_view ending : {".yaml", ".yml", ".json"})
    if (name.ends_with(ending)) return name.substr(0, name.size() - ending.size());
  return name;
}

}  // namespace catalogue_detail

CatalogueRead read_catalogue(const std::vector<CatalogueFile>& models, const std::vector<CatalogueFile>& training) {
  using catalogue_detail::CatalogueReader;
  CatalogueReader reader;
  for (const CatalogueFile& file : models) reader.read_file(file, CatalogueReader::Folder::models);
  for (const CatalogueFile& file : training) reader.read_file(file, CatalogueReader::Folder::training);
  reader.check_templates();
  return std::move(reader.out);
}

}  // namespace stackgate::customizer
