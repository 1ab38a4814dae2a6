// Asks the lookup, once for each object however many fields name it, and remembers what could not be asked.
#pragma once
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "validators/rules/context.hpp"

namespace stackgate::validate {

/// metadata.namespace, or the request's, or "default".
std::string_view namespace_of(const Context& context, const Field& object);

/// Serves one review; needs a Context with a lookup, which must outlive it.
class Asker {
 public:
  Asker(Context& context, std::string_view ns) : context_(context), ns_(ns) {}

  /// What is known about the object that `field` names. The reference stays valid as long as the Asker.
  const ReferencedObject& ask(ReferenceKind reference_kind, std::string_view name, const Field& field);

  /// One warning [reference-unchecked] for everything that could not be asked, at the first field concerned.
  void report_unanswered();

  std::string_view ns() const { return ns_; }

 private:
  struct Answer {
    ReferenceKind reference_kind;
    std::string name;  // not always a view into the resource
    ReferencedObject referred;
  };

  Context& context_;
  std::string_view ns_;
  std::deque<Answer> answers_;
  std::optional<Field> first_unanswered_;
};

}  // namespace stackgate::validate
