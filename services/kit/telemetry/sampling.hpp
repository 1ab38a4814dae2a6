// Which traces are recorded, and which URLs never are. Pure.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::validate::schema {
class Pattern;
}

namespace stackgate::telemetry {

/// OTEL_TRACES_SAMPLER and its argument.
struct Sampler {
  enum class Root : std::uint8_t { always_on, always_off, ratio };
  Root root = Root::always_on;
  bool parent_based = true;  // the caller's word counts where there is a caller
  double ratio = 1;

  /// `parent`: the caller's word; nothing when the trace begins here. The same trace gets the same answer everywhere:
  /// its id's last 63 bits are the dice, as other SDKs roll them.
  bool samples(std::string_view trace_id, std::optional<bool> parent) const;
};

/// "parentbased_traceidratio" …; nothing for another word.
std::optional<Sampler> parse_sampler(std::string_view word);
/// A number from 0 to 1.
std::optional<double> parse_ratio(std::string_view text);

/// OTEL_PYTHON_EXCLUDED_URLS: regular expressions between commas, looked for anywhere in "http://host/path?query".
class ExcludedUrls {
 public:
  /// What does not compile is left out, and its fault goes to `error`.
  static ExcludedUrls compile(std::string_view list, std::string& error);
  bool contains(std::string_view url) const;
  bool empty() const { return patterns_.empty(); }

 private:
  std::vector<std::shared_ptr<const validate::schema::Pattern>> patterns_;
};

}  // namespace stackgate::telemetry
