// The outcome of a run, ready to be written in any format.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "services/kit/findings/terminal.hpp"
#include "services/stackgate/validate/validate.hpp"

namespace stackgate {

/// One finding, its place, and whose it is. Views point into the inputs and the documents.
struct Entry : validate::Excerpt {
  validate::Finding finding;
  std::string_view kind, ns, name;
};

struct Report {
  std::vector<Entry> entries;  // by file, in document order
  std::size_t documents = 0;   // resources of ours that were checked
  std::size_t updates = 0;     // of these: compared with a stored one
  std::size_t deletions = 0;   // of these: stored, and no longer among the new ones
  std::size_t passed_over = 0;
  std::size_t errors = 0, warnings = 0;
  bool unreadable = false;
  bool references_unknown = false;  // something is referred to that only a cluster could tell about
};

std::string write_text(const Report& report, bool colour);
std::string write_json(const Report& report);
/// `complete`: everything could be read and asked.
std::string write_sarif(const Report& report, bool complete);
std::string write_github(const Report& report);

/// "3 documents checked, 2 passed over: 4 errors, 1 warning"
std::string summary(const Report& report);

/// How many characters, at least one, the token has that begins at byte `at` of `line`.
std::uint32_t token_length(std::string_view line, std::size_t at);

}  // namespace stackgate
