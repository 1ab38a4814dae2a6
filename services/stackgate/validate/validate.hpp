// `stackgate validate`: manifests checked by the rule book, with line, column and a caret.
#pragma once
#include "services/stackgate/console.hpp"
#include "services/stackgate/validate/options.hpp"

namespace stackgate {

/// 0 no errors, 1 errors, 2 something could not be read or the cluster not be asked; everything else is reported all
/// the same.
int run_validate(const ValidateOptions& options, const Console& console);

}  // namespace stackgate
