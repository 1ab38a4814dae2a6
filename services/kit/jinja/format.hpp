// "%s" % value and "{}".format(value).
#pragma once
#include <string_view>

#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

/// `values` is a tuple, a dict for %(name)s, or the one value.
Result percent_format(Machine& machine, std::string_view format, const Value& values);
Result brace_format(Machine& machine, std::string_view format, Arguments& arguments);

}  // namespace stackgate::jinja
