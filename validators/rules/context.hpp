// What a rule has at hand, and how it reports. One Context serves one review.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/findings/finding.hpp"
#include "validators/field.hpp"
#include "validators/lookup.hpp"
#include "validators/request.hpp"
#include "validators/rule_ids.hpp"  // generated from validators/pages

namespace stackgate::validate {

class Context {
 public:
  Context(const Request& of_request, Lookup* of_lookup, const Options& of_options)
      : request(of_request), options(of_options), lookup(of_lookup) {}

  const Request& request;
  const Options& options;
  Lookup* const lookup;  // nullptr: reference rules are off
  Walk walk;
  Findings findings;

  /// Of errors and of warnings as many are kept; nobody reads more, and a hostile object could hold 100,000.
  static constexpr std::size_t most_findings = 1'000;

  /// One fault at `field`. Its value is quoted unless the field may hold a secret.
  void report(const Rule& rule, const Field& field, std::string problem, std::string fix);
  /// The same with another severity than the rule's own.
  void report(const Rule& rule, Severity severity, const Field& field, std::string problem, std::string fix);

  /// Whether findings were left out.
  bool cut() const { return cut_; }

 private:
  std::size_t errors_ = 0, warnings_ = 0;
  bool cut_ = false;
};

}  // namespace stackgate::validate
