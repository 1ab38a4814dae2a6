// From inputs to a report: parse, find our resources, review them, place the findings.
#pragma once
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crds/kinds.hpp"
#include "services/kit/yaml/parse.hpp"
#include "services/stackgate/validate/inputs.hpp"
#include "services/stackgate/validate/local_lookup.hpp"
#include "services/stackgate/validate/options.hpp"
#include "services/stackgate/validate/report.hpp"

namespace stackgate {

/// One object of the inputs: a document, or an item of a List.
struct CheckedObject {
  const json::Value* object = nullptr;
  std::optional<crds::Kind> kind;  // of ours
  const json::Value* old = nullptr;
  validate::Findings findings;
  bool references_unknown = false;
};

struct CheckedFile {
  Input input;
  yaml::Stream stream;
  std::vector<CheckedObject> objects;
};

/// Owns the inputs, their documents, and the report that points into them.
class CheckedSet {
 public:
  /// `old`: what is stored, for update rules. `cluster` may be nullptr; with it everything runs on this thread.
  CheckedSet(std::vector<Input> inputs, std::vector<Input> old, const ValidateOptions& options,
             validate::Lookup* cluster);

  const Report& report() const { return report_; }

 private:
  using Identity = std::tuple<crds::Kind, std::string, std::string>;

  void load(std::vector<Input> inputs, std::deque<CheckedFile>& files) const;
  void match_old(std::deque<CheckedFile>& old);
  void review(CheckedObject& object, validate::Lookup* cluster) const;
  void write_report(const CheckedFile& file);
  Identity identity_of(crds::Kind kind, const CheckedObject& object) const;

  ValidateOptions options_;
  std::string_view ns_;
  std::deque<CheckedFile> files_;
  std::deque<CheckedFile> old_files_;
  LocalObjects local_;
  Report report_;
};

}  // namespace stackgate
