#include "services/evaluator/suite/harness/task_files.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/findings/nearest.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::evaluator::harness {
namespace {

using validate::Findings;

constexpr std::size_t deepest = 16;  // includes in includes, groups in groups
constexpr std::array<std::string_view, 7> group_keys = {"group",    "group_alias", "task", "aggregate_metric_list",
                                                        "metadata", "include",     "tag"};

bool is_task_file(std::string_view path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash + 1);
}

/// "a/b/../c.yaml" as "a/c.yaml"; nothing for what leaves the data set.
std::optional<std::string> plain_path(std::string_view folder, std::string_view path) {
  std::vector<std::string_view> parts;
  const std::string whole = path.starts_with('/') ? std::string(path.substr(1)) : std::string(folder).append(path);
  for (std::string_view rest = whole; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    rest.remove_prefix(slash == std::string_view::npos ? rest.size() : slash + 1);
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
    } else {
      if (parts.empty()) return std::nullopt;
      parts.pop_back();
    }
  }
  return fmt::format("{}", fmt::join(parts, "/"));
}

/// Names that a setting gives: one text, or a list of them.
std::vector<std::string> texts_of(const json::Value& value) {
  std::vector<std::string> out;
  if (value.is_string()) out.emplace_back(value.string());
  for (const json::Value& each : value.items())
    if (each.is_string()) out.emplace_back(each.string());
  return out;
}

std::string text_of(const Settings& settings, std::string_view key) {
  const auto found = settings.find(key);
  return found == settings.end() ? std::string() : std::string(found->second.value.string());
}

void read_group_metric(const Node& at, TaskGroup& group, Findings& findings) {
  constexpr std::array<std::string_view, 4> known = {"metric", "filter_list", "aggregation", "weight_by_size"};
  if (!at.value.is_object()) return wrong(findings, at, "is no mapping", "write {metric: acc, weight_by_size: true}");
  GroupMetric metric{.metric = std::string(json::text(&at.value, {"metric"}))};
  if (metric.metric.empty()) wrong(findings, at, "names no metric", "write metric: and the name of one");
  for (const json::Member& member : at.value.members()) {
    const Node value = at.member(member);
    const std::string_view text = member.value.string();
    if (std::ranges::find(known, member.key) == known.end()) {
      const std::string_view near = validate::nearest(member.key, known);
      wrong(findings, value, "is no key of a group's metric",
            near.empty() ? "leave it out" : fmt::format("write \"{}\"", near));
    } else if (value.is_function() || (member.key == "aggregation" && text != "mean")) {
      wrong(findings, value, "is no aggregation of groups", "write mean");
    } else if (member.key == "filter_list") {
      metric.filters = texts_of(member.value);
    } else if (member.key == "weight_by_size") {
      if (!member.value.is_boolean()) wrong(findings, value, "is neither true nor false", "write true or false");
      metric.weight_by_size = member.value.boolean();
    }
  }
  group.metrics.push_back(std::move(metric));
}

TaskGroup read_group(std::string_view name, const Settings& settings, Findings& findings) {
  TaskGroup out{.name = std::string(name), .alias = text_of(settings, "group_alias"), .version = version_of(settings)};
  if (const auto found = settings.find("aggregate_metric_list"); found != settings.end()) {
    const Node& list = found->second;
    if (list.value.is_object()) read_group_metric(list, out, findings);
    if (!list.value.is_object() && !list.value.is_array() && !list.value.is_null())
      wrong(findings, list, "is no list", "write a list of metrics: [{metric: acc, weight_by_size: true}]");
    for (std::size_t i = 0; i < list.value.items().size(); ++i) read_group_metric(list.item(i), out, findings);
  }
  return out;
}

}  // namespace

std::string version_of(const Settings& settings) {
  const auto found = settings.find("metadata");
  if (found == settings.end()) return {};
  const json::Value version = json::value_at(&found->second.value, {"version"});
  return version.is_number() ? json::to_json(version) : std::string(version.string());
}

bool TaskFile::is_function(const json::Value& value) const {
  std::string_view source = std::string_view(text).substr(std::min<std::size_t>(value.offset(), text.size()));
  if (source.starts_with('&')) {  // an anchor
    source.remove_prefix(std::min(source.find_first_of(" \t"), source.size()));
    source.remove_prefix(std::min(source.find_first_not_of(" \t"), source.size()));
  }
  return value.is_string() && source.starts_with("!function");
}

std::string Node::place() const { return fmt::format("{}:{}", file->path, file->lines->locate(value.offset()).line); }

Node Node::member(const json::Member& of) const {
  return {
      .value = of.value, .file = file, .key = key.empty() ? std::string(of.key) : fmt::format("{}.{}", key, of.key)};
}

Node Node::item(std::size_t index) const {
  return {.value = value.items()[index], .file = file, .key = fmt::format("{}[{}]", key, index)};
}

void wrong(Findings& findings, const Node& at, std::string problem, std::string fix, validate::Severity severity) {
  findings.push_back({.rule = "evaluation-data",
                      .severity = severity,
                      .path = at.place(),
                      .problem = at.key.empty() ? std::move(problem) : fmt::format("{} {}", at.key, problem),
                      .fix = std::move(fix)});
}

TaskFiles::TaskFiles(const DataSource& data) {
  for (const std::string& path : data.paths)
    if (is_task_file(path) && files_.size() < most_task_files) read(data, path);
  name_them(data);
}

const TaskFile& TaskFiles::read(const DataSource& data, const std::string& path) {
  TaskFile& file = files_.emplace_back();
  file.path = path;
  auto text = data.text(path);
  if (!text) {
    file.fault = std::move(text.error());
  } else if (text->size() > largest_task_file) {
    file.fault = fmt::format("is longer than {} MiB", largest_task_file >> 20U);
  } else {
    file.text = std::move(*text);
  }
  file.lines = std::make_unique<yaml::Lines>(file.text);
  file.yaml = yaml::parse(file.text, {.max_depth = 64, .max_bytes = largest_task_file});
  if (file.yaml.failed) {
    file.fault = fmt::format("is no YAML: {}", file.yaml.error.message);
    file.fault_line = file.lines->locate(file.yaml.error.offset).line;
  }
  return file;
}

/// What is included may have any name: the harness' own templates are called "_default_template_yaml".
const TaskFile* TaskFiles::find_file(const DataSource& data, std::string_view path) {
  const auto found = std::ranges::find(files_, path, &TaskFile::path);
  if (found != files_.end()) return &*found;
  const auto named = std::ranges::find(data.paths, path);
  return named == data.paths.end() || files_.size() >= most_task_files ? nullptr : &read(data, *named);
}

/// What every file says it is. What is wrong with a file matters once its name is asked for.
void TaskFiles::name_them(const DataSource& data) {
  const std::size_t count = files_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const TaskFile& file = files_[i];
    if (!file.fault.empty() || file.yaml.documents.empty()) continue;
    Findings findings;
    Settings settings = settings_of(data, file, 0, findings);
    const auto task = settings.find("task");
    const auto group = settings.find("group");
    std::string name;
    Named::Kind kind = Named::Kind::task;
    if (task != settings.end() && task->second.value.is_string()) {
      name = task->second.value.string();
    } else if (group != settings.end() && group->second.value.is_string()) {
      name = group->second.value.string();
      kind = Named::Kind::group;
    }
    if (name.empty()) continue;
    if (kind == Named::Kind::task)
      if (const auto tag = settings.find("tag"); tag != settings.end())
        for (const std::string& each : texts_of(tag->second.value)) tags_[each].push_back(name);
    const auto [known, is_new] = named_.try_emplace(name, Named{.kind = kind, .settings = std::move(settings)});
    if (!is_new) known->second.others.push_back(file.path);
    if (is_new) faults_[name] = std::move(findings);
  }
}

Settings TaskFiles::settings_of(const DataSource& data, const TaskFile& file, std::size_t depth, Findings& findings) {
  const json::Value& root = file.yaml.documents.front().root;
  const Node top{.value = root, .file = &file};
  Settings out;
  if (file.yaml.documents.size() > 1)
    wrong(findings, {.value = file.yaml.documents[1].root, .file = &file}, "begins a second document",
          "write one task or group in each file");
  if (const json::Member* member = root.find_member("include")) include(data, file, *member, depth, out, findings);
  for (const json::Member& member : root.members())
    if (member.key != "include") out.insert_or_assign(std::string(member.key), top.member(member));
  return out;
}

/// What is included comes first: the file's own settings replace it.
void TaskFiles::include(const DataSource& data, const TaskFile& file, const json::Member& member, std::size_t depth,
                        Settings& out, Findings& findings) {
  const Node at{.value = member.value, .file = &file, .key = "include"};
  if (depth >= deepest)
    return wrong(findings, at, fmt::format("is more than {} files deep", deepest),
                 "include no file that includes this one");
  const std::vector<std::string> paths = texts_of(member.value);
  if (paths.empty()) return wrong(findings, at, "names no file", "write the path of a file beside this one");
  for (const std::string& each : paths) {
    const auto path = plain_path(folder_of(file.path), each);
    const TaskFile* found = path ? find_file(data, *path) : nullptr;
    if (found == nullptr || found->yaml.documents.empty()) {
      std::string problem = fmt::format("names \"{}\", which the data set does not have as YAML", each);
      if (found != nullptr && !found->fault.empty())
        problem = fmt::format("names \"{}\", which {} (line {})", each, found->fault, found->fault_line);
      wrong(findings, at, std::move(problem), "write the path from this file's folder to a file of the data set");
      continue;
    }
    for (auto& [key, node] : settings_of(data, *found, depth + 1, findings)) out.insert_or_assign(key, std::move(node));
  }
}

std::vector<ChosenTask> TaskFiles::choose(std::span<const std::string> names, Findings& findings) {
  chosen_.clear();
  for (std::size_t i = 0; i < names.size(); ++i)
    choose_name(names[i], nullptr, fmt::format("tasks[{}]", i), {}, findings);
  return std::move(chosen_);
}

void TaskFiles::choose_name(std::string_view name, const Node* from, std::string_view place, const Above& above,
                            Findings& findings) {
  const auto found = named_.find(name);
  if (found == named_.end()) {
    const auto tag = tags_.find(name);
    if (tag == tags_.end()) return unknown_name(name, from, place, findings);
    for (const std::string& each : std::vector(tag->second)) choose_name(each, from, place, above, findings);
    return;
  }
  const Named& named = found->second;
  Findings& faults = faults_[std::string(name)];
  findings.insert(findings.end(), faults.begin(), faults.end());
  faults.clear();  // said once
  for (const std::string& other : named.others)
    findings.push_back(
        {.rule = "evaluation-data",
         .path = other,
         .problem = fmt::format("names \"{}\", which {} is, too", name, named.settings.begin()->second.file->path),
         .fix = "give each task and group its own name"});
  if (named.kind == Named::Kind::group)
    choose_group(name, named.settings, above, findings);
  else
    choose_task(std::string(name), named.settings, from, above, findings);
}

void TaskFiles::unknown_name(std::string_view name, const Node* from, std::string_view place, Findings& findings) {
  std::vector<std::string_view> known;
  known.reserve(named_.size());
  for (const auto& [each, named] : named_) known.push_back(each);
  for (const auto& [each, tasks] : tags_) known.push_back(each);
  const std::string_view near = validate::nearest(name, known);
  std::string fix = "write the name that a task file gives itself by \"task:\", or a group or tag";
  if (!near.empty()) fix = fmt::format("write \"{}\"", near);
  if (known.empty()) fix = "add a file such as tasks/mine.yaml with task:, doc_to_text: and doc_to_target:";
  std::string problem =
      fmt::format("\"{}\" is no task, group or tag of the data set's {} task files", name, files_.size());
  if (from != nullptr)
    wrong(findings, *from, std::move(problem), std::move(fix));
  else
    findings.push_back({.rule = "evaluation-task",
                        .path = std::string(place),
                        .value = fmt::format("\"{}\"", name),
                        .problem = std::move(problem),
                        .fix = std::move(fix)});
  // It may be one of those that could not be read.
  for (TaskFile& file : files_) {
    if (file.fault.empty()) continue;
    findings.push_back({.rule = "evaluation-data",
                        .path = file.fault_line == 0 ? file.path : fmt::format("{}:{}", file.path, file.fault_line),
                        .problem = std::exchange(file.fault, {}),
                        .fix = "write it as YAML"});
  }
}

void TaskFiles::choose_task(std::string name, Settings settings, const Node* from, const Above& above,
                            Findings& findings) {
  for (const auto& [key, node] : above.settings) settings.insert_or_assign(key, node);
  const auto known = std::ranges::find(chosen_, name, &ChosenTask::name);
  if (known == chosen_.end()) {
    if (chosen_.size() >= most_tasks) {
      if (!std::exchange(too_many_, true))
        findings.push_back({.rule = "evaluation-task",
                            .path = "tasks",
                            .problem = fmt::format("stands for more than {} tasks", most_tasks),
                            .fix = "start an evaluation for each of its groups"});
      return;
    }
    chosen_.push_back({.name = std::move(name), .settings = std::move(settings), .groups = above.groups});
    return;
  }
  const bool same = std::ranges::equal(known->settings, settings, [](const auto& a, const auto& b) {
    return a.first == b.first && json::equal(a.second.value, b.second.value);
  });
  if (!same && from != nullptr)
    wrong(findings, *from, fmt::format("reaches \"{}\" a second time, with other settings", name),
          "give one of them a task file and a name of its own");
  for (const TaskGroup& group : above.groups)
    if (std::ranges::find(known->groups, group.name, &TaskGroup::name) == known->groups.end())
      known->groups.push_back(group);
}

void TaskFiles::choose_group(std::string_view name, const Settings& settings, const Above& above, Findings& findings) {
  const auto members = settings.find("task");
  const Node at = members == settings.end() ? settings.begin()->second : members->second;
  if (members == settings.end() || !at.value.is_array() || at.value.items().empty())
    return wrong(findings, at, fmt::format("gives the group \"{}\" no tasks", name), "write task: and a list of names");
  if (above.depth >= deepest || !open_groups_.emplace(name).second)
    return wrong(findings, at, fmt::format("leads back to the group \"{}\"", name), "let no group hold itself");
  Above below{.settings = above.settings, .groups = above.groups, .depth = above.depth + 1};
  below.groups.push_back(read_group(name, settings, findings));
  // What is nothing of the group's own is set in its tasks, unless what is above says otherwise.
  for (const auto& [key, node] : settings)
    if (std::ranges::find(group_keys, key) == group_keys.end()) below.settings.try_emplace(key, node);
  for (std::size_t i = 0; i < at.value.items().size(); ++i) choose_member(at.item(i), below, findings);
  open_groups_.erase(open_groups_.find(name));
}

/// One of a group: a name, or a mapping that names a task or a group and sets what is different here.
void TaskFiles::choose_member(const Node& member, const Above& above, Findings& findings) {
  if (member.is_function() || (!member.value.is_string() && !member.value.is_object()))
    return wrong(findings, member, "is no task", "write the name of a task or a group");
  if (member.value.is_string()) return choose_name(member.value.string(), &member, "", above, findings);
  Settings own;
  for (const json::Member& each : member.value.members())
    own.insert_or_assign(std::string(each.key), member.member(each));
  for (auto& [key, node] : own) node.key = key;
  const std::string_view group = json::text(&member.value, {"group"}), task = json::text(&member.value, {"task"});
  if (!group.empty()) return choose_group(group, own, above, findings);
  if (task.empty()) return wrong(findings, member, "names neither a task nor a group", "write task: and its name");
  if (!named_.contains(task) && !tags_.contains(task))
    return choose_task(std::string(task), own, &member, above, findings);
  Above with = above;
  own.erase(own.find("task"));
  for (auto& [key, node] : own) with.settings.insert_or_assign(key, std::move(node));
  choose_name(task, &member, "", with, findings);
}

}  // namespace stackgate::evaluator::harness
