#include "services/customizer/runs/local/local.hpp"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "services/customizer/api/adapter.hpp"
#include "services/customizer/objects/names.hpp"
#include "services/customizer/observe/sight.hpp"
#include "services/customizer/runs/local/checks.hpp"
#include "services/customizer/runs/local/paths.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::customizer {
namespace local_detail {

namespace fs = std::filesystem;

using local_files::own_file;
using local_files::refused;

/// Whole, or as it was.
std::expected<void, Error> write_file(const std::string& path, std::string_view text) {
  const std::string part = path + ".part";
  {
    const files::File file(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, own_file));
    if (!file) return refused("write", part, errno);
    if (const int error = files::write_all(file.fd(), text); error != 0) return refused("write", part, error);
  }
  if (::rename(part.c_str(), path.c_str()) != 0) return refused("rename", part, errno);
  return {};
}

StageSight of_ended(Stage stage, int status, const Attempt& attempt) {
  StageSight out{.objects = StageSight::Objects::there};
  out.state = status == 0 ? State::completed : State::failed;
  if (status == 0) return out;
  const std::string words = last_words(attempt.log_end());
  out.may_retry = may_retry_after(stage, status);
  out.message = words.empty() ? fmt::format("it ended with status {}", status)
                              : fmt::format("it ended with status {}: {}", status, words);
  return out;
}

}  // namespace local_detail

using namespace local_detail;

std::expected<std::unique_ptr<LocalExecutor>, Error> LocalExecutor::open(LocalOptions options) {
  std::error_code error;
  for (const std::string& each : {options.directory, options.models}) {
    fs::create_directories(each, error);
    if (error) return refused("make", each, error.value());
  }
  const std::string path = options.directory + "/lock";
  files::File lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, own_file));
  if (!lock) return refused("open", path, errno);
  if (::flock(lock.fd(), LOCK_EX | LOCK_NB) != 0)
    return std::unexpected(Error{fmt::format("another process runs customizations in {}", options.directory)});
  return std::unique_ptr<LocalExecutor>(new LocalExecutor(std::move(options), std::move(lock)));
}

Attempt LocalExecutor::attempt(const Work& work, Stage stage) const {
  return Attempt(fmt::format("{}/{}-{}", workspace(work), short_name(stage), work.stored.job.stage(stage).attempts));
}

bool LocalExecutor::has_workspace(const Work& work) const {
  std::error_code ignored;
  return fs::exists(workspace(work), ignored);
}

StageSight LocalExecutor::sight(const Work& work, Stage stage) {
  using Phase = Attempt::Phase;
  if (work.stored.job.stage(stage).attempts == 0) return {};
  const Attempt newest = attempt(work, stage);
  const Phase phase = newest.phase();
  const std::string& id = work.job.id;
  if (phase == Phase::running) {
    running_.insert_or_assign(id, newest);
    if (stage == Stage::training) training_.insert(id);
  } else if (stage == Stage::training) {
    training_.erase(id);
  }
  StageSight out{.objects = phase == Phase::absent ? StageSight::Objects::absent : StageSight::Objects::there};
  switch (phase) {
    case Phase::absent:
      break;
    case Phase::waiting:
      waiting_.emplace(work.stored.job.created_at, id);
      out.message = fmt::format("it waits for {} other {} on this machine", training_.size(),
                                training_.size() == 1 ? "training" : "trainings");
      break;
    case Phase::running:
      out.state = State::running;
      break;
    case Phase::ended:
      return of_ended(stage, newest.status().value_or(1), newest);
    case Phase::killed:
      out.state = State::failed;
      out.may_retry = true;
      out.message = "its process was killed";
      break;
  }
  return out;
}

std::vector<std::expected<Seen, Error>> LocalExecutor::look(std::span<const Work* const> all) {
  std::vector<std::expected<Seen, Error>> out;
  for (const Work* each : all) {
    running_.erase(each->job.id);
    waiting_.erase({each->stored.job.created_at, each->job.id});
    Seen seen{.workspace = has_workspace(*each)};
    seen.leftovers = seen.workspace;
    for (const Stage stage : all_stages) seen.stages.at(static_cast<std::size_t>(stage)) = sight(*each, stage);
    out.emplace_back(std::move(seen));
  }
  return out;
}

std::expected<void, Error> LocalExecutor::prepare(const Work& work, Stage stage) const {
  const std::string folder = workspace(work);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return refused("make", folder, error.value());
  if (stage == Stage::training)
    return write_file(fmt::format("{}/{}", folder, config_file), json::object_text([&](json::Writer& w) {
                        model::write_hyperparameters(w, work.job.hyperparameters);
                      }));
  if (stage == Stage::upload)
    return write_file(fmt::format("{}/{}", folder, metadata_file),
                      adapter_metadata(work.stored.job, work.request, read_progress(work.stored.job.progress)));
  return {};
}

std::expected<void, Error> LocalExecutor::create(const Work& work, Stage stage) {
  const Attempt newest = attempt(work, stage);
  const Attempt::Phase phase = newest.phase();
  if (phase != Attempt::Phase::absent && phase != Attempt::Phase::waiting) return {};
  TRY(prepare(work, stage));
  TRY(newest.make());
  if (stage == Stage::training && training_.size() >= options_.trainings) return {};  // its turn will come
  const LocalPlaces places{.programs = options_.programs, .models = options_.models, .workspace = workspace(work)};
  StageProgram program = stage_program(work.job, stage, places, options_.addresses, options_.credentials);
  if (!work.job.traceparent.empty()) program.environment.push_back("TRACEPARENT=" + work.job.traceparent);
  TRY(newest.start(program));
  if (stage == Stage::training) training_.insert(work.job.id);
  return {};
}

std::expected<void, Error> LocalExecutor::cancel(const Work& work, Stage stage) {
  const Attempt newest = attempt(work, stage);
  if (newest.phase() == Attempt::Phase::waiting) {
    // It never begins.
    std::error_code error;
    fs::remove_all(fmt::format("{}/{}-{}", workspace(work), short_name(stage), work.stored.job.stage(stage).attempts),
                   error);
    if (error) return refused("remove", workspace(work), error.value());
    return {};
  }
  newest.stop();
  return {};
}

validate::Findings LocalExecutor::check(const CustomizationRequest& request) const {
  return judge_request(request, options_.models);
}

std::expected<void, Error> LocalExecutor::clean_up(const Work& work) {
  for (const Stage each : all_stages) {
    if (work.stored.job.stage(each).attempts == 0) continue;
    const Attempt newest = attempt(work, each);
    if (newest.phase() != Attempt::Phase::running) continue;
    newest.stop();
    return std::unexpected(Error{fmt::format("its {} is still ending", to_string(each))});
  }
  std::error_code error;
  fs::remove_all(workspace(work), error);
  if (error) return refused("remove", workspace(work), error.value());
  return {};
}

std::expected<std::string, Error> LocalExecutor::log(const Work& work, Stage stage, std::uint64_t& offset) {
  return attempt(work, stage).log(offset);
}

std::vector<std::string> LocalExecutor::changed() {
  std::vector<std::string> out;
  for (const auto& [id, each] : running_)
    if (!each.is_running()) out.push_back(id);
  std::size_t free = options_.trainings - std::min<std::size_t>(options_.trainings, training_.size());
  for (auto each = waiting_.begin(); each != waiting_.end() && free > 0; ++each, --free) out.push_back(each->second);
  return out;
}

}  // namespace stackgate::customizer
