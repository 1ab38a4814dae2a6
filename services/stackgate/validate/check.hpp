// From inputs to a report: parse, find our resources, review them, place the findings.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/yaml/lines.hpp"
#include "services/kit/yaml/parse.hpp"
#include "services/stackgate/validate/inputs.hpp"
#include "services/stackgate/validate/local_lookup.hpp"
#include "services/stackgate/validate/report.hpp"
#include "services/stackgate/validate/validate.hpp"

namespace stackgate {

/// One object of the inputs: a document, or an item of a List.
struct CheckedObject {
  const json::Value* object = nullptr;
  std::optional<crds::Kind> kind;  // of ours
  const json::Value* old = nullptr;
  bool is_deleted = false;  // stored, and no longer among the new ones
  validate::Findings findings;
  bool references_unknown = false;
};

struct CheckedFile {
  Input input;
  yaml::Stream stream;
  std::vector<CheckedObject> objects;
  std::optional<yaml::Lines> lines;  // made when a place is asked for: most files have no findings
};

/// Owns the inputs, their documents, and the report that points into them.
class CheckedSet {
 public:
  /// `old`: what is stored, for update rules. `cluster` may be nullptr; with it everything runs on this thread.
  CheckedSet(std::vector<Input> inputs, std::vector<Input> old, const ValidateOptions& options,
             validate::Lookup* cluster);

  const Report& report() const { return report_; }

 private:
  using Identity = std::tuple<crds::Kind, std::string_view, std::string_view>;  // kind, namespace, name

  void load(std::vector<Input> inputs, std::deque<CheckedFile>& files) const;
  void match_old();
  void find_twins();
  void review(CheckedObject& object, validate::Lookup* cluster) const;
  void write_report(CheckedFile& file, bool is_new);
  Identity identity_of(const CheckedObject& object) const;

  ValidateOptions options_;
  std::string_view ns_;
  std::deque<CheckedFile> files_;
  std::deque<CheckedFile> old_files_;
  LocalObjects local_;
  Report report_;
};

}  // namespace stackgate
