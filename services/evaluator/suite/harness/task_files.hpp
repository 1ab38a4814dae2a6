// The task files of a data set: which tasks, groups and tags they name, and the settings of those that are asked for.
// Source: lm-evaluation-harness' docs/task_guide.md and new_task_guide.md, written in other words in README.md.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/evaluator/suite/data_source.hpp"
#include "services/evaluator/suite/task.hpp"
#include "services/kit/findings/finding.hpp"
#include "services/kit/json/value.hpp"
#include "services/kit/yaml/lines.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::evaluator::harness {

inline constexpr std::size_t most_task_files = 2'000;
inline constexpr std::size_t largest_task_file = 1U << 20U;  // bytes
inline constexpr std::size_t most_tasks = 1'000;             // of one evaluation

/// One file, read. Values are views into it.
struct TaskFile {
  std::string path{}, text{};
  yaml::Stream yaml{};
  std::unique_ptr<yaml::Lines> lines{};
  std::string fault{};  // why it is no YAML, with `fault_line`
  std::uint32_t fault_line = 0;

  /// Whether a value has the tag "!function": it names Python code.
  bool is_function(const json::Value& value) const;
};

/// A value, the file that it stands in, and its path of keys there: "metric_list[0].metric".
struct Node {
  json::Value value{};
  const TaskFile* file = nullptr;
  std::string key{};

  bool is_function() const { return file->is_function(value); }
  /// "tasks/x.yaml:12".
  std::string place() const;
  Node member(const json::Member& of) const;
  Node item(std::size_t index) const;
};

void wrong(validate::Findings& findings, const Node& at, std::string problem, std::string fix,
           validate::Severity severity = validate::Severity::error);

using Settings = std::map<std::string, Node, std::less<>>;
/// metadata.version as text.
std::string version_of(const Settings& settings);

/// A task as it is to be run: with what it includes, and what its groups set.
struct ChosenTask {
  std::string name{};
  Settings settings{};
  std::vector<TaskGroup> groups{};  // all that it counts in
};

/// Not thread-safe.
class TaskFiles {
 public:
  explicit TaskFiles(const DataSource& data);

  /// The tasks that names of tasks, groups and tags stand for, each once, in order. Places of names are "tasks[i]".
  std::vector<ChosenTask> choose(std::span<const std::string> names, validate::Findings& findings);

 private:
  struct Named {
    enum class Kind : std::uint8_t { task, group } kind{};
    Settings settings{};
    std::vector<std::string> others{};  // places of files that name it, too
  };
  struct Above {  // what a task is reached through
    Settings settings{};
    std::vector<TaskGroup> groups{};
    std::size_t depth = 0;
  };

  const TaskFile& read(const DataSource& data, const std::string& path);
  void name_them(const DataSource& data);
  Settings settings_of(const DataSource& data, const TaskFile& file, std::size_t depth, validate::Findings& findings);
  void include(const DataSource& data, const TaskFile& file, const json::Member& member, std::size_t depth,
               Settings& out, validate::Findings& findings);
  const TaskFile* find_file(const DataSource& data, std::string_view path);

  void choose_name(std::string_view name, const Node* from, std::string_view place, const Above& above,
                   validate::Findings& findings);
  void choose_task(std::string name, Settings settings, const Node* from, const Above& above,
                   validate::Findings& findings);
  void choose_group(std::string_view name, const Settings& settings, const Above& above, validate::Findings& findings);
  void choose_member(const Node& member, const Above& above, validate::Findings& findings);
  void unknown_name(std::string_view name, const Node* from, std::string_view place, validate::Findings& findings);

  std::deque<TaskFile> files_;
  std::map<std::string, Named, std::less<>> named_;
  std::map<std::string, std::vector<std::string>, std::less<>> tags_;  // names of tasks
  std::map<std::string, validate::Findings, std::less<>> faults_;      // of a name's file and what it includes
  std::vector<ChosenTask> chosen_;
  std::set<std::string, std::less<>> open_groups_;
  bool too_many_ = false;
};

}  // namespace stackgate::evaluator::harness
