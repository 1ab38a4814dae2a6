#include "services/puller/transfer/pull.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <thread>

#include <fmt/format.h>

#include "services/kit/base/current_trace.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/log/log.hpp"
#include "services/puller/transfer/content.hpp"

namespace stackgate::puller {
namespace pull_detail {

constexpr std::uint64_t largest_index = 64U << 20U;

struct Wanted {
  RemoteFile file;
  std::string sha256{};  // known once it is here
  bool here = false;
};

class Pull {
 public:
  Pull(const PullSettings& settings, Counter& counter, const FailPoint& fail_point, Place place)
      : settings_(settings),
        counter_(counter),
        fail_point_(fail_point),
        place_(std::move(place)),
        fetcher_(settings.access),
        source_(settings.source, fetcher_) {}

  Result<Outcome> run();

 private:
  Result<bool> is_complete(const Manifest& manifest) const;
  Result<std::vector<RemoteFile>> plan(const std::vector<RemoteFile>& offered);
  Result<void> look(Wanted& wanted);
  Result<bool> is_kept(std::uint64_t size, Wanted& wanted) const;
  Result<bool> is_content(const std::string& path, Wanted& wanted) const;
  Result<void> check_space(const std::vector<Wanted>& wanted) const;
  Result<void> fetch(Wanted& wanted);
  Result<void> fetch_all(std::vector<Wanted>& wanted);
  Result<Outcome> publish(const std::vector<Wanted>& wanted, std::string revision,
                          const std::optional<Manifest>& before);
  std::function<bool()> stopped() const {
    return [this] { return counter_.stop.load(); };
  }

  const PullSettings& settings_;
  Counter& counter_;
  const FailPoint& fail_point_;
  Place place_;
  Fetcher fetcher_;
  Source source_;
};

/// By size, and with `verify` by content.
Result<bool> Pull::is_complete(const Manifest& manifest) const {
  for (const ManifestFile& file : manifest.files) {
    const std::string path = place_.output_path(file.path);
    if (size_of(path) != file.size) return false;
    if (!settings_.verify) continue;
    const Sums sums = TRY(sums_of(path, {.path = file.path, .size = file.size, .sha256 = file.sha256}, stopped()));
    if (sums.sha256 == file.sha256) continue;
    log::warning("a file is not what was downloaded, and comes again", {{"file", file.path}});
    return false;
  }
  return true;
}

/// Whether the local file has this content; its SHA-256 is known then.
Result<bool> Pull::is_content(const std::string& path, Wanted& wanted) const {
  const auto size = size_of(path);
  if (!size || (wanted.file.size && *size != *wanted.file.size)) return false;
  const Sums sums = TRY(sums_of(path, wanted.file, stopped()));
  if (fault_of_content(wanted.file, sums)) return false;
  wanted.sha256 = sums.sha256;
  wanted.file.size = sums.size;
  return true;
}

/// A KEY has been checked before it got its name; only what it is called in the manifest may still be missing.
Result<bool> Pull::is_kept(std::uint64_t size, Wanted& wanted) const {
  if (wanted.file.sha256.empty()) return is_content(place_.whole_path(wanted.file), wanted);
  if (wanted.file.size && size != *wanted.file.size) return false;
  wanted.sha256 = wanted.file.sha256;
  wanted.file.size = size;
  return true;
}

/// Is it here: whole, left behind by an interrupted move, or of the model that the output holds now?
Result<void> Pull::look(Wanted& wanted) {
  const RemoteFile& file = wanted.file;
  if (const auto size = size_of(place_.whole_path(file))) {
    wanted.here = TRY(is_kept(*size, wanted));
  } else if (TRY(is_content(place_.staged_path(file.path), wanted))) {
    TRY(place_.take_back(file));
    wanted.here = true;
  } else if (TRY(is_content(place_.output_path(file.path), wanted))) {
    wanted.here = place_.in_place() || place_.link_whole(file);
  }
  const std::uint64_t here = wanted.here ? wanted.file.size.value_or(0) : bytes_here(place_, file);
  counter_.downloaded += here;
  counter_.total += std::max(wanted.file.size.value_or(0), here);
  return {};
}

Result<void> Pull::check_space(const std::vector<Wanted>& wanted) const {
  std::uint64_t missing = 0;
  for (const Wanted& each : wanted)
    if (!each.here)
      missing += each.file.size.value_or(0) - std::min(each.file.size.value_or(0), bytes_here(place_, each.file));
  if (!fault_of_space(missing, TRY(place_.free_bytes()), place_.output())) return {};
  // What other revisions have left behind is kept as long as there is room.
  std::vector<RemoteFile> files;
  files.reserve(wanted.size());
  for (const Wanted& each : wanted) files.push_back(each.file);
  place_.drop_other_parts(files);
  if (auto fault = fault_of_space(missing, TRY(place_.free_bytes()), place_.output())) return std::unexpected(*fault);
  return {};
}

Result<void> Pull::fetch(Wanted& wanted) {
  counter_.set_file(wanted.file.path);
  const Sums sums =
      TRY((Download{fetcher_, place_, counter_, fail_point_}.run(wanted.file, source_.url_of(wanted.file))));
  if (!wanted.file.size) counter_.total += sums.size;
  wanted.file.size = sums.size;
  wanted.sha256 = sums.sha256;
  wanted.here = true;
  return {};
}

/// The largest first, so that none of them is left alone at the end.
Result<void> Pull::fetch_all(std::vector<Wanted>& wanted) {
  std::vector<Wanted*> queue;
  for (Wanted& each : wanted)
    if (!each.here) queue.push_back(&each);
  std::ranges::stable_sort(queue, std::greater<>{}, [](const Wanted* each) { return each->file.size.value_or(0); });
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::optional<Failure> first;
  const TraceCopy trace;
  const auto work = [&] {
    std::optional<TraceScope> scope;
    trace.enter(scope);
    for (std::size_t i = next++; i < queue.size() && !counter_.stop; i = next++) {
      auto done = fetch(*queue[i]);
      if (done) continue;
      const std::scoped_lock lock(mutex);
      if (!first) first = std::move(done.error());
      counter_.stop = true;
    }
  };
  {
    std::vector<std::jthread> threads;
    const std::size_t count = std::min<std::size_t>(settings_.parallel, queue.size());
    while (threads.size() < count) threads.emplace_back(work);
  }
  if (first) return std::unexpected(std::move(*first));
  if (counter_.stop) return std::unexpected(Failure{Cause::stopped, "stopped"});
  return {};
}

/// What is wanted; an index of shards is fetched for that.
Result<std::vector<RemoteFile>> Pull::plan(const std::vector<RemoteFile>& offered) {
  auto wanted = select(offered, settings_.patterns);
  const auto index = std::ranges::find(wanted, index_name, &RemoteFile::path);
  if (index != wanted.end()) {
    Wanted one{.file = *index};
    if (!one.file.size) TRY(source_.ask_size(one.file));
    if (one.file.size.value_or(0) > largest_index)
      return std::unexpected(Failure{
          Cause::bad_answer, fmt::format("{} is said to have {} bytes: that is no index", index_name, *one.file.size),
          "leave it out with --exclude and name the files with --include"});
    TRY(look(one));
    if (!one.here) TRY(fetch(one));
    counter_.downloaded = 0;  // it is looked at again with the others
    counter_.total = 0;
    const std::string whole = place_.whole_path(one.file);
    const auto text = files::read_file(size_of(whole) ? whole : place_.output_path(one.file.path), largest_index);
    if (!text) return std::unexpected(failure_of_system("read " + std::string(index_name), text.error()));
    wanted = TRY(with_shards(offered, std::move(wanted), TRY(read_shard_index(*text)), settings_.patterns));
  }
  if (wanted.empty())
    return std::unexpected(
        Failure{Cause::missing, fmt::format("{} has no file that is asked for", source_.name()),
                "look at --include and --exclude; pickle files (*.bin, *.pth) are taken only when named"});
  return wanted;
}

Result<Outcome> Pull::publish(const std::vector<Wanted>& wanted, std::string revision,
                              const std::optional<Manifest>& before) {
  Manifest manifest{.source = source_.name(), .revision = std::move(revision), .patterns = settings_.patterns};
  std::vector<RemoteFile> files;
  for (const Wanted& each : wanted) {
    manifest.files.push_back({each.file.path, each.file.size.value_or(0), each.sha256});
    files.push_back(each.file);
  }
  TRY(place_.publish(manifest, files, before, fail_point_));
  fail_point_("published");
  place_.remove_staging();
  return Outcome{.manifest = std::move(manifest)};
}

Result<Outcome> Pull::run() {
  std::string revision = TRY(source_.resolve());
  const auto before = place_.manifest();
  if (before && is_of(*before, source_.name(), revision, settings_.patterns) && TRY(is_complete(*before))) {
    for (const ManifestFile& file : before->files) counter_.total += file.size;
    counter_.downloaded = counter_.total.load();
    place_.remove_staging();
    return Outcome{.manifest = *before, .was_complete = true};
  }
  if (!place_.in_place())
    if (const auto foreign = place_.foreign_file(before))
      return std::unexpected(Failure{Cause::settings,
                                     fmt::format("{} holds {}, which no pull has put there", place_.output(), *foreign),
                                     "move it away, or take another --output: the directory is replaced as a whole"});
  std::vector<Wanted> wanted;
  for (RemoteFile& file : TRY(plan(TRY(source_.list())))) wanted.push_back({.file = std::move(file)});
  fail_point_("planned");
  for (Wanted& each : wanted) {
    if (!each.file.size) TRY(source_.ask_size(each.file));
    TRY(look(each));
  }
  TRY(place_.clear_staged());
  TRY(check_space(wanted));
  log::info("downloading", {{"source", source_.name()},
                            {"revision", revision},
                            {"files", wanted.size()},
                            {"bytes", counter_.total.load()},
                            {"here_already", counter_.downloaded.load()}});
  TRY(fetch_all(wanted));
  return publish(wanted, std::move(revision), before);
}

}  // namespace pull_detail

Result<Outcome> pull(const PullSettings& settings, Counter& counter, const FailPoint& fail_point) {
  return pull_detail::Pull(settings, counter, fail_point, TRY(Place::open(settings.output))).run();
}

}  // namespace stackgate::puller
