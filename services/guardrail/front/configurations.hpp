// Which configuration answers a request.
#pragma once
#include <memory>
#include <string>

#include "services/guardrail/front/front.hpp"
#include "services/guardrail/store/store.hpp"

namespace stackgate::guardrail {

/// `fallback`: for requests that name none; "" refuses them. `takes_inline`: requests may bring their own.
Configurations served_configurations(const std::shared_ptr<Store>& store, std::string fallback, bool takes_inline);

}  // namespace stackgate::guardrail
