// The commands beside serve. Each returns the exit status: 0, 1 for a failure or for faults that fsck found,
// 2 for settings that lead to no store.
#pragma once
#include "services/datastore/assembly.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::datastore {

int run_command(const settings::Values& values);

int init(Assembly& all, const settings::Values& values);           // init.cpp
int fsck(Assembly& all);                                           // fsck.cpp; JSON on stdout
int collect_garbage(Assembly& all);                                // fsck.cpp; JSON on stdout
int manage_users(Assembly& all, const settings::Values& values);   // manage.cpp
int manage_tokens(Assembly& all, const settings::Values& values);  // manage.cpp

/// On stderr, with the program's name; returns 1.
int command_failed(std::string_view message);

}  // namespace stackgate::datastore
