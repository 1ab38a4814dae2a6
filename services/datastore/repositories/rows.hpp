// Rows of the table of repositories. Only for the .cpp files of this folder.
#pragma once
#include <string>
#include <string_view>

#include "services/datastore/repositories/repositories.hpp"
#include "services/kit/sql/database.hpp"

namespace stackgate::datastore {

/// Of repositories r JOIN accounts a ON a.id = r.owner_id.
inline constexpr std::string_view repository_columns =
    "r.id, r.owner_id, COALESCE(a.steward_id, 0), a.name, r.name, COALESCE(r.type, ''), r.description, r.is_private, "
    "r.is_archived, r.default_branch, r.size, r.created_at, r.updated_at";
inline constexpr std::string_view repository_tables = " FROM repositories r JOIN accounts a ON a.id = r.owner_id ";

Repository repository_of(const sql::Row& row);
/// NULL for none.
sql::Value type_value(const std::optional<RepositoryType>& type);

std::unexpected<ServiceError> refused(ServiceFault fault, std::string message);

}  // namespace stackgate::datastore
