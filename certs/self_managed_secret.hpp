// The self-managed state as a Kubernetes Secret.
//
//   tls.crt, tls.key               the leaf, as in any TLS Secret
//   ca.crt                         what clients must trust, as in any TLS Secret
//   signing-ca.crt, signing-ca.key the CA in use
//   next-ca.crt, next-ca.key       the CA that takes over, while there is one
//   previous-ca.crt                the CA before, while its leaves may still be served
#pragma once
#include <string>
#include <string_view>

#include "certs/self_managed_plan.hpp"
#include "services/kit/json/value.hpp"

namespace stackgate::certs {

/// What can be read of it; anything else is as if it were not there, so that it is made anew.
SelfManagedState read_secret(const json::Value& secret);

/// A new Secret.
std::string new_secret(std::string_view name, const SelfManagedState& state);

/// A merge patch that holds only against `resource_version`; other keys, labels and annotations stay.
std::string patch_of_secret(std::string_view resource_version, const SelfManagedState& state);

}  // namespace stackgate::certs
