// A data set in memory.
#pragma once
#include <map>
#include <string>

#include "services/evaluator/suite/harness/harness.hpp"

namespace stackgate::evaluator::harness {

struct Files {
  std::map<std::string, std::string> files{};

  DataSource source() const {
    DataSource out;
    for (const auto& [path, text] : files) out.paths.push_back(path);
    out.text = [this](std::string_view path) -> std::expected<std::string, std::string> {
      const auto found = files.find(std::string(path));
      if (found == files.end()) return std::unexpected("there is no such file");
      return found->second;
    };
    return out;
  }
};

inline EvaluationRequest request_for(std::vector<std::string> tasks) {
  EvaluationRequest out;
  out.tasks = std::move(tasks);
  return out;
}

/// "path: problem; fix", a line each.
inline std::string lines_of(const validate::Findings& findings) {
  std::string out;
  for (const validate::Finding& each : findings) out += each.path + ": " + each.problem + "; " + each.fix + "\n";
  return out;
}

}  // namespace stackgate::evaluator::harness
