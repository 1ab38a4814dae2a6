// Findings about one JSON file or body: where each fault stands, and members that must have a certain type.
// A report belongs to one thread; a place must not outlive its document.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "services/kit/findings/finding.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::validate {

/// A value of the file and its path: "pre_tokenizer.pretokenizers[1]"; empty for the top.
struct JsonPlace {
  std::string path;
  const json::Value& value;

  JsonPlace member(std::string_view key, const json::Value& of) const;
  JsonPlace item(std::string_view key, std::size_t index, const json::Value& of) const;
};

/// The ids of what every file has: a value of the wrong type or beyond its bounds, a member that is not there, a kind
/// of something that is not served.
struct JsonRules {
  std::string_view type, missing, not_served;
};

class JsonReport {
 public:
  /// Paths begin with `file`, unless it is "": "tokenizer.json: model.merges[17]". At most 100 findings, more say
  /// nothing new.
  JsonReport(Findings& out, std::string_view file, JsonRules rules) : out_(out), file_(file), rules_(rules) {}

  /// The file's text as one JSON object that lives as long as `document`; nothing, and a finding of `rule` for what is
  /// no JSON, otherwise.
  std::optional<json::Value> parse(std::string_view rule, std::string_view text, json::Document& document,
                                   const json::ParseLimits& limits);

  void wrong(std::string_view rule, const JsonPlace& at, std::string problem, std::string fix,
             Severity severity = Severity::error);
  /// `wanted`: "a text".
  void wrong_type(const JsonPlace& at, std::string_view wanted);
  void missing(const JsonPlace& of, std::string_view key);
  /// `what`: "normalizer".
  void not_served(const JsonPlace& at, std::string_view what, std::string_view name,
                  std::span<const std::string_view> served);
  /// Whether there was an error, also one beyond the hundredth.
  bool failed() const { return failed_; }

  // Optional members: absent and null are the fallback, and so is what is wrong, with a finding.
  bool flag(const JsonPlace& of, std::string_view key, bool fallback);
  std::string text(const JsonPlace& of, std::string_view key, std::string_view fallback = {});
  std::uint32_t number(const JsonPlace& of, std::string_view key, std::uint32_t least, std::uint32_t most,
                       std::uint32_t fallback);
  /// More than 0, and finite.
  double positive(const JsonPlace& of, std::string_view key, double fallback);
  /// From `least` to `most`; nothing when absent.
  std::optional<double> real(const JsonPlace& of, std::string_view key, double least, double most);
  /// A member that must be there: nothing, and a finding, unless it is a whole number from `least` to `most`.
  std::optional<std::uint32_t> needed_number(const JsonPlace& of, std::string_view key, std::uint32_t least,
                                             std::uint32_t most);

  /// nullptr for what is absent or null.
  static const json::Value* present(const JsonPlace& of, std::string_view key);

 private:
  Findings& out_;
  std::string_view file_;
  JsonRules rules_;
  bool failed_ = false;
};

}  // namespace stackgate::validate
