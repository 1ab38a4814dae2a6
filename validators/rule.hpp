// Identity of a rule and the facts about it that code asks for.
#pragma once
#include <string_view>

#include "services/kit/findings/finding.hpp"

namespace stackgate::validate {

/// Generated from the front matter of validators/pages/<id>.md into rule_ids.hpp.
struct Rule {
  std::string_view id;
  Severity severity;     // how it is reported unless an option or ratcheting changes it
  bool grammar = false;  // holds a grammar that the CRD's patterns, lengths and ranges hold too, and words it better
  std::string_view cause = "FieldValueInvalid";  // metav1.CauseType: what Kubernetes' clients switch on
};

}  // namespace stackgate::validate
