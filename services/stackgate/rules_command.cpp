#include "services/stackgate/rules_command.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/settings/help.hpp"
#include "services/stackgate/validate/document_rules.hpp"
#include "validators/rulebook.hpp"

namespace stackgate {

namespace {

using validate::RulePage;

/// The rule book's pages and those of `stackgate validate` itself, by id.
std::vector<RulePage> all_pages() {
  std::vector<RulePage> pages = validate::rule_pages();
  for (const DocumentRulePage& each : document_rule_pages())
    pages.push_back({each.rule, each.title, "validate", each.why, {}});
  std::ranges::sort(pages, {}, [](const RulePage& page) { return page.rule.id; });
  return pages;
}

std::string_view severity_word(const RulePage& page) {
  return page.rule.severity == validate::Severity::error ? "error" : "warning";
}

void write_page(json::Writer& w, const RulePage& page, bool whole) {
  w.object([&] {
    w.member("id", page.rule.id);
    w.member("severity", severity_word(page));
    w.member("group", page.group);
    w.member("title", page.title);
    if (!whole) return;
    w.member("why", page.why);
    w.array("examples", [&] {
      for (const validate::Example& example : page.examples) {
        w.object([&] {
          w.member("label", example.label);
          w.member("yaml", example.yaml);
        });
      }
    });
  });
}

void append_indented(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    fmt::format_to(std::back_inserter(out), "{}{}\n", line.empty() ? "" : "    ", line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string_view heading(std::string_view label) {
  if (label == "bad") return "Bad";
  if (label == "good") return "Good";
  if (label == "stored") return "When this is stored";
  if (label == "cluster") return "When the cluster has this";
  return label;
}

/// Lines of a paragraph become one; wrap() cuts it where a terminal ends.
std::string paragraphs(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool ends_paragraph = text[i] == '\n' && (i + 1 == text.size() || text[i + 1] == '\n');
    const bool begins_one = text[i] == '\n' && i > 0 && text[i - 1] == '\n';
    out += text[i] == '\n' && !ends_paragraph && !begins_one ? ' ' : text[i];
  }
  return settings::wrap(out, 80);
}

std::string page_text(const RulePage& page, bool colour) {
  std::string out =
      fmt::format("{}{}{} ({}, {})\n{}\n\n{}\n", colour ? "\x1b[1m" : "", page.rule.id, colour ? "\x1b[0m" : "",
                  severity_word(page), page.group, page.title, paragraphs(page.why));
  for (const validate::Example& example : page.examples) {
    fmt::format_to(std::back_inserter(out), "\n{}:\n", heading(example.label));
    append_indented(out, example.yaml);
  }
  return out;
}

std::string list_text(const std::vector<RulePage>& pages) {
  std::size_t widest = 0;
  std::map<std::string_view, std::vector<const RulePage*>> groups;
  for (const RulePage& page : pages) {
    widest = std::max(widest, page.rule.id.size());
    groups[page.group].push_back(&page);
  }
  std::string out;
  for (const auto& [group, members] : groups) {
    fmt::format_to(std::back_inserter(out), "{}{}\n", out.empty() ? "" : "\n", group);
    for (const RulePage* page : members) {
      fmt::format_to(std::back_inserter(out), "  {:<{}}  {:<7}  {}\n", page->rule.id, widest, severity_word(*page),
                     page->title);
    }
  }
  fmt::format_to(std::back_inserter(out), "\n{} rules; 'stackgate rules explain ID' tells why one exists\n",
                 pages.size());
  return out;
}

}  // namespace

int run_rules(const RulesOptions& options, const Console& console) {
  const std::vector<RulePage> pages = all_pages();
  std::string out;
  json::Writer w(out);
  if (options.explain.empty()) {
    if (options.json) {
      w.array([&] {
        for (const RulePage& page : pages) write_page(w, page, false);
      });
      out += '\n';
    } else {
      out = list_text(pages);
    }
    console.out << out;
    return 0;
  }
  const auto found = std::ranges::find(pages, options.explain, [](const RulePage& page) { return page.rule.id; });
  if (found == pages.end()) {
    std::vector<std::string_view> ids;
    ids.reserve(pages.size());
    for (const RulePage& page : pages) ids.push_back(page.rule.id);
    const std::string_view near = validate::nearest(options.explain, ids);
    console.err << "stackgate: there is no rule '" << options.explain << "'";
    if (!near.empty()) console.err << "; did you mean '" << near << "'?";
    console.err << '\n';
    for (const std::string_view id : ids)
      if (near.empty() && id.find(options.explain) != std::string_view::npos) console.err << "  " << id << '\n';
    console.err << "'stackgate rules' lists them all.\n";
    return 2;
  }
  if (options.json) {
    write_page(w, *found, true);
    out += '\n';
  } else {
    out = page_text(*found, console.colour);
  }
  console.out << out;
  return 0;
}

}  // namespace stackgate
