// Conversations as rows of data: one YAML document for each built-in rail, in rows/*.yml.
//
//   rail: regex check input     # a built-in rail, arguments included
//   config: |                   # YAML beside the main model and the rail's list
//   knowledge: |                # kb/page.md
//   code: |                     # config.py, run by a real Python
//   prompt: "content: x"        # members of the prompt of the rail's task; else one that shows what is judged
//   rules:                      # what every model but the main one, and servers of detectors, answer: the first that
//   fits
//     - {holds: forbidden, says: "yes"}
//     - {says: "no"}            # or {status: 500}
//   rows:
//     - {case: blocked, user: a forbidden thing, answer: "I'm sorry, I can't respond to that."}
//
// Of a row: `case` (on, off, blocked, altered, fails), what the `user` says, what the `main` model says or `calls`,
// `answer` (else the main model's), the client's `context`, and what the rail `hides`: from the main model where it
// looks at what is asked, else from the client.
#pragma once
#include <ostream>
#include <string>
#include <vector>

namespace stackgate::guardrail::test {

struct Rule {
  std::string holds{}, says{};
  int status = 200;
};

struct Row {
  std::string rail, config, knowledge, code{}, prompt{};
  std::vector<Rule> rules;
  std::string kind;
  std::string user{"Hello"}, main{"Hi!"}, calls{}, answer{}, context{}, hides{};
  std::string name;  // of the test
};
inline void PrintTo(const Row& row, std::ostream* out) { *out << row.rail << ", " << row.kind; }

/// All rows; throws where a file cannot be read.
const std::vector<Row>& all_rows();

}  // namespace stackgate::guardrail::test
