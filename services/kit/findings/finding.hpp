// What a rule reports about a resource.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::validate {

enum class Severity : std::uint8_t { error, warning };

struct Finding {
  std::string_view rule;  // stable id, for example "pvc-create-incomplete"
  Severity severity = Severity::error;
  std::string path;          // spec.trainingConfig.networkConfig[2].name
  std::string value;         // the offending value as short JSON; empty when absent or when it could be a secret
  std::string problem;       // what is wrong; no final period: "must be at most 65535"
  std::string fix;           // what to write instead: "write a port between 1 and 65535"
  std::uint32_t offset = 0;  // where it stands in the source text
};

using Findings = std::vector<Finding>;

/// "problem (value: …); fix [rule]": one line that says everything, for API causes, warnings and logs.
std::string to_line(const Finding& finding);

bool has_errors(const Findings& findings);

}  // namespace stackgate::validate
