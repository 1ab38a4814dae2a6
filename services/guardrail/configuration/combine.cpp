// Several configurations as one.
#include <algorithm>
#include <set>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/configuration/folder.hpp"
#include "services/guardrail/configuration/parts.hpp"
#include "services/guardrail/prompts/lines.hpp"
#include "services/kit/base/concat.hpp"

namespace stackgate::guardrail {
namespace {

/// What two of them say differently and cannot both be.
void compare(const Configuration& earlier, const Configuration& later, Report& report) {
  for (const Model& model : later.models) {
    const Model* other = earlier.find_model(model.type);
    if (other == nullptr || (other->engine == model.engine && other->model == model.model &&
                             other->base_url == model.base_url && other->completion == model.completion))
      continue;
    report.file_error(rule::conflict, later.id,
                      concat({"has another model of type ", in_quotes(model.type), " than ", in_quotes(earlier.id)}),
                      "give both the same engine, model and address, or one of them another type");
  }
  if (!earlier.actions_server_url.empty() && !later.actions_server_url.empty() &&
      earlier.actions_server_url != later.actions_server_url)
    report.file_error(rule::conflict, later.id, concat({"has another actions_server_url than ", in_quotes(earlier.id)}),
                      "let both name the same server");
  for (const PythonFile& file : later.python_files) {
    const auto other = std::ranges::find(earlier.python_files, file.name, &PythonFile::name);
    if (other != earlier.python_files.end() && other->text != file.text)
      report.file_error(rule::conflict, later.id, concat({"has another ", file.name, " than ", in_quotes(earlier.id)}),
                        "let both have the same, or give one of them another name in the folder actions/");
  }
}

/// What a line at the beginning of a line defines: "flow greeting" of `define extension flow greeting`, "user ask" of
/// `define user ask`; empty when nothing that could be there twice.
std::string defined_in(std::string_view line) {
  if (!line.starts_with("define ")) return {};
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    if (end > at) words.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  const auto kind =
      std::ranges::find_if(words, [](std::string_view w) { return w == "flow" || w == "subflow" || w == "user"; });
  if (kind == words.end() || kind + 1 == words.end()) return {};
  std::string out(*kind == "user" ? "user" : "flow");
  for (auto word = kind + 1; word != words.end(); ++word) out += concat({" ", *word});
  return out;
}

/// What a later configuration defines anew, out of an earlier one's text; lines stay where they are.
std::string without(std::string_view text, const std::set<std::string, std::less<>>& defined) {
  std::string out;
  bool dropped = false;
  for (const std::string_view line : lines_of(text)) {
    const bool begins = !line.empty() && line.front() != ' ' && line.front() != '\t' && line.front() != '#';
    if (begins) dropped = defined.contains(defined_in(line));
    if (!dropped) out += line;
    out += '\n';
  }
  out.pop_back();
  return out;
}

}  // namespace

ReadConfiguration combine(const std::vector<ConfigurationPtr>& configurations) {
  const std::vector<File> none;
  Report report(none);
  std::string id;
  for (std::size_t later = 0; later < configurations.size(); ++later) {
    id += concat({later == 0 ? "" : ",", configurations[later]->id});
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      compare(*configurations[earlier], *configurations[later], report);
  }
  if (report.failed()) return {.findings = report.take()};
  std::vector<std::vector<File>> parts;
  std::set<std::string, std::less<>> defined;
  for (auto each = configurations.rbegin(); each != configurations.rend(); ++each) {
    auto& part = parts.emplace_back((*each)->files ? *(*each)->files : none);
    std::set<std::string, std::less<>> here;
    for (File& file : part) {
      if (kind_of(file.name) != FileKind::colang) continue;
      for (const std::string_view line : lines_of(file.text))
        if (std::string name = defined_in(line); !name.empty()) here.insert(std::move(name));
      if (!defined.empty()) file.text = without(file.text, defined);
    }
    defined.merge(here);
  }
  std::ranges::reverse(parts);
  return read_together(id, std::move(parts));
}

}  // namespace stackgate::guardrail
