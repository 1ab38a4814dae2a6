// The part of the registrar that finishes or undoes what was left.
#include <fmt/format.h>

#include "services/entitystore/adapters/names.hpp"
#include "services/entitystore/registration/registrar.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"

namespace stackgate::entitystore {

void Registrar::sweep(const std::stop_token& stop) {
  if (!forgotten_) {
    // This process has the spool to itself, so whoever held leases in its name is gone.
    if (auto done = forget_leases(database_, lease_.owner + "#"); !done)
      return log::warning("the sweep waits for the database", {{"reason", done.error().message}});
    forgotten_ = true;
  }
  release_unconfirmed();
  const auto uploading = read_uploading(database_);
  if (!uploading) return log::warning("the sweep waits for the database", {{"reason", uploading.error().message}});
  for (const Work& work : *uploading) {
    if (stop.stop_requested()) return;
    if (!is_held(work.record.id)) resume(work);
  }
  const auto remains = read_unpurged(database_);
  if (!remains) return log::warning("the sweep waits for the database", {{"reason", remains.error().message}});
  for (const Work& work : *remains) {
    if (stop.stop_requested()) return;
    if (is_held(work.record.id)) continue;
    if (auto done = purge(work); !done)
      log::warning("remains of an adapter could not be removed yet",
                   {{"adapter", work.record.id}, {"reason", done.error().failure.message}});
  }
  empty_spool();
}

void Registrar::resume(const Work& work) {
  const auto taken = take_over(database_, work, lease_);
  if (!taken || !*taken) return;  // its replica is alive
  Record record = work.record;
  hold(record.id);
  const auto upload = inspect_again(spool_, record.id, options_.inspect);
  auto done = upload && upload->sha256 == record.archive_sha256
                  ? upload_files(record, upload->inspected, upload->sha256)
                  : resume_without_upload(record);
  if (done) {
    spool_.remove(record.id);
    log::info("an interrupted registration was finished", {{"adapter", record.id}, {"name", record.name}});
  } else if (done.error().failure.status == 503) {
    // Nobody waits for the answer: it may take until the datastore or the database are back.
    log::warning("an interrupted registration waits",
                 {{"adapter", record.id}, {"reason", done.error().failure.message}});
  } else {
    (void)give_up(record, std::move(done.error()));
  }
  release(record.id);
}

Registrar::Maybe<void> Registrar::resume_without_upload(Record& record) {
  TRY(with_lease(record.repository, [&]() -> Maybe<void> {
    const auto belongs = TRY(whose(record.repository));
    if (belongs.whose == Whose::others)
      return std::unexpected(Problem{Problem::Kind::datastore, not_ours(record.repository, belongs.other)});
    TRY(note(record, "accepted"));
    if (record.commit.empty()) {
      const auto there = TRY(datastore_.find_commit(record.repository, commit_title(record)));
      if (!there)
        return std::unexpected(Problem{
            Problem::Kind::datastore,
            {.status = 502, .message = "the upload was lost with the replica that received it; upload it again"}});
      record.commit = *there;
    }
    TRY(note(record, "committed"));
    TRY(datastore_.set_tag(record.repository, tag_of(record.version), record.commit));
    return {};
  }));
  return finish(record);
}

Registrar::Maybe<void> Registrar::purge(const Work& work) {
  const Record& record = work.record;
  spool_.remove(record.id);
  return with_lease(record.repository, [&]() -> Maybe<void> {
    const auto needed = TRY(usage_of(database_, record));
    const auto belongs = TRY(whose(record.repository));
    if (belongs.whose == Whose::others) {
      log::warning("a repository was left as it is: another entitystore's records speak of it",
                   {{"adapter", record.id},
                    {"repository", record.repository},
                    {"reason", not_ours(record.repository, belongs.other).message}});
    } else if (!needed.repository) {
      TRY(datastore_.delete_repository(record.repository));
      TRY(forget_made(database_, record.repository));
    } else if (!needed.version) {
      const auto refs = TRY(datastore_.refs(record.repository));
      if (refs && refs->tags.contains(tag_of(record.version)))
        TRY(datastore_.delete_tag(record.repository, tag_of(record.version)));
    }
    point("purging");
    TRY(set_purged(database_, record.id));
    return {};
  });
}

void Registrar::empty_spool() {
  for (const std::string& id : spool_.all()) {
    if (is_held(id)) continue;
    const auto work = read_work(database_, id);
    if (!work) return;
    const bool mine = *work && (*work)->record.status == Status::uploading && (*work)->record.deleted_at.empty() &&
                      (*work)->owner == lease_.owner;
    if (!mine && !is_held(id)) spool_.remove(id);
  }
}

}  // namespace stackgate::entitystore
