#include "services/datastore/repositories/rows.hpp"

#include <utility>

#include "services/kit/log/log.hpp"

namespace stackgate::datastore {

std::string_view to_word(RepositoryType type) {
  switch (type) {
    case RepositoryType::model:
      return "model";
    case RepositoryType::dataset:
      return "dataset";
    case RepositoryType::space:
      break;
  }
  return "space";
}

sql::Value type_value(const std::optional<RepositoryType>& type) {
  return type ? sql::Value(std::string(to_word(*type))) : sql::Value(nullptr);
}

Repository repository_of(const sql::Row& row) {
  Repository out{.id = row.integer(0),
                 .owner_id = row.integer(1),
                 .steward_id = row.integer(2),
                 .owner = row.text(3),
                 .name = row.text(4),
                 .description = row.text(6),
                 .is_private = row.integer(7) != 0,
                 .archived = row.integer(8) != 0,
                 .default_branch = row.text(9),
                 .size = static_cast<std::uint64_t>(row.integer(10)),
                 .created_at = row.text(11),
                 .updated_at = row.text(12)};
  const std::string type = row.text(5);
  if (type == "model") out.type = RepositoryType::model;
  if (type == "dataset") out.type = RepositoryType::dataset;
  if (type == "space") out.type = RepositoryType::space;
  return out;
}

RepositoryError repository_error(RepositoryFault fault, std::string message) { return {fault, std::move(message)}; }

RepositoryError of_sql(const sql::SqlError& error) {
  if (error.fault == sql::Fault::duplicate)
    return repository_error(RepositoryFault::exists, "a repository of that name exists");
  if (error.fault == sql::Fault::unfit)
    return repository_error(RepositoryFault::invalid, "what was sent holds a NUL or bytes that are no UTF-8");
  log::error("the database failed", {{"cause", error.message}});
  if (error.fault == sql::Fault::away || error.fault == sql::Fault::busy || error.fault == sql::Fault::conflict)
    return repository_error(RepositoryFault::unavailable, "the database cannot be reached; try again shortly");
  if (error.fault == sql::Fault::full)
    return repository_error(RepositoryFault::full, "no space is left for the database");
  return repository_error(RepositoryFault::broken, "the database refused the operation; the server's log says why");
}

}  // namespace stackgate::datastore
