// generate_rule_pages PAGES OUT: reads PAGES/<id>.md and writes OUT/rule_ids.hpp and OUT/rule_pages.cpp.
// A page that is not well formed stops the build with file:line.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace {

namespace fs = std::filesystem;

struct PageExample {
  std::string label, yaml;
};
struct Page {
  std::string id, severity, title, group, why;
  std::string grammar, cause;  // empty where the page leaves them out
  std::vector<PageExample> examples;
};

struct Malformed {
  std::size_t line;
  std::string problem;
};

constexpr std::string_view known_groups[] = {
    "schema",         "common",           "update",          "reference",
    "across",         "InferenceService", "InferenceCache",  "InferencePipeline",
    "StackDatastore", "StackEntitystore", "StackCustomizer", "StackEvaluator",
    "StackGuardrail"};
// Kubernetes' metav1.CauseType; a page without one means FieldValueInvalid.
constexpr std::string_view known_causes[] = {"FieldValueRequired",  "FieldValueNotFound",  "FieldValueNotSupported",
                                             "FieldValueDuplicate", "FieldValueForbidden", "FieldValueTypeInvalid"};
constexpr std::string_view known_labels[] = {"bad", "good", "stored", "cluster"};

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1));
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::ifstream in(file);
  if (!in) throw Malformed{0, "cannot be read"};
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t read_front_matter(const std::vector<std::string>& lines, Page& page) {
  if (lines.empty() || lines[0] != "---") throw Malformed{1, "a page begins with a line ---"};
  std::map<std::string, std::string*> keys{{"severity", &page.severity},
                                           {"title", &page.title},
                                           {"group", &page.group},
                                           {"grammar", &page.grammar},
                                           {"cause", &page.cause}};
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i] == "---") {
      for (const auto& [key, value] : keys)
        if (value->empty() && key != "grammar" && key != "cause")
          throw Malformed{i + 1, fmt::format("\"{}:\" is missing above this line", key)};
      return i + 1;
    }
    const auto colon = lines[i].find(':');
    const auto found = keys.find(colon == std::string::npos ? "" : lines[i].substr(0, colon));
    if (found == keys.end()) throw Malformed{i + 1, "expected severity:, title:, group:, grammar: or cause:"};
    if (!found->second->empty()) throw Malformed{i + 1, fmt::format("\"{}:\" stands twice", found->first)};
    *found->second = trimmed(std::string_view(lines[i]).substr(colon + 1));
    const std::string& value = *found->second;
    if (found->first == "severity" && value != "error" && value != "warning")
      throw Malformed{i + 1, "severity is \"error\" or \"warning\""};
    if (found->first == "group" && std::ranges::find(known_groups, value) == std::end(known_groups))
      throw Malformed{i + 1, fmt::format("unknown group \"{}\"", value)};
    if (found->first == "grammar" && value != "true") throw Malformed{i + 1, "grammar is \"true\" or left out"};
    if (found->first == "cause" && std::ranges::find(known_causes, value) == std::end(known_causes))
      throw Malformed{i + 1, fmt::format("unknown cause \"{}\"", value)};
  }
  throw Malformed{lines.size(), "the front matter has no closing ---"};
}

void read_body(const std::vector<std::string>& lines, std::size_t at, Page& page) {
  for (std::size_t i = at; i < lines.size(); ++i) {
    if (!lines[i].starts_with("```")) {
      page.why += lines[i] + "\n";
      continue;
    }
    const std::size_t opened = i + 1;
    const std::string label = lines[i].starts_with("```yaml ") ? trimmed(lines[i].substr(8)) : "";
    if (std::ranges::find(known_labels, label) == std::end(known_labels))
      throw Malformed{opened, "an example opens with ```yaml and bad, good, stored or cluster"};
    PageExample example{label, ""};
    for (++i; i < lines.size() && lines[i] != "```"; ++i) example.yaml += lines[i] + "\n";
    if (i == lines.size()) throw Malformed{opened, "this example is not closed"};
    if (trimmed(example.yaml).empty()) throw Malformed{opened, "this example is empty"};
    page.examples.push_back(std::move(example));
  }
  page.why = trimmed(page.why);
  if (page.why.empty()) throw Malformed{lines.size(), "the page does not say why the rule exists"};
  for (const std::string_view label : {"bad", "good"})
    if (std::ranges::none_of(page.examples, [&](const PageExample& each) { return each.label == label; }))
      throw Malformed{lines.size(), fmt::format("there is no \"{}\" example", label)};
}

Page read_page(const fs::path& file) {
  Page page;
  page.id = file.stem().string();
  const bool kebab =
      !page.id.empty() && page.id.front() != '-' && page.id.back() != '-' && page.id.find("--") == std::string::npos &&
      std::ranges::all_of(page.id, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (!kebab) throw Malformed{0, "a page is named <words-with-dashes>.md"};
  const auto lines = lines_of(file);
  read_body(lines, read_front_matter(lines, page), page);
  return page;
}

std::string identifier(std::string id) {
  std::ranges::replace(id, '-', '_');
  return id;
}

std::string literal(std::string_view text) {
  constexpr std::string_view close = ")page\"";
  if (text.find(close) != std::string_view::npos) throw Malformed{0, "the text holds )page\""};
  return fmt::format("R\"page({}{}", text, close);
}

/// What stands between the braces of a Rule.
std::string rule_facts(const Page& page) {
  std::string out = fmt::format(".id = \"{}\", .severity = Severity::{}", page.id, page.severity);
  if (!page.grammar.empty()) out += ", .grammar = true";
  if (!page.cause.empty()) out += fmt::format(", .cause = \"{}\"", page.cause);
  return out;
}

std::string ids_header(const std::vector<Page>& pages) {
  std::string out =
      "// Made from validators/pages.\n#pragma once\n#include \"validators/rule.hpp\"\n\n"
      "namespace stackgate::validate::rule {\n\n";
  for (const Page& page : pages)
    out += fmt::format("inline constexpr Rule {}{{{}}};\n", identifier(page.id), rule_facts(page));
  return out + "\n}  // namespace stackgate::validate::rule\n";
}

std::string pages_source(const std::vector<Page>& pages) {
  std::string out =
      "// Made from validators/pages.\n#include \"validators/rule_ids.hpp\"\n#include \"validators/rulebook.hpp\"\n\n"
      "namespace stackgate::validate {\n\nconst std::vector<RulePage>& rule_pages() {\n"
      "  static const std::vector<RulePage> pages{\n";
  for (const Page& page : pages) {
    out += fmt::format("      {{rule::{},\n       {},\n       \"{}\",\n       {},\n       {{", identifier(page.id),
                       literal(page.title), page.group, literal(page.why));
    for (const PageExample& example : page.examples)
      out += fmt::format("{{\"{}\", {}}},", example.label, literal(example.yaml));
    out += "}},\n";
  }
  return out + "  };\n  return pages;\n}\n\n}  // namespace stackgate::validate\n";
}

// An unchanged header keeps its time stamp, so that a new sentence on a page does not rebuild every rule.
void write_if_changed(const fs::path& file, const std::string& text) {
  std::ifstream in(file);
  std::ostringstream have;
  have << in.rdbuf();
  if (in && have.str() == text) return;
  std::ofstream out(file, std::ios::trunc);
  out << text;
  if (!out.flush()) throw Malformed{0, fmt::format("{} cannot be written", file.string())};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: generate_rule_pages PAGES OUT\n");
    return 2;
  }
  std::vector<fs::path> files;
  bool failed = false;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(argv[1], error))
    if (entry.path().extension() == ".md") files.push_back(entry.path());
  if (error) {
    fmt::print(stderr, "{}: {}\n", argv[1], error.message());
    return 1;
  }
  std::ranges::sort(files, {}, [](const fs::path& file) { return file.stem().string(); });
  std::vector<Page> pages;
  for (const fs::path& file : files) {
    try {
      pages.push_back(read_page(file));
    } catch (const Malformed& bad) {
      fmt::print(stderr, "{}:{}: {}\n", file.string(), bad.line, bad.problem);
      failed = true;
    }
  }
  if (failed) return 1;
  try {
    fs::create_directories(argv[2]);
    write_if_changed(fs::path(argv[2]) / "rule_ids.hpp", ids_header(pages));
    const fs::path source = fs::path(argv[2]) / "rule_pages.cpp";
    write_if_changed(source, pages_source(pages));
    fs::last_write_time(source, fs::file_time_type::clock::now());
  } catch (const Malformed& bad) {
    fmt::print(stderr, "{}\n", bad.problem);
    return 1;
  } catch (const std::exception& bad) {
    fmt::print(stderr, "{}\n", bad.what());
    return 1;
  }
}
