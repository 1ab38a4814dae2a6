#include <algorithm>
#include <charconv>

#include "services/datastore/git/names.hpp"
#include "services/datastore/lfs/handlers.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/locks.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::datastore::lfs {

namespace {

constexpr std::size_t locks_on_a_page = 100;

std::expected<Authorization, web::Failure> authorize_locks(const Backend& backend, web::Call& call, Action action) {
  auto allowed = authorize(backend, call, call.parameter("owner"), call.parameter("repo"), action);
  if (!allowed) return std::unexpected(with_challenge(std::move(allowed.error())));
  return allowed;
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

void write_locks(json::Writer& w, std::string_view name, const std::vector<const Lock*>& locks) {
  w.key(name);
  w.array([&] {
    for (const Lock* lock : locks) w.raw(to_json(*lock));
  });
}

std::string lock_body(const Lock& lock, std::string_view message = {}) {
  std::string out;
  json::Writer w(out);
  w.object([&] {
    w.key("lock");
    w.raw(to_json(lock));
    if (!message.empty()) w.member("message", message);
  });
  return out;
}

}  // namespace

web::Answer create_lock(const Backend& backend, web::Call& call) {
  const auto body = TRY(read_body(call));
  auto allowed = TRY(authorize_locks(backend, call, Action::write));
  const std::string path(json::text_at(*body, "path"));
  if (path.empty()) return web::Failure{.status = 422, .message = "\"path\" must name the file to lock"};
  if (const auto fault = git::fault_of_path(path))
    return web::Failure{.status = 422, .message = "\"path\" cannot be locked: " + *fault};
  const auto taken = take_lock(backend.database, {.repository = allowed.repository.id,
                                                  .owner = allowed.identity.account,
                                                  .path = path,
                                                  .ref = ref_member(*body),
                                                  .owner_name = allowed.identity.name});
  if (!taken) return to_failure(taken.error());
  if (taken->fresh) return answer(201, lock_body(taken->lock));
  return answer(409, lock_body(taken->lock, "already created lock"));
}

web::Answer get_locks(const Backend& backend, web::Call& call) {
  if (auto ok = check_accept(call); !ok) return ok.error();
  auto allowed = TRY(authorize_locks(backend, call, Action::read));
  const web::Query& query = call.query();
  std::optional<std::int64_t> asked;
  if (const auto text = query.get("limit")) {
    std::int64_t number = 0;
    const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (problem != std::errc() || end != text->data() + text->size())
      return web::Failure{.status = 422, .message = "\"limit\" must be a whole number"};
    asked = number;
  }
  const auto limit = TRY(lock_limit(asked));
  const auto page = list_locks(backend.database, allowed.repository.id,
                               {.path = std::string(query.get("path").value_or("")),
                                .id = std::string(query.get("id").value_or("")),
                                .ref = std::string(query.get("refspec").value_or("")),
                                .cursor = std::string(query.get("cursor").value_or("")),
                                .limit = limit});
  if (!page) return to_failure(page.error());
  std::string out;
  json::Writer w(out);
  w.object([&] {
    std::vector<const Lock*> all;
    for (const Lock& lock : page->locks) all.push_back(&lock);
    write_locks(w, "locks", all);
    if (!page->next.empty()) w.member("next_cursor", page->next);
  });
  return answer(200, std::move(out));
}

web::Answer verify_locks(const Backend& backend, web::Call& call) {
  const auto body = TRY(read_body(call));
  auto allowed = TRY(authorize_locks(backend, call, Action::write));
  const json::Value* asked = body->find("limit");
  const auto limit = TRY(lock_limit(asked == nullptr ? std::nullopt : std::optional(asked->integer())));
  // Whatever the reference: a lock is for the file on every branch.
  const auto page = list_locks(backend.database, allowed.repository.id,
                               {.cursor = std::string(json::text_at(*body, "cursor")), .limit = limit});
  if (!page) return to_failure(page.error());
  std::vector<const Lock*> ours, theirs;
  for (const Lock& lock : page->locks) (lock.owner == allowed.identity.account ? ours : theirs).push_back(&lock);
  std::string out;
  json::Writer w(out);
  w.object([&] {
    write_locks(w, "ours", ours);
    write_locks(w, "theirs", theirs);
    if (!page->next.empty()) w.member("next_cursor", page->next);
  });
  return answer(200, std::move(out));
}

web::Answer remove_lock(const Backend& backend, web::Call& call) {
  const auto body = TRY(read_body(call));
  auto allowed = TRY(authorize_locks(backend, call, Action::write));
  const std::string_view id = call.parameter("id");
  const auto lock = find_lock(backend.database, allowed.repository.id, id);
  if (!lock) return to_failure(lock.error());
  if (!*lock) return web::Failure{.status = 404, .message = "there is no lock " + std::string(id)};
  if ((*lock)->owner != allowed.identity.account && !json::flag_at(*body, "force"))
    return web::Failure{
        .status = 403,
        .message = "the lock belongs to " + (*lock)->owner_name + "; remove it with \"force\" if need be"};
  const auto gone = drop_lock(backend.database, allowed.repository.id, id);
  if (!gone) return to_failure(gone.error());
  return answer(200, lock_body(**lock));
}

}  // namespace stackgate::datastore::lfs
