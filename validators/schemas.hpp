// The compiled schemas of the eight kinds, made once from the embedded CRDs.
#pragma once
#include "crds/kinds.hpp"
#include "services/kit/schema/schema.hpp"

namespace stackgate::validate {

/// The whole object's schema (apiVersion, kind, metadata, spec, status). Compiled at the first call for that kind;
/// thread-safe. Throws std::logic_error when the embedded CRD does not compile, which a test rules out.
const schema::Schema& schema_of(crds::Kind kind);

/// The schema's node for `spec`.
const schema::Node& spec_node(crds::Kind kind);

}  // namespace stackgate::validate
