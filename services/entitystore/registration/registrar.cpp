#include "services/entitystore/registration/registrar.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/adapters/render.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/run/periodic.hpp"
#include "services/kit/sql/service_error.hpp"
#include "services/kit/web/answer.hpp"

namespace stackgate::entitystore {
namespace registrar_detail {

constexpr int most_commits = 8;  // tries, while others commit in between
constexpr std::chrono::milliseconds lease_pause{50}, lease_patience{150'000};
// Longer than the calls made inside it may take together before they fail.
constexpr std::int64_t alone_seconds = 120;

/// 409 with enough for a client to see whether it is the same upload, come twice.
web::Failure exists(const Record& ours, const Record& other) {
  const bool same = ours.archive_sha256 == other.archive_sha256;
  return {.status = 409,
          .message = fmt::format(
              "{} {} exists already as {} and is {}; {}", other.name, other.version, other.id, to_string(other.status),
              same ? "its archive is the same as this one" : "upload under another version, or delete that one first"),
          .code = same ? "same_content" : "exists",
          .headers = {{"Location", "/v1/adapters/" + other.id},
                      {"X-Adapter-Id", other.id},
                      {"X-Adapter-Sha256", other.archive_sha256}}};
}

/// Says what the repository is to whoever looks into it.
wire::Commit commit_of(const Record& record, const Inspected& inspected) {
  wire::Commit out{.summary = commit_title(record), .description = record.description, .parent = {}};
  for (const Inspected::File& file : inspected.files) {
    wire::CommitFile each{.path = file.stored.path, .content = file.content};
    if (file.stored.large) each.large = wire::Object{file.stored.sha256, file.stored.size};
    out.files.push_back(std::move(each));
  }
  out.files.push_back({.path = std::string(record_name), .content = to_detail(record, {}) + "\n"});
  out.files.push_back({.path = std::string(archive_name),
                       .content = {},
                       .large = wire::Object{record.archive_sha256, record.archive_bytes}});
  return out;
}

}  // namespace registrar_detail

web::Failure database_failure(const sql::SqlError& error) { return web::to_failure(sql::to_service_error(error)); }

std::string commit_title(const Record& record) {
  return fmt::format("{} {} ({})", record.name, record.version, record.id);
}

Registrar::Registrar(sql::Database& database, Catalogue& catalogue, Datastore& datastore, const Spool& spool,
                     RegistrarOptions options)
    : database_(database),
      catalogue_(catalogue),
      datastore_(datastore),
      spool_(spool),
      options_(std::move(options)),
      lease_{spool.instance(), options_.lease_seconds} {}

void Registrar::hold(const std::string& id) {
  const std::lock_guard lock(mutex_);
  held_.insert(id);
}
void Registrar::release(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (const auto found = held_.find(id); found != held_.end()) held_.erase(found);
}
bool Registrar::is_held(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return held_.contains(id);
}

std::expected<Record, web::Failure> Registrar::enter(Record record, const Intake::Outcome& upload,
                                                     const std::optional<DatastoreError>& silence) {
  struct Holding {
    Registrar& registrar;
    const std::string id;
    ~Holding() { registrar.release(id); }
  };
  hold(record.id);
  const Holding holding{*this, record.id};
  point("received");
  record.repository = repository_of(options_.owner, record.name_space, record.name);
  record.archive_sha256 = upload.sha256;
  record.archive_bytes = upload.bytes;
  std::vector<StoredFile> files;
  files.reserve(upload.inspected.files.size() + 1);
  for (const Inspected::File& file : upload.inspected.files) files.push_back(file.stored);
  files.push_back({std::string(archive_name), upload.bytes, upload.sha256, true});
  const auto inserted = insert_adapter(database_, record, files, lease_);
  if (!inserted) {
    // Not removed: a commit whose answer was lost may have made the row. The sweep finds out.
    return std::unexpected(database_failure(inserted.error()));
  }
  if (inserted->outcome == Inserted::Outcome::exists) {
    spool_.remove(record.id);
    return std::unexpected(registrar_detail::exists(record, inserted->other));
  }
  (void)catalogue_.refresh();
  point("inserted");
  auto done = silence ? Maybe<void>(std::unexpected(*silence)) : upload_files(record, upload.inspected, upload.sha256);
  if (!done) return std::unexpected(give_up(record, std::move(done.error())));
  spool_.remove(record.id);
  return record;
}

Registrar::Maybe<void> Registrar::note(Record& record, std::string_view step) {
  if (TRY(note_step(database_, record.id, step, record.commit, lease_))) return {};
  return std::unexpected(
      Problem{Problem::Kind::withdrawn,
              {.status = 409,
               .message = "the adapter was withdrawn, or taken over by another replica, while it was uploaded"}});
}

Registrar::Maybe<void> Registrar::with_lease(std::string_view repository, const std::function<Maybe<void>()>& work) {
  // The lease is this piece of work's own: two uploads of one replica exclude each other too.
  const Lease own{fmt::format("{}#{}", lease_.owner, ++pieces_), registrar_detail::alone_seconds};
  const auto until = std::chrono::steady_clock::now() + registrar_detail::lease_patience;
  const auto note_unconfirmed = [&] {
    const std::lock_guard lock(mutex_);
    unconfirmed_.push_back({std::string(repository), own,
                            std::chrono::steady_clock::now() + std::chrono::seconds(registrar_detail::alone_seconds)});
  };
  while (true) {
    const auto leased = lease_repository(database_, repository, own);
    if (!leased) {
      note_unconfirmed();
      return std::unexpected(leased.error());
    }
    if (*leased) break;
    release_unconfirmed();
    if (std::chrono::steady_clock::now() > until)
      return std::unexpected(Problem{Problem::Kind::datastore,
                                     {.status = 503,
                                      .message = "another upload of this adapter takes too long; try again later",
                                      .headers = {{"Retry-After", "30"}}}});
    std::this_thread::sleep_for(registrar_detail::lease_pause);
  }
  auto done = work();
  if (!release_repository(database_, repository, own)) note_unconfirmed();
  return done;
}

void Registrar::release_unconfirmed() {
  const auto now = std::chrono::steady_clock::now();
  std::vector<UnconfirmedLease> unconfirmed;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(unconfirmed_, [&](const UnconfirmedLease& each) { return each.until < now; });
    unconfirmed = unconfirmed_;
  }
  // Kept until then even if this works: a database that hung may carry out the statement after it.
  for (const UnconfirmedLease& each : unconfirmed)
    if (!release_repository(database_, each.repository, each.lease)) return;
}

Registrar::Problem::Problem(const sql::SqlError& error) : kind(Kind::database), failure(database_failure(error)) {}

Registrar::Problem::Problem(const DatastoreError& error)
    : kind(Kind::datastore),
      failure{.status = error.away ? 503 : 502, .message = error.message},
      silent(error.silent()) {
  if (error.away) failure.headers.emplace_back("Retry-After", "10");
}

Registrar::Maybe<void> Registrar::upload_files(Record& record, const Inspected& inspected,
                                               const std::string& archive_sha256) {
  TRY(with_lease(record.repository, [&]() -> Maybe<void> {
    // Inside the lease: whoever removes an empty repository looks for rows inside it too.
    TRY(note(record, "accepted"));
    return claim(record.repository);
  }));
  point("repository");
  std::vector<LargeFile> large = {{{archive_sha256, record.archive_bytes}, spool_.archive(record.id)}};
  for (const Inspected::File& file : inspected.files)
    if (file.stored.large) large.push_back({{file.stored.sha256, file.stored.size}, file.unpacked});
  const auto sent = [&] {
    // A file of gigabytes takes longer than a lease lasts.
    const auto period = std::chrono::milliseconds(std::max<std::int64_t>(lease_.seconds * 1000 / 3, 100));
    const run::Periodic heartbeat(period, [&](const std::stop_token&) {
      (void)renew_lease(database_, record.id, lease_);  // a database that is away is met again at the next step
      return period;
    });
    return datastore_.send(record.repository, large, [this] { point("archive"); });
  }();
  TRY(sent);
  TRY(note(record, "stored"));
  point("stored");
  TRY(with_lease(record.repository, [&]() -> Maybe<void> {
    TRY(note(record, "stored"));
    return commit(record, inspected);
  }));
  return finish(record);
}

Registrar::Maybe<void> Registrar::commit(Record& record, const Inspected& inspected) {
  const wire::Commit wanted = registrar_detail::commit_of(record, inspected);
  for (int attempt = 0; record.commit.empty(); ++attempt) {
    const auto refs = TRY(datastore_.refs(record.repository));
    if (!refs) return std::unexpected(DatastoreError{false, 404, "the datastore has lost the repository"});
    if (!refs->main.empty()) {
      if (const auto there = TRY(datastore_.find_commit(record.repository, wanted.summary))) {
        record.commit = *there;
        break;
      }
    }
    wire::Commit next = wanted;
    next.parent = refs->main;
    auto id = datastore_.commit(record.repository, std::move(next));
    if (id) {
      record.commit = *id;
    } else if (attempt + 1 >= registrar_detail::most_commits ||
               !(id.error().status == 409 || id.error().status == 412 || (id.error().away && attempt == 0))) {
      return std::unexpected(id.error());
    }
  }
  point("committed");
  TRY(note(record, "committed"));
  point("noted");
  TRY(datastore_.set_tag(record.repository, tag_of(record.version), record.commit));
  point("tagged");
  return {};
}

Registrar::Maybe<void> Registrar::finish(Record& record) {
  const Status next = options_.approval ? Status::pending : Status::ready;
  if (!TRY(move_status(database_, record.id, Status::uploading, next, "")))
    return std::unexpected(Problem{Problem::Kind::withdrawn,
                                   {.status = 409, .message = "the adapter was withdrawn while it was uploaded"}});
  record.status = next;
  point("ready");
  (void)catalogue_.refresh();
  if (const auto now = catalogue_.snapshot()->find(record.id)) record = now->record;
  return {};
}

web::Failure Registrar::give_up(const Record& record, Problem problem) {
  log::warning("an adapter was not registered",
               {{"adapter", record.id}, {"name", record.name}, {"reason", problem.failure.message}});
  if (problem.kind == Problem::Kind::database) {
    // The row stays as it is, and so does the upload: the sweep goes on when the database is back.
    problem.failure.message +=
        fmt::format("; the upload is kept, and GET /v1/adapters/{} tells what becomes of it", record.id);
    return std::move(problem.failure);
  }
  if (problem.kind == Problem::Kind::datastore) {
    const auto moved = move_status(database_, record.id, Status::uploading, Status::failed, problem.failure.message);
    if (!moved) return std::move(problem.failure);
  }
  spool_.remove(record.id);
  // Else the sweep does it.
  if (!problem.silent) {
    if (const auto left = read_work(database_, record.id); left && *left) (void)purge(**left);
  }
  (void)catalogue_.refresh();
  return std::move(problem.failure);
}

}  // namespace stackgate::entitystore
