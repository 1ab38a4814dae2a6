#include <algorithm>
#include <functional>

#include "services/datastore/git/names.hpp"
#include "services/datastore/lfs/handlers.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/locks.hpp"
#include "services/kit/base/number.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore::lfs {

namespace {

constexpr std::size_t locks_on_a_page = 100;

std::expected<Authorization, web::Failure> authorize_locks(const Backend& backend, web::Call& call, Action action) {
  return authorize(backend, call, call.parameter("owner"), call.parameter("repo"), action);
}

std::string ref_member(const json::Value& body) {
  const json::Value* ref = body.find("ref");
  return std::string(ref == nullptr ? std::string_view() : json::text_at(*ref, "name"));
}

std::expected<std::size_t, web::Failure> lock_limit(std::optional<std::int64_t> asked) {
  if (!asked || *asked == 0) return locks_on_a_page;
  if (*asked < 0) return std::unexpected(web::Failure{.status = 422, .message = "\"limit\" must be 1 or more"});
  return std::min(static_cast<std::size_t>(*asked), locks_on_a_page);
}

/// Those of `page` that `fits` picks.
void write_locks(json::Writer& w, std::string_view name, const LockPage& page, const auto& fits) {
  w.array(name, [&] {
    for (const Lock& lock : page.locks)
      if (fits(lock)) w.raw(to_json(lock));
  });
}

std::string lock_body(const Lock& lock, std::string_view message = {}) {
  return json::object_text([&](json::Writer& w) {
    w.key("lock");
    w.raw(to_json(lock));
    if (!message.empty()) w.member("message", message);
  });
}

}  // namespace

web::Answer create_lock(const Backend& backend, web::Call& call) {
  const auto body = TRY(read_body(call));
  auto allowed = TRY(authorize_locks(backend, call, Action::write));
  const std::string path(json::text_at(*body, "path"));
  if (path.empty()) return web::Failure{.status = 422, .message = "\"path\" must name the file to lock"};
  if (const auto fault = git::fault_of_path(path))
    return web::Failure{.status = 422, .message = "\"path\" cannot be locked: " + *fault};
  const auto taken = TRY(take_lock(backend.database, {.repository = allowed.repository.id,
                                                      .owner = allowed.identity.account,
                                                      .path = path,
                                                      .ref = ref_member(*body),
                                                      .owner_name = allowed.identity.name}));
  if (taken.fresh) return answer(201, lock_body(taken.lock));
  return answer(409, lock_body(taken.lock, "already created lock"));
}

web::Answer get_locks(const Backend& backend, web::Call& call) {
  TRY(check_accept(call));
  auto allowed = TRY(authorize_locks(backend, call, Action::read));
  const web::Query& query = call.query();
  std::optional<std::int64_t> asked;
  if (const auto text = query.get("limit")) {
    asked = to_number<std::int64_t>(*text);
    if (!asked) return web::Failure{.status = 422, .message = "\"limit\" must be a whole number"};
  }
  const auto limit = TRY(lock_limit(asked));
  const auto page = TRY(list_locks(backend.database, allowed.repository.id,
                                   {.path = std::string(query.get("path").value_or("")),
                                    .id = std::string(query.get("id").value_or("")),
                                    .ref = std::string(query.get("refspec").value_or("")),
                                    .cursor = std::string(query.get("cursor").value_or("")),
                                    .limit = limit}));
  return answer(200, json::object_text([&](json::Writer& w) {
                  write_locks(w, "locks", page, [](const Lock&) { return true; });
                  if (!page.next.empty()) w.member("next_cursor", page.next);
                }));
}

web::Answer verify_locks(const Backend& backend, web::Call& call) {
  const auto body = TRY(read_body(call));
  auto allowed = TRY(authorize_locks(backend, call, Action::write));
  const json::Value* asked = body->find("limit");
  const auto limit = TRY(lock_limit(asked == nullptr ? std::nullopt : std::optional(asked->integer())));
  // Whatever the reference: a lock is for the file on every branch.
  const auto page = TRY(list_locks(backend.database, allowed.repository.id,
                                   {.cursor = std::string(json::text_at(*body, "cursor")), .limit = limit}));
  const auto is_ours = [&](const Lock& lock) { return lock.owner == allowed.identity.account; };
  return answer(200, json::object_text([&](json::Writer& w) {
                  write_locks(w, "ours", page, is_ours);
                  write_locks(w, "theirs", page, std::not_fn(is_ours));
                  if (!page.next.empty()) w.member("next_cursor", page.next);
                }));
}

web::Answer remove_lock(const Backend& backend, web::Call& call) {
  const auto body = TRY(read_body(call));
  auto allowed = TRY(authorize_locks(backend, call, Action::write));
  const std::string_view id = call.parameter("id");
  const auto lock = TRY(find_lock(backend.database, allowed.repository.id, id));
  if (!lock) return web::Failure{.status = 404, .message = "there is no lock " + std::string(id)};
  if (lock->owner != allowed.identity.account && !json::flag_at(*body, "force"))
    return web::Failure{.status = 403,
                        .message = "the lock belongs to " + lock->owner_name + "; remove it with \"force\" if need be"};
  (void)TRY(drop_lock(backend.database, allowed.repository.id, id));
  return answer(200, lock_body(*lock));
}

}  // namespace stackgate::datastore::lfs
