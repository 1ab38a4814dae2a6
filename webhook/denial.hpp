// Findings as a person reads them: the text of a denial, its causes, and warnings within Kubernetes' limits. Pure.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/findings/finding.hpp"
#include "webhook/review.hpp"

namespace stackgate::webhook {

/// Whether any finding came of what the cluster was said to hold (groups reference and across).
bool rests_on_lookup(const validate::Findings& findings);

/// Kubernetes' word for a fault of that rule (metav1.CauseType): what clients switch on.
std::string_view cause_reason(std::string_view rule);

/// One cause per error. kubectl prints each as `* field: message` and nothing else, so a message says everything.
std::vector<Cause> causes_of(const validate::Findings& findings);

/// The same as one text for clients that ignore causes, wrapped at 80 columns.
std::string denial_message(std::string_view kind, std::string_view name, const std::vector<Cause>& causes);

/// One line per warning: at most 256 bytes each and 4096 together (beyond that the API server cuts), without control
/// characters. What does not fit is counted in a last line.
std::vector<std::string> warnings_of(const validate::Findings& findings);

}  // namespace stackgate::webhook
