// The service itself, and the commands beside serve.
#pragma once
#include <expected>

#include "services/datastore/assembly.hpp"
#include "services/kit/service/service.hpp"
#include "services/kit/settings/settings.hpp"

namespace stackgate::datastore {

/// For service::Service::build: routes, readiness and what runs in the background. (serve.cpp)
std::expected<service::Parts, Error> build(const settings::Values& values, metrics::Registry& registry);

/// As the commands below it returns the exit status: 0, 1 for a failure or for faults that fsck found, 2 for settings
/// that lead to no store.
int run_command(const settings::Values& values);

int init(Assembly& all, const settings::Values& values);           // init.cpp
int fsck(Assembly& all);                                           // fsck.cpp; JSON on stdout
int collect_garbage(Assembly& all);                                // fsck.cpp; JSON on stdout
int manage_users(Assembly& all, const settings::Values& values);   // manage.cpp
int manage_tokens(Assembly& all, const settings::Values& values);  // manage.cpp

/// On stderr, with the program's name; returns 1.
int command_failed(std::string_view message);

}  // namespace stackgate::datastore
