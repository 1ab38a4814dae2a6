// What is known of this machine's models before a customization is stored. Reads files; thread-safe.
#pragma once
#include <string>

#include "services/customizer/api/request.hpp"
#include "services/kit/findings/finding.hpp"

namespace stackgate::customizer {

/// `models` is the folder of base models. A model that is downloaded first is not known.
validate::Findings judge_request(const CustomizationRequest& request, const std::string& models);

}  // namespace stackgate::customizer
