// Findings as lines: "path: problem".
#pragma once
#include <string>
#include <vector>

#include "services/kit/findings/finding.hpp"

namespace stackgate::model::test {

inline std::vector<std::string> lines(const validate::Findings& findings) {
  std::vector<std::string> out;
  for (const auto& finding : findings) out.push_back(finding.path + ": " + finding.problem);
  return out;
}

}  // namespace stackgate::model::test
