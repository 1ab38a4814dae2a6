// What one rendering may still do: steps, bytes of values, bytes of output.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "services/kit/jinja/object.hpp"
#include "services/kit/jinja/template.hpp"

namespace stackgate::jinja {

class Budget {
 public:
  explicit Budget(const Limits& limits) : limits_(limits) {}

  Status spend(std::uint64_t steps = 1);
  /// For work that looks at so many bytes.
  Status spend_on(std::size_t bytes) { return spend(1 + bytes / 256); }
  Status allocate(std::uint64_t bytes);
  /// Whether as much could be made: before the work of making it.
  Status has_room(std::uint64_t bytes) const;
  /// Whether a text of this size may be part of the output.
  Status fits(std::size_t bytes) const;

  // Values, paid for.
  Result text(std::string text);
  Result list(std::vector<Value> items, Form form = Form::list);
  Result dict(Dict dict);

  const Limits& limits() const { return limits_; }

 private:
  Limits limits_;
  std::uint64_t steps_ = 0;
  std::uint64_t bytes_ = 0;
};

// Faults without a place: whoever evaluates adds it.
std::unexpected<Fault> type_fault(std::string message);
std::unexpected<Fault> limit_fault(std::string message);
/// For what cannot be done with an undefined value.
std::unexpected<Fault> undefined_fault(const Value& value);

}  // namespace stackgate::jinja
