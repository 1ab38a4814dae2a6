
#include <fmt/format.h>

#include "services/datastore/git/child.hpp"
#include "services/datastore/git/plain_clone.hpp"
#include "services/datastore/git/push.hpp"
#include "services/datastore/guard/guard.hpp"
#include "services/datastore/smart_http/exchange.hpp"
#include "services/datastore/smart_http/handlers.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/media_type.hpp"

namespace stackgate::datastore::smart_http {
namespace {

constexpr std::size_t most_ls_refs = 1U << 20U;    // a longer request is git's
constexpr std::size_t most_clone = 4U << 20U;      // of wants: eighty thousand
constexpr std::size_t most_commands = 64U << 20U;  // of a push: half a million references

std::string result_type(git::Service service) {
  return fmt::format("application/x-{}-result", git::to_string(service));
}

web::Failure busy() {
  return {.status = 503,
          .message = "too many clones and pushes at once: try again in a minute",
          .headers = {{"Retry-After", "30"}}};
}

/// A push has landed: the record's time, and the default branch if that was not what the first push went to.
void after_push(Shared& shared, const Repository& repository, const std::string& path,
                const std::vector<git::PushCommand>& commands) {
  const git::Pushed pushed = git::settle_push(path, commands);
  if (pushed.moved == 0) return;
  if (const auto touched = shared.backend.repositories.touch(repository.id); !touched)
    log::warning("a push was not recorded",
                 {{"repository", repository.full_name()}, {"reason", touched.error().message}});
  if (pushed.new_default.empty()) return;
  RepositoryChange change;
  change.default_branch = pushed.new_default;
  if (const auto changed = shared.backend.repositories.update(repository.id, change); !changed)
    log::warning("the default branch was not recorded",
                 {{"repository", repository.full_name()}, {"reason", changed.error().message}});
}

web::Answer send_pack(const Shared& shared, web::Call& call, const std::string& path, const git::PlainClone& clone) {
  const auto child =
      TRY(git::start_git({.arguments = git::pack_arguments(path, clone), .silence = shared.options.silence}));
  git::PackSection section;
  return exchange(call, *child, git::pack_revisions(clone), true,
                  {.content_type = result_type(git::Service::upload_pack),
                   .frame = [&section](std::string& answer, std::string_view piece) { section.add(answer, piece); },
                   .close = &git::PackSection::end});
}

}  // namespace

std::optional<web::Failure> check_type(const web::Call& call, git::Service service) {
  const std::string wanted = fmt::format("application/x-{}-request", git::to_string(service));
  if (web::media_type(call.request().header("Content-Type")) == wanted) return std::nullopt;
  return web::Failure{.status = 415, .message = fmt::format("the Content-Type must be {}", wanted)};
}

std::expected<std::size_t, web::Failure> read_more(web::Call& call, std::string& into) {
  constexpr std::size_t piece = 64 * 1024;
  const std::size_t had = into.size();
  into.resize(had + piece);
  const auto got = call.stream().read({into.data() + had, piece});
  into.resize(had + (got ? *got : 0));
  if (got) return *got;
  return std::unexpected(web::to_failure(got.error()));
}

web::Answer upload_pack(Shared& shared, web::Call& call) {
  const auto allowed =
      TRY(authorize(shared.backend, call, call.parameter("owner"), call.parameter("repo"), Action::read));
  if (auto wrong = check_type(call, git::Service::upload_pack)) return std::move(*wrong);
  const std::string path = shared.backend.repositories.path(allowed.repository);
  const int version = git::protocol_version(call.request().header("Git-Protocol"));

  const auto body = TRY(call.body());
  if (git::LsRefs request;
      version == 2 && body.size() <= most_ls_refs && git::parse_ls_refs(body, request) == git::RequestKind::ls_refs) {
    auto answer = TRY(shared.references.ls_refs(path, request));
    if (answer) {
      http::Response response = protocol_response(result_type(git::Service::upload_pack));
      response.body = std::move(*answer);
      return response;
    }
  }

  const auto slot = shared.processes.acquire(shared.options.wait);
  if (!slot) return busy();
  const auto clone = version == 2 && body.size() <= most_clone ? git::parse_plain_clone(body) : std::nullopt;
  if (clone) {
    const auto shown = TRY(shared.references.are_tips(path, clone->wants));
    if (shown) return send_pack(shared, call, path, *clone);
  }
  git::ChildSpec spec{.arguments = {"upload-pack", "--strict", "--stateless-rpc", path},
                      .silence = shared.options.silence};
  if (version > 0) spec.environment = {fmt::format("GIT_PROTOCOL=version={}", version)};
  const auto child = TRY(git::start_git(spec));
  return exchange(call, *child, body, true, {.content_type = result_type(git::Service::upload_pack)});
}

web::Answer receive_pack(Shared& shared, web::Call& call) {
  const auto allowed =
      TRY(authorize(shared.backend, call, call.parameter("owner"), call.parameter("repo"), Action::write));
  if (auto wrong = check_type(call, git::Service::receive_pack)) return std::move(*wrong);
  const std::string path = shared.backend.repositories.path(allowed.repository);

  std::string head;
  std::vector<git::PushCommand> commands;
  for (;;) {
    const auto got = TRY(read_more(call, head));
    commands.clear();
    const git::PushHead state = git::parse_push(head, commands);
    if (state == git::PushHead::whole) break;
    if (state == git::PushHead::bad || got == 0)
      return web::Failure{.status = 400,
                          .message = "the body is not a push: it must begin with the references to move"};
    if (head.size() > most_commands)
      return web::Failure{.status = 413, .message = "the push moves too many references at once"};
  }
  // "0000" and nothing behind it: the client tries whether its credentials are good before it sends a large pack.
  if (commands.empty() && head == "0000") return protocol_response(result_type(git::Service::receive_pack));

  const auto slot = shared.processes.acquire(shared.options.wait);
  if (!slot) return busy();
  const auto lock = TRY(git::WriterLock::share(path));
  git::clear_way(path, commands, lock);
  git::ChildSpec spec{
      .arguments = {"receive-pack", "--stateless-rpc", path}, .keep_fd = lock.fd(), .silence = shared.options.silence};
  // Ten thousand references synced one by one take minutes; settle_push syncs them at once before the client gets
  // "ok". ("committed" would hold the references again.)
  if (commands.size() > git::many_references)
    spec.settings.emplace_back("core.fsync=objects,derived-metadata,-reference");
  if (shared.options.push_bytes != 0)
    spec.settings.push_back(fmt::format("receive.maxInputSize={}", shared.options.push_bytes));
  const auto child = TRY(git::start_git(spec));
  return exchange(call, *child, head, false,
                  {.content_type = result_type(git::Service::receive_pack), .outlives_client = true, .before_end = [&] {
                     after_push(shared, allowed.repository, path, commands);
                   }});
}

}  // namespace stackgate::datastore::smart_http
