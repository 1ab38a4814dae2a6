// Test material: a kind's minimal sample with a JSON merge patch (RFC 7386) over it.
#pragma once
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "crds/embedded.hpp"
#include "services/kit/yaml/parse.hpp"
#include "validators/rulebook.hpp"

namespace stackgate::validate::tests {

/// A parsed object that owns its text. Not movable: its strings are views into its own members.
class Sample {
 public:
  /// The first document of `yaml`; throws std::runtime_error with the parser's message.
  explicit Sample(std::string yaml);
  /// base patched with patch.
  Sample(const json::Value& base, const json::Value& patch);
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  const json::Value& value() const { return root_; }

 private:
  std::string text_;
  yaml::Stream stream_;
  json::Document patched_;
  json::Value root_;
};

/// The minimal sample of `kind` patched with `patch` (YAML, which names no kind).
std::unique_ptr<Sample> sample(crds::Kind kind, std::string_view patch = "{}");

/// The review of sample(kind, patch), creation, without a lookup.
Findings review_of(crds::Kind kind, std::string_view patch);
/// The review of an update from sample(kind, old_patch) to sample(kind, patch).
Findings review_of_update(crds::Kind kind, std::string_view old_patch, std::string_view patch);

/// "error spec.pvc.size pvc-create-incomplete" per finding: what the tables compare.
std::vector<std::string> short_form(const Findings& findings);

}  // namespace stackgate::validate::tests
