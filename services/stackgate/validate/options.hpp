// What `stackgate validate` is asked for.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "validators/rulebook.hpp"

namespace stackgate {

enum class ValidateOutput : std::uint8_t { text, json, sarif, github };

struct ValidateOptions {
  std::vector<std::string> paths;  // files, directories, "-"
  std::string old_path;            // what is stored now: update rules hold for what `paths` changes of it
  ValidateOutput output = ValidateOutput::text;
  bool strict = false;              // complain about other kinds
  bool warnings_as_errors = false;  // for the exit status; the findings keep their severity
  bool cluster = false;             // ask an API server about what the resources refer to
  std::string kubeconfig;
  std::string context;
  std::string ns;  // where none is written; empty: the context's, or "default"
  validate::Options rules;
  unsigned jobs = 1;
};

}  // namespace stackgate
