#include "services/datastore/repositories/rows.hpp"

#include <utility>

namespace stackgate::datastore {

sql::Value type_value(const std::optional<RepositoryType>& type) {
  return type ? sql::Value(std::string(to_word(*type))) : sql::Value(nullptr);
}

Repository repository_of(const sql::Row& row) {
  return {.id = row.integer(0),
          .owner_id = row.integer(1),
          .steward_id = row.integer(2),
          .owner = row.text(3),
          .name = row.text(4),
          .type = parse_type(row.text(5)),
          .description = row.text(6),
          .is_private = row.integer(7) != 0,
          .archived = row.integer(8) != 0,
          .default_branch = row.text(9),
          .size = static_cast<std::uint64_t>(row.integer(10)),
          .created_at = row.text(11),
          .updated_at = row.text(12)};
}

std::unexpected<ServiceError> refused(ServiceFault fault, std::string message) {
  return std::unexpected(ServiceError{
      .fault = fault, .message = std::move(message), .code = fault == ServiceFault::missing ? "RepoNotFound" : ""});
}

}  // namespace stackgate::datastore
