#include <fmt/format.h>

#include "services/datastore/accounts/names.hpp"
#include "services/datastore/repositories/rows.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore {
namespace {

/// A WHERE clause that grows together with its values.
struct Conditions {
  std::string text = "WHERE 1 = 1";
  std::vector<sql::Value> values{};

  /// `{}` in the text becomes the value's placeholder.
  void add(std::string_view condition, sql::Value value) {
    values.push_back(std::move(value));
    text += " AND " + fmt::format(fmt::runtime(condition), fmt::format("${}", values.size()));
  }
};

std::string_view column_of(RepositoryOrder order) {
  switch (order) {
    case RepositoryOrder::name:
      break;
    case RepositoryOrder::created:
      return "r.created_at";
    case RepositoryOrder::updated:
      return "r.updated_at";
    case RepositoryOrder::size:
      return "r.size";
    case RepositoryOrder::id:
      return "r.id";
  }
  return "r.name_key";
}

}  // namespace

Repositories::Expected<RepositoryPage> Repositories::list(const Identity& viewer, const RepositoryFilter& filter) {
  Conditions where;
  if (viewer.anonymous())
    where.text += " AND r.is_private = 0";
  else if (!viewer.admin)
    where.add("(r.is_private = 0 OR {0} IN (r.owner_id, a.steward_id))", viewer.account);
  if (!filter.search.empty())
    where.add(
        "(r.name_key LIKE {0} ESCAPE '!' OR LOWER(r.description) LIKE {0} ESCAPE '!' "
        "OR a.name_key || '/' || r.name_key LIKE {0} ESCAPE '!')",
        containing(ascii::to_lower(filter.search)));
  if (!filter.owner.empty()) where.add("a.name_key = {0}", ascii::to_lower(filter.owner));
  if (filter.type)
    where.add(filter.untyped_too ? "(r.type = {0} OR r.type IS NULL)" : "r.type = {0}",
              std::string(to_word(*filter.type)));
  if (filter.is_private) where.add("r.is_private = {0}", std::int64_t{*filter.is_private ? 1 : 0});
  if (filter.archived) where.add("r.is_archived = {0}", std::int64_t{*filter.archived ? 1 : 0});

  auto count = TRY(database_.run(std::string("SELECT COUNT(*)").append(repository_tables) + where.text, where.values));
  RepositoryPage page{.total = static_cast<std::size_t>(count.rows.at(0).integer(0))};
  if (filter.limit == 0 || filter.skip >= page.total) return page;

  const std::string_view direction = filter.descending ? "DESC" : "ASC";
  const std::string rest = fmt::format("{} ORDER BY {} {}, r.id {} LIMIT {} OFFSET {}", where.text,
                                       column_of(filter.order), direction, direction, filter.limit, filter.skip);
  auto found = TRY(database_.run(
      std::string("SELECT ").append(repository_columns).append(repository_tables).append(rest), where.values));
  for (const sql::Row& row : found.rows) page.items.push_back(repository_of(row));
  return page;
}

}  // namespace stackgate::datastore
