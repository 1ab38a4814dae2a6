// The part of the registrar that keeps two entitystores off each other's repositories: with one datastore and one
// --datastore-owner, but two databases, each would take the other's repositories for its own and delete them.
#include <fmt/format.h>

#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::entitystore {
namespace registrar_detail {

constexpr std::string_view mark_begins = "Adapters of the stackgate-entitystore with the database ";
constexpr std::size_t id_digits = 32;
constexpr int most_claims = 3;  // tries, while somebody else makes or deletes the repository in between

}  // namespace registrar_detail

web::Failure not_ours(std::string_view repository, std::string_view other) {
  const std::string whose =
      other.empty() ? std::string("was there before, and this service's database has no record of it")
                    : fmt::format("belongs to the entitystore with the database {}, not to this one", other);
  return {.status = 409,
          .message = fmt::format("the datastore's repository {} {}; give this entitystore a --datastore-owner of its "
                                 "own, or the database that it had before (--data-dir, --database-url), or delete the "
                                 "repository in the datastore if nobody needs it any more",
                                 repository, whose),
          .code = "repository_of_another"};
}

std::string mark_of(std::string_view database) {
  return fmt::format("{}{}: only that service writes and deletes here", registrar_detail::mark_begins, database);
}

std::string marked_database(std::string_view description) {
  const auto at = description.find(registrar_detail::mark_begins);
  if (at == std::string_view::npos) return {};
  const std::string_view id =
      description.substr(at + registrar_detail::mark_begins.size(), registrar_detail::id_digits);
  const bool whole =
      id.size() == registrar_detail::id_digits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return whole ? std::string(id) : std::string();
}

Registrar::Maybe<Registrar::Belongs> Registrar::whose(const std::string& repository) {
  const auto id = TRY(database_id_.get());
  const auto description = TRY(datastore_.description(repository));
  if (!description) return Belongs{};
  std::string mark = marked_database(*description);
  if (mark == id) return Belongs{.whose = Whose::ours, .marked = true, .other = {}};
  if (!mark.empty()) return Belongs{.whose = Whose::others, .marked = true, .other = std::move(mark)};
  const bool known = TRY(is_known(database_, repository));
  return Belongs{.whose = known ? Whose::ours : Whose::others, .marked = false, .other = {}};
}

Registrar::Maybe<void> Registrar::claim(const std::string& repository) {
  for (int attempt = 0; attempt < registrar_detail::most_claims; ++attempt) {
    const auto belongs = TRY(whose(repository));
    if (belongs.whose == Whose::others)
      return std::unexpected(Problem{Problem::Kind::datastore, not_ours(repository, belongs.other)});
    if (belongs.whose == Whose::ours && belongs.marked) return {};
    if (belongs.whose == Whose::nobodys) {
      TRY(note_made(database_, repository));
      if (!TRY(datastore_.create_repository(repository))) {
        // Somebody else made it in this moment. Our own replicas cannot have: they wait for the lease.
        TRY(forget_made(database_, repository));
        continue;
      }
    }
    const auto id = TRY(database_id_.get());
    TRY(datastore_.describe(repository, mark_of(id)));
    return {};
  }
  return std::unexpected(
      Problem{Problem::Kind::datastore,
              {.status = 503,
               .message = fmt::format("the datastore's repository {} comes and goes; try again later", repository),
               .headers = {{"Retry-After", "10"}}}});
}

}  // namespace stackgate::entitystore
