#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "services/kit/base/ascii.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/yaml/parse.hpp"
#include "tests/guardrail/conversations/rows.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::guardrail::test {
namespace {

std::string text_or(const json::Value& from, std::string_view key, std::string otherwise) {
  const json::Value* found = from.find(key);
  return found == nullptr ? otherwise : std::string(found->string());
}

/// Misspelled members would make a row say less than it seems to.
void know(const json::Value& from, std::initializer_list<std::string_view> keys, const std::string& file) {
  for (const json::Member& each : from.members())
    if (std::ranges::find(keys, each.key) == keys.end())
      throw std::runtime_error(file + ": what is " + std::string(each.key) + "?");
}

std::string test_name(std::string name, std::map<std::string, int>& seen) {
  for (char& c : name)
    if (!ascii::is_alphanumeric(c)) c = '_';
  const int count = ++seen[name];
  return count == 1 ? name : name + "_" + std::to_string(count);
}

void read_document(const json::Value& root, const std::string& file, std::map<std::string, int>& names,
                   std::vector<Row>& out) {
  know(root, {"rail", "config", "knowledge", "code", "prompt", "rules", "rows"}, file);
  Row shared{.rail = text_or(root, "rail", ""),
             .config = text_or(root, "config", ""),
             .knowledge = text_or(root, "knowledge", ""),
             .code = text_or(root, "code", ""),
             .prompt = text_or(root, "prompt", "")};
  for (const json::Value& each : json::items(&root, {"rules"})) {
    know(each, {"holds", "says", "status"}, file);
    shared.rules.push_back({.holds = text_or(each, "holds", ""),
                            .says = text_or(each, "says", ""),
                            .status = static_cast<int>(json::integer(&each, {"status"}, 200))});
  }
  for (const json::Value& each : json::items(&root, {"rows"})) {
    know(each, {"case", "user", "main", "calls", "answer", "context", "hides"}, file);
    Row row = shared;
    const json::Value kind = json::value_at(&each, {"case"});  // YAML takes on and off for true and false
    row.kind = !kind.is_boolean() ? std::string(kind.string()) : kind.boolean() ? "on" : "off";
    row.user = text_or(each, "user", row.user);
    row.main = text_or(each, "main", row.main);
    row.calls = text_or(each, "calls", "");
    row.answer = text_or(each, "answer", row.main);
    row.hides = text_or(each, "hides", "");
    if (const json::Value* context = each.find("context")) row.context = json::to_json(*context);
    row.name = test_name(row.rail.substr(0, row.rail.find(" $")) + " " + row.kind, names);
    out.push_back(std::move(row));
  }
}

std::vector<Row> read_rows() {
  std::vector<Row> out;
  std::map<std::string, int> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(stackgate::test::source_dir() / "tests/guardrail/conversations/rows")) {
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string yaml = text.str();
    const yaml::Stream stream = yaml::parse(yaml);
    const std::string file = entry.path().filename();
    if (stream.failed) throw std::runtime_error(file + ": " + stream.error.message);
    for (const json::Document& each : stream.documents) read_document(each.root, file, names, out);
  }
  std::ranges::sort(out, {}, &Row::name);
  return out;
}

}  // namespace

const std::vector<Row>& all_rows() {
  static const std::vector<Row> rows = read_rows();
  return rows;
}

}  // namespace stackgate::guardrail::test
