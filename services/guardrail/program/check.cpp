// `check DIR`: what would be refused, before any request. As `stackgate validate` shows it, or as JSON.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "services/guardrail/program/program.hpp"
#include "services/guardrail/store/folder.hpp"
#include "services/kit/base/utf8.hpp"
#include "services/kit/findings/terminal.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/log/colours.hpp"

namespace stackgate::guardrail {
namespace check_detail {

using validate::Excerpt, validate::Finding;

/// A finding of a configuration, and its place in one of its files.
struct Entry {
  std::string configuration;
  Finding finding;
  Excerpt at{};
};

/// Takes ":NUMBER" from the front of `text`; 0: there is none.
std::uint32_t take_number(std::string_view& text) {
  std::uint32_t out = 0;
  if (!text.starts_with(':')) return 0;
  const auto [end, fault] = std::from_chars(text.data() + 1, text.data() + text.size(), out);
  if (fault != std::errc{}) return 0;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return out;
}

std::string_view line_of(std::string_view text, std::uint32_t number) {
  for (; number > 1; --number) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  return text.ends_with('\r') ? text.substr(0, text.size() - 1) : text;
}

/// Parts "strict/config.yml:12:3 rails.input.flows[0]" into a place and a path.
Entry placed(std::string configuration, Finding finding, const std::vector<File>& files) {
  Entry out{std::move(configuration), std::move(finding)};
  for (const File& file : files) {
    std::string_view rest = out.finding.path;
    if (!rest.starts_with(file.shown)) continue;
    rest.remove_prefix(file.shown.size());
    if (!rest.empty() && rest.front() != ':' && rest.front() != ' ') continue;  // another file, of a longer name
    out.at.file = file.shown;
    out.at.may_hold_secret = !file.name.ends_with(".co");  // "$x = …" only looks like a variable of an environment
    if (const std::uint32_t line = take_number(rest); line > 0) {
      out.at.line = line;
      out.at.column = std::max(take_number(rest), 1U);
      out.at.end_column = out.at.column + 1;
      out.at.source = line_of(file.text, line);
      for (std::uint32_t i = 1; i < out.at.column && out.at.byte < out.at.source.size(); ++i)
        out.at.byte += std::max<std::size_t>(1, utf8::sequence_length(out.at.source.substr(out.at.byte)));
    }
    out.finding.path = std::string(rest.substr(std::min(rest.find_first_not_of(' '), rest.size())));
    return out;
  }
  return out;
}

std::string to_json(const std::vector<Entry>& entries) {
  std::string out;
  json::Writer w(out);
  w.array([&] {
    for (const Entry& each : entries) {
      w.object([&] {
        w.member("configuration", each.configuration);
        w.member("rule", each.finding.rule);
        w.member("severity", each.finding.severity == validate::Severity::error ? "error" : "warning");
        w.member("path", each.finding.path);
        w.member("message", validate::message_of(each.finding));
        w.member("fix", each.finding.fix);
        w.member("file", each.at.file);
        w.member("line", each.at.line);
        w.member("column", each.at.column);
      });
      out += '\n';
    }
  });
  return out + '\n';
}

std::string to_text(const std::vector<Entry>& entries, const std::map<std::string, bool>& served) {
  std::string out;
  const validate::Paint paint(shows_colours(STDOUT_FILENO));
  for (const Entry& each : entries) {
    Excerpt at = each.at;
    if (at.file.empty()) at.file = each.configuration;
    validate::append_for_terminal(out, each.finding, at, paint);
  }
  if (!entries.empty()) out += '\n';
  for (const auto& [id, good] : served) out += fmt::format("{}: {}\n", id, good ? "can be served" : "cannot be served");
  return out;
}

}  // namespace check_detail

int check(const settings::Values& values) {
  using namespace check_detail;
  if (values.arguments().size() != 1) {
    fmt::print(stderr, "check takes one folder: stackgate-guardrail check ./configs\n");
    return 2;
  }
  const std::string& folder = values.arguments().front();
  const FolderContent content = read_folder(folder);
  const auto all = configurations_of(content.files);
  if (content.away || all.empty()) {
    for (const Finding& each : content.findings) fmt::print(stderr, "{}: {}\n", each.path, validate::to_line(each));
    fmt::print(
        stderr, "{} {}\n", folder,
        content.away ? "cannot be read" : "holds no configuration: a config.yml at its top, or folders with one each");
    return 1;
  }
  std::vector<Entry> entries;
  std::map<std::string, bool> served;
  for (const Finding& each : content.findings) entries.push_back(placed("", each, content.files));
  for (const auto& [id, own] : all) {
    ReadConfiguration read = read_configuration(id, own);
    std::ranges::move(try_python(*read.draft, python_options(values)), std::back_inserter(read.findings));
    if (validate::has_errors(read.findings)) read.configuration = nullptr;
    for (Finding& each : read.findings) entries.push_back(placed(id, std::move(each), own));
    served[id] = read.configuration != nullptr;
  }
  const std::string text = values.text("output") == "json" ? to_json(entries) : to_text(entries, served);
  fmt::print("{}", text);
  return std::ranges::all_of(served, [](const auto& each) { return each.second; }) ? 0 : 1;
}

}  // namespace stackgate::guardrail
