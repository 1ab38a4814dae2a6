#include <algorithm>

#include "services/datastore/lfs/handlers.hpp"
#include "services/datastore/lfs/http.hpp"
#include "services/datastore/lfs/parts.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::datastore::lfs {

namespace {

/// Everything that one batch needs to write hrefs.
struct Batch {
  const Backend& backend;
  const Repository& repository;
  std::int64_t user;
  Operation operation;
  Proof proof;
  std::string base;  // scheme, host, port
  std::string path;  // of the repository's LFS API
  std::chrono::system_clock::time_point now = std::chrono::system_clock::now();

  Grant grant(const Wanted& file) const {
    return {.repository = repository.id, .user = user, .operation = operation, .oid = file.oid, .size = file.size};
  }
  std::int64_t life() const { return (proof == Proof::url ? url_life : grant_life).count(); }

  Link ours(std::string_view method, const std::string& to, const Wanted& file) const {
    if (proof == Proof::url)
      return {.href = base + to + "?" + sign_url(backend.jwt_key, method, to, grant(file), now), .expires_in = life()};
    return {.href = base + to,
            .header = {{"Authorization", "Bearer " + sign_grant(backend.jwt_key, grant(file), now)}},
            .expires_in = life()};
  }
  /// Always with a token in the header: Hugging Face clients send their own instead, which does as well.
  Link verify(const Wanted& file) const {
    return {.href = base + path + "/verify",
            .header = {{"Authorization", "Bearer " + sign_grant(backend.jwt_key, grant(file), now)}},
            .expires_in = grant_life.count()};
  }
};

std::optional<Link> direct_put(const Batch& batch, const Wanted& file) {
  objects::PresignOptions options{.valid = std::chrono::seconds(batch.life()), .size = file.size};
  Link out{.expires_in = batch.life()};
  if (batch.proof == Proof::header) {
    options.sha256 = file.oid;
    out.header.emplace_back("x-amz-content-sha256", file.oid);
  }
  auto url = batch.backend.store.presigned_put(incoming_key(batch.repository.id, file.oid), options);
  if (!url) return {};
  out.href = std::move(*url);
  return out;
}

Actions actions_for(const Batch& batch, Decision& decision) {
  Actions out;
  const Wanted& file = decision.file;
  const std::string object = batch.path + "/objects/" + file.oid;
  switch (decision.step) {
    case Step::none:
    case Step::refuse:
      break;
    case Step::upload:
      out.upload = batch.ours("PUT", object, file);
      break;
    case Step::upload_direct:
      out.upload = direct_put(batch, file);
      if (out.upload) {
        out.verify = batch.verify(file);
      } else {
        out.upload = batch.ours("PUT", object, file);
      }
      break;
    case Step::upload_parts: {
      auto parts = begin_parts(batch.backend, batch.repository, batch.grant(file), batch.base, batch.path, batch.now);
      if (parts) {
        out.upload = std::move(*parts);
        out.verify = batch.verify(file);
      } else {
        decision = {.file = file,
                    .step = Step::refuse,
                    .status = web::status_of(parts.error()),
                    .message = parts.error().message};
      }
      break;
    }
    case Step::download_direct:
      if (auto url = batch.backend.large_files.presign(decision.stat, {.valid = std::chrono::seconds(batch.life())})) {
        out.download = Link{.href = std::move(*url), .expires_in = batch.life()};
        break;
      }
      [[fallthrough]];
    case Step::download:
      out.download = batch.ours("GET", object, file);
      break;
  }
  return out;
}

/// A file that this server has for another repository, which the caller may read: linked here instead of sent again.
/// Whoever may not learns nothing: the file then counts as unknown.
void link_readable(const Backend& backend, const Identity& identity, const Repository& repository,
                   const BatchRequest& request, std::vector<Known>& known) {
  for (Known& file : known) {
    if (file.linked) continue;
    const auto wanted = std::ranges::find(request.objects, file.oid, &Wanted::oid);
    if (wanted == request.objects.end() || wanted->size != file.stat.size) continue;
    const auto holders = backend.large_files.holders(file.oid, repository.id);
    if (!holders) continue;
    const bool readable = std::ranges::any_of(*holders, [&](std::int64_t id) {
      const auto other = backend.repositories.find(id);
      return other && judge(identity, &*other, Action::read, backend.anonymous_read) == Verdict::allowed;
    });
    if (readable && backend.large_files.link(repository.id, file.oid)) file.linked = true;
  }
}

/// By a token for the repository, or by the account's own credentials.
std::expected<Authorization, web::Failure> authorize_batch(const Backend& backend, web::Call& call,
                                                           std::string_view owner, std::string_view name,
                                                           Operation operation) {
  const auto token = bearer_jwt(call.request().header("authorization"));
  if (!token)
    return authorize(backend, call, owner, name, operation == Operation::upload ? Action::write : Action::read);
  const auto refuse = [&](std::string_view problem) {
    log::info("a token for large files was refused", {{"problem", problem}, {"peer", call.request().peer}});
    return std::unexpected(unauthorized("invalid or expired token"));
  };
  const auto grant = read_repository_grant(backend.jwt_key, *token, std::chrono::system_clock::now());
  if (!grant) return refuse(grant.error());
  auto repository = backend.repositories.find(owner, name);
  if (!repository && repository.error().fault != ServiceFault::missing)
    return std::unexpected(to_failure(repository.error()));
  if (!repository || !grant->allows(repository->id, operation)) return refuse("it is for something else");
  const auto account = backend.accounts.find(grant->user);
  if (!account && account.error().fault != ServiceFault::missing) return std::unexpected(to_failure(account.error()));
  if (!account || !account->active) return refuse("its account is gone or switched off");
  call.set_actor(account->name);
  return Authorization{{.account = account->id, .name = account->name, .admin = account->admin},
                       std::move(*repository)};
}

}  // namespace

web::Answer answer_batch(const Backend& backend, web::Call& call, std::string_view owner, std::string_view name,
                         Proof proof) {
  const auto body = TRY(read_body(call));
  const auto request = TRY(parse_batch(*body));
  const bool upload = request.operation == Operation::upload;
  auto allowed = authorize_batch(backend, call, owner, name, request.operation);
  if (!allowed) return challenged(std::move(allowed.error()));
  LargeFiles& files = backend.large_files;
  const std::int64_t id = allowed->repository.id;

  auto known = TRY(files.look_up(id, request.oids()));
  Facts facts{.limits = files.limits()};
  facts.direct = backend.serve_direct && can_presign(backend.store);
  facts.parts_from = backend.lfs_parts_from != 0 ? backend.lfs_parts_from : facts.direct ? 256ULL << 20U : 5ULL << 30U;
  if (upload) {
    link_readable(backend, allowed->identity, allowed->repository, request, known);
    TRY(files.touch(id, known));
    if (facts.limits.repository != 0 || facts.limits.total != 0) {
      facts.usage = TRY(files.usage(id));
    }
  }
  facts.known = known;
  Plan plan = decide(request, facts);
  const Batch batch{backend, allowed->repository, allowed->identity.account,    request.operation,
                    proof,   call.base_url(),     lfs_path(allowed->repository)};
  std::vector<Actions> actions;
  actions.reserve(plan.objects.size());
  for (Decision& decision : plan.objects) actions.push_back(actions_for(batch, decision));
  return answer(200, render(request, plan, actions));
}

}  // namespace stackgate::datastore::lfs
