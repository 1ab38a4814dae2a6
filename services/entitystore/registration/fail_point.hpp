// Where a registration may be stopped dead, so that tests can see that it is finished or undone afterwards.
#pragma once
#include <array>
#include <functional>
#include <string_view>

namespace stackgate::entitystore {

/// Called at each point, in this order; empty in production.
using FailPoint = std::function<void(std::string_view point)>;

inline constexpr std::array<std::string_view, 10> fail_points = {
    "received",    // the archive lies in the spool, nothing else knows of it
    "inserted",    // the row is there
    "repository",  // the repository is there
    "archive",     // one of the large files is in the datastore
    "stored",      // all of them
    "committed",   // the commit is there, the row does not know
    "noted",       // the row knows the commit
    "tagged",      // the tag is there
    "ready",       // the row is ready or pending, the spool not yet empty
    "purging",     // of a deletion: the repository or tag is gone, the row does not know
};

}  // namespace stackgate::entitystore
