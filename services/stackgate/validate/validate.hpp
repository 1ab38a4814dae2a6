// `stackgate validate`: manifests checked by the rule book, with line, column and a caret.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "services/stackgate/console.hpp"
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

/// 0 no errors, 1 errors, 2 something could not be read or the cluster not be asked; everything else is reported all
/// the same.
int run_validate(const ValidateOptions& options, const Console& console);

}  // namespace stackgate
