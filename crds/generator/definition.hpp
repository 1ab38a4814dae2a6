// The envelope around a kind's schemas: names, version, columns, status subresource.
#pragma once
#include <filesystem>

#include "crds/generator/schema.hpp"
#include "crds/generator/tree.hpp"
#include "crds/kinds.hpp"

namespace stackgate::crds::generator {

/// The complete CustomResourceDefinition of a kind, from `folder`/<plural>.yaml, which holds
///   kind, description, columns [{name, type, path, description, priority, format}], spec, status, validations.
/// The grammars of its patterns are added to `grammars`.
Tree definition(const KindInfo& kind, const std::filesystem::path& folder, const Fragments& fragments,
                Grammars& grammars);

}  // namespace stackgate::crds::generator
