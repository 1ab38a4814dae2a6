// Configurations written in a test, and their findings as lines.
#pragma once
#include <initializer_list>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"

namespace stackgate::guardrail::test {

struct Text {
  std::string_view name, text;
};

inline std::vector<File> files(std::initializer_list<Text> texts) {
  std::vector<File> out;
  for (const Text& each : texts)
    out.push_back({std::string(each.name), std::string(each.text), "d/" + std::string(each.name)});
  return out;
}

inline ReadConfiguration read(std::initializer_list<Text> texts) { return read_configuration("d", files(texts)); }
inline ReadConfiguration read_yaml(std::string_view yaml) { return read({{"config.yml", yaml}}); }

/// "error d/config.yml:1:1 key: problem; fix [rule]", a line each.
inline std::string lines(const validate::Findings& findings) {
  std::string out;
  for (const validate::Finding& each : findings) {
    out += each.severity == validate::Severity::error ? "error " : "warning ";
    out += each.path + ": " + to_line(each) + "\n";
  }
  return out;
}

}  // namespace stackgate::guardrail::test
