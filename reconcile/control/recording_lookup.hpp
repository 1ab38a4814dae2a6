// Remembers what the rules asked about, so that a change of any of it is news for the resource.
#pragma once
#include <string>
#include <vector>

#include "validators/lookup.hpp"

namespace stackgate::reconcile {

/// For one review. It knows no neighbours: of two resources that want the same child the API server
/// refuses the second one's.
class RecordingLookup final : public validate::Lookup {
 public:
  explicit RecordingLookup(validate::Lookup& behind) : behind_(behind) {}
  validate::ReferencedObject find(validate::ReferenceKind kind, std::string_view ns, std::string_view name) override;
  bool neighbours(std::string_view ns, std::vector<validate::Neighbour>& out) override;
  /// See reference() in observe/store.hpp.
  std::vector<std::string> take() { return std::move(asked_); }

 private:
  validate::Lookup& behind_;
  std::vector<std::string> asked_;
};

}  // namespace stackgate::reconcile
