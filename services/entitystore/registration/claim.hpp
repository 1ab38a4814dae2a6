// Whose a repository is: its description names the database that its records lie in.
#pragma once
#include <string>
#include <string_view>

#include "services/kit/web/answer.hpp"

namespace stackgate::entitystore {

/// A repository's description says which database its records lie in. `database`: 32 hexadecimal digits.
std::string mark_of(std::string_view database);
/// The database that a description names; empty for a description without a mark.
std::string marked_database(std::string_view description);

namespace registrar_detail {

/// 409. `other`: the database that the repository is marked with, empty without a mark.
web::Failure not_ours(std::string_view repository, std::string_view other);

}  // namespace registrar_detail
}  // namespace stackgate::entitystore
