#include "services/evaluator/front/results_zip.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "services/evaluator/front/show.hpp"
#include "services/kit/archive/zip_writer.hpp"
#include "services/kit/base/ascii.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/log/log.hpp"
#include "services/kit/web/send.hpp"

namespace stackgate::evaluator {
namespace results_zip_detail {

constexpr std::int64_t rows_at_once = 200;

using Done = std::expected<void, std::string>;

template <class T>
std::expected<T, std::string> words(sql::Expected<T> got) {
  if (!got) return std::unexpected(std::move(got.error().message));
  return std::move(*got);
}

/// A file's name of a task's: each once.
std::string file_of(std::string_view task, std::set<std::string>& taken) {
  std::string out(task.substr(0, 200));
  std::ranges::replace_if(
      out, [](char c) { return !ascii::is_alphanumeric(c) && c != '-' && c != '_' && c != '.'; }, '_');
  if (out.empty() || out.front() == '.') out.insert(0, "task");
  while (!taken.insert(out).second) out += "_";
  return out + ".jsonl";
}

Done put_log(archive::ZipWriter& zip, const Records& records, const Evaluation& evaluation) {
  TRY(zip.begin("log.txt"));
  for (std::int64_t after = 0;;) {
    const auto events = TRY(words(records.events(evaluation.id, after, rows_at_once, true)));
    if (events.empty()) return {};
    for (const Event& each : events) TRY(zip.data(log_line(each)));
    after = events.back().number;
  }
}

Done put_samples(archive::ZipWriter& zip, const Records& records, const Evaluation& evaluation, const std::string& task,
                 const std::string& name) {
  TRY(zip.begin(name));
  for (std::int64_t after = -1;;) {
    const auto samples = TRY(words(records.samples(evaluation.id, task, after, rows_at_once)));
    if (samples.empty()) return {};
    for (const Sample& each : samples) {
      TRY(zip.data(each.record));
      TRY(zip.data("\n"));
    }
    after = samples.back().number;
  }
}

Done put_all(archive::ZipWriter& zip, const Records& records, const Evaluation& evaluation, std::string_view base_url) {
  TRY(zip.begin("results.json"));
  TRY(zip.data(results_answer(evaluation, base_url)));
  TRY(put_log(zip, records, evaluation));
  std::set<std::string> taken;
  for (const std::string& task : tasks_of(evaluation))
    TRY(put_samples(zip, records, evaluation, task, file_of(task, taken)));
  return zip.finish();
}

}  // namespace results_zip_detail

std::vector<std::string> tasks_of(const Evaluation& evaluation) {
  std::vector<std::string> out;
  json::Document document;
  if (const auto root = json::parse(evaluation.results, document))
    for (const json::Member& each : json::members(&*root, {"tasks"})) out.emplace_back(each.key);
  if (out.empty())
    if (const auto root = json::parse(evaluation.request, document))
      for (const json::Value& each : json::items(&*root, {"tasks"})) out.emplace_back(each.string());
  return out;
}

web::Answer send_results_zip(const Records& records, const Evaluation& evaluation, web::Call& call) {
  const std::string base_url = call.base_url();
  const auto writer = call.start(
      {.status = 200,
       .content_type = "application/zip",
       .headers = {{"Content-Disposition", web::content_disposition("attachment", evaluation.name + ".zip")}}},
      std::nullopt);
  archive::ZipWriter zip([&](std::string_view bytes) -> std::expected<void, std::string> {
    if (auto done = writer->write(bytes); !done) return std::unexpected(std::move(done.error().message));
    return {};
  });
  if (const auto done = results_zip_detail::put_all(zip, records, evaluation, base_url); !done)
    log::warning("results were sent in part only", {{"evaluation", evaluation.name}, {"reason", done.error()}});
  else
    (void)writer->finish();
  return web::Streamed{};
}

}  // namespace stackgate::evaluator
