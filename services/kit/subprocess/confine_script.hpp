// What stands in front of a Python script that runs code of others: functions with which it gives up the network, other
// processes and its user, by seccomp and without any right. Linux on x86-64 and arm64.
#pragma once
#include <string_view>

namespace stackgate::subprocess {

/// close_network(), refuse_calls(names, only_threads), keep_privileges_away(), become_nobody(),
/// end_with(parent): confine.py has them.
std::string_view confine_script();

}  // namespace stackgate::subprocess
