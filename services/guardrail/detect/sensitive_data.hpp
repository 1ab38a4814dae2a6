// Sensitive data in a text (`rails.config.sensitive_data_detection`): what Presidio's recognisers find, by their names
// and with scores like theirs. Pure.
//
// Immutable once compiled; any number of threads.
#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/guardrail/detect/entities.hpp"
#include "services/guardrail/detect/expression.hpp"
#include "services/guardrail/detect/scan.hpp"
#include "services/guardrail/detect/span.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::guardrail {

/// One of `recognizers`, with Presidio's keys.
struct Recognizer {
  struct Pattern {
    std::string name{};
    std::string regex{};  // RE2's syntax; matched without regard to case, `.` is any character, ^ and $ are a line's
    double score = 0.5;
  };
  std::string name{};
  std::string supported_entity{};
  std::vector<Pattern> patterns{};
  std::vector<std::string> deny_list{};  // whole words
  double deny_list_score = 1.0;
  std::vector<std::string> context{};
};

struct SensitiveDataOptions {
  std::vector<std::string> entities{};  // none: nothing is found
  std::string mask_token{};             // empty: "<ENTITY>"
  double score_threshold = 0.2;
};

class SensitiveData {
 public:
  /// All faults at once. Paths begin with `path` ("rails.config.sensitive_data_detection.input"), those of recognizers
  /// with `recognizers_path`.
  static std::expected<SensitiveData, validate::Findings> compile(const SensitiveDataOptions& options,
                                                                  std::string_view path,
                                                                  const std::vector<Recognizer>& recognizers = {},
                                                                  std::string_view recognizers_path = "recognizers");

  /// `kind` is an index for entity(). A context word within the five words before raises a score by 0.35, to 0.4 at
  /// least. What lies inside of another span is part of it; where two cross, the higher score keeps what both claim.
  Spans find(std::string_view text) const;
  std::string_view entity(std::size_t kind) const { return entities_[kind]; }
  /// Each span replaced by the mask token or "<ENTITY>".
  std::string masked(std::string_view text, const Spans& spans) const;

  /// Bytes at the end of `text` that more text could make part of a span, or of a longer one: at most
  /// longest_open_tail. Spans that begin before them are final, whatever follows, unless one is longer than that; they
  /// may end among them.
  std::size_t open_tail(std::string_view text) const;
  /// How many bytes before a span its score depends on.
  static constexpr std::size_t left_context = 200;
  /// Names of recognizers with a pattern whose matches have no longest length.
  const std::vector<std::string>& unbounded() const { return unbounded_; }

 private:
  struct Custom {
    Expression expression;
    std::uint16_t kind = 0;
    float score = 0;
    std::shared_ptr<const std::vector<std::string>> context;
  };
  SensitiveData() = default;
  void add_recognizer(const Recognizer& recognizer, const std::string& path, validate::Findings& findings);
  void find_custom(std::string_view text, Spans& out) const;

  std::vector<std::string> entities_;
  std::vector<std::string> masks_;
  std::vector<std::uint16_t> kinds_;  // of each Entity
  Wanted wanted_;
  float threshold_ = 0;
  std::vector<Custom> custom_;
  std::shared_ptr<const ExpressionSet> custom_set_;
  std::vector<std::string> unbounded_;
  std::size_t longest_custom_ = 0;
};

}  // namespace stackgate::guardrail
