#include "services/guardrail/store/store.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "services/kit/log/log.hpp"

namespace stackgate::guardrail {
namespace {

bool same(const std::vector<File>& a, const std::vector<File>& b) {
  return std::ranges::equal(a, b, [](const File& x, const File& y) { return x.name == y.name && x.text == y.text; });
}

/// Of `findings`, those that leave a configuration without a file: a rail that is missing must not go unnoticed.
validate::Findings about(const std::string& id, const std::vector<File>& files, const validate::Findings& findings) {
  std::set<std::string_view> names;
  bool at_top = false;
  for (const File& each : files) {
    names.insert(each.shown);
    at_top = at_top || each.shown == each.name;
  }
  validate::Findings out;
  std::ranges::copy_if(findings, std::back_inserter(out), [&](const validate::Finding& each) {
    return at_top || each.path.empty() || each.path == id || each.path.starts_with(id + "/") ||
           each.path.starts_with(id + "__") || names.contains(each.path);
  });
  return out;
}

void log_outcome(const std::string& id, const StoredConfiguration& made) {
  if (made.valid)
    log::info("configuration loaded", {{"configuration", id}, {"warnings", made.findings.size()}});
  else if (made.configuration != nullptr)
    log::error("configuration does not compile; the last valid one answers",
               {{"configuration", id}, {"error", made.error}});
  else
    log::error("configuration does not compile", {{"configuration", id}, {"error", made.error}});
}

void log_left_out(const validate::Findings& findings, const validate::Findings& before) {
  const std::string error = error_lines(findings);
  if (!error.empty() && error != error_lines(before))
    log::warning("files of the configuration folder are left out", {{"error", error}});
}

}  // namespace

struct Store::Metrics {
  explicit Metrics(metrics::Registry& registry)
      : loads(registry.counter("stackgate_guardrail_configuration_loads_total",
                               "Configurations compiled after a change: loaded, kept (the last valid one), failed",
                               {"outcome"})),
        states(registry.gauge("stackgate_guardrail_configurations",
                              "Configurations: valid, stale (the last valid one answers), invalid", {"state"})) {
    for (const char* outcome : {"loaded", "kept", "failed"}) loads.at({outcome});
  }
  void count(const StoredConfiguration& made) {
    loads.at({made.valid ? "loaded" : made.configuration != nullptr ? "kept" : "failed"}).add();
  }
  void show(const Snapshot::ById& all) {
    double valid = 0, stale = 0, invalid = 0;
    for (const auto& [id, each] : all) ++(each.valid ? valid : each.configuration != nullptr ? stale : invalid);
    states.at({"valid"}).set(valid);
    states.at({"stale"}).set(stale);
    states.at({"invalid"}).set(invalid);
  }

  metrics::Family<metrics::Counter>& loads;
  metrics::Family<metrics::Gauge>& states;
};

Store::Store(StoreOptions options, metrics::Registry& registry)
    : options_(std::move(options)),
      metrics_(std::make_shared<Metrics>(registry)),
      snapshot_(std::make_shared<const Snapshot>(Snapshot::ById{}, validate::Findings{})) {
  look();
  if (options_.look.count() > 0 && !options_.folder.empty())
    watch_.emplace(options_.look, [this](const std::stop_token&) {
      look();
      return options_.look;
    });
}

std::shared_ptr<const Snapshot> Store::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

void Store::publish(std::shared_ptr<const Snapshot> made) {
  metrics_->show(made->configurations());
  const std::lock_guard lock(mutex_);
  snapshot_.swap(made);
}

void Store::reload() { look(); }

void Store::look() {
  const std::lock_guard lock(loading_);
  if (options_.folder.empty()) return;
  // The list costs a stat per file; the files are read only when it differs.
  if (list_folder(options_.folder, options_.limits).fingerprint == fingerprint_) return;
  FolderContent content = read_folder(options_.folder, options_.limits);
  fingerprint_ = content.fingerprint;
  log_left_out(content.findings, snapshot()->findings());
  if (content.away)  // a volume that does not answer takes nothing from those who use it
    return publish(std::make_shared<const Snapshot>(snapshot()->configurations(), std::move(content.findings)));
  content_ = std::move(content);
  build();
}

void Store::set_managed(Managed configurations) {
  const std::lock_guard lock(loading_);
  managed_ = std::move(configurations);
  build();
}

StoredConfiguration Store::compiled(const std::string& id, std::vector<File> files, const validate::Findings& of_files,
                                    const StoredConfiguration* before) {
  validate::Findings unread = about(id, files, of_files);
  if (before != nullptr && before->unread == !unread.empty() && same(*before->files, files)) return *before;
  StoredConfiguration out{.unread = !unread.empty()};
  out.files = std::make_shared<const std::vector<File>>(std::move(files));
  if (unread.empty()) {
    ReadConfiguration read = read_configuration(id, *out.files);
    out.configuration = std::move(read.configuration);
    out.findings = std::move(read.findings);
    if (options_.trial) std::ranges::move(options_.trial(*read.draft), std::back_inserter(out.findings));
    if (validate::has_errors(out.findings)) out.configuration = nullptr;
  } else {
    out.findings = std::move(unread);
  }
  out.valid = out.configuration != nullptr;
  if (!out.valid) {
    out.error = error_lines(out.findings);
    if (before != nullptr) out.configuration = before->configuration;
  }
  metrics_->count(out);
  log_outcome(id, out);
  return out;
}

void Store::build() {
  const auto old = snapshot();
  auto all = configurations_of(content_.files);
  Snapshot::ById made;
  const auto add = [&](const std::string& id, std::vector<File> files, const validate::Findings& of_files) {
    const auto before = old->configurations().find(id);
    const bool is_new = before == old->configurations().end();
    made.emplace(id, compiled(id, std::move(files), of_files, is_new ? nullptr : &before->second))
        .first->second.managed = false;
  };
  for (auto& [id, files] : all) add(id, std::move(files), content_.findings);
  for (const auto& [id, files] : managed_)
    if (!all.contains(id)) {
      add(id, files, {});
      made.at(id).managed = true;
    }
  for (const auto& [id, each] : old->configurations())
    if (!made.contains(id)) log::info("configuration removed", {{"configuration", id}});
  publish(std::make_shared<const Snapshot>(std::move(made), content_.findings));
}

}  // namespace stackgate::guardrail
