// The lines between the server and worker.py: JSON, one object each. Pure.
#pragma once
#include <expected>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "services/guardrail/configuration/configuration.hpp"
#include "services/guardrail/dialog/turn.hpp"

namespace stackgate::guardrail {

/// The longest line that is read.
inline constexpr std::size_t longest_worker_line = 4U << 20U;

struct WorkerStart {
  const std::vector<PythonFile>& files;
  bool network = false;
  std::uint32_t seconds = 10;  // of CPU, for one action
};
std::string to_line(const WorkerStart& start);
/// `request` with what its action may read.
std::string to_line(const ActionRequest& request);
/// A filter or an output parser.
struct FunctionRequest {
  CodeFunction kind = CodeFunction::filter;
  std::string_view name;
  const jinja::Arguments& arguments;
};
std::string to_line(const FunctionRequest& request);
/// A model's answer, or why there is none.
std::string to_line(const std::expected<std::string, std::string>& answer);

struct WorkerReady {
  std::vector<std::string> actions{}, filters{}, parsers{};
};
/// It asks a model: the members of the request as JSON.
struct WorkerAsks {
  std::string prompt;
  std::vector<std::string> stop{};
  double temperature = -1;      // below 0: not given
  std::int64_t max_tokens = 0;  // 0: not given
};
struct WorkerDone {
  ActionResult result;
};
struct WorkerFault {
  std::string error;
  std::string file{};  // of code that cannot be loaded: "actions.py"
  std::uint32_t line = 0;
};
using WorkerLine = std::variant<WorkerReady, WorkerAsks, WorkerDone, WorkerFault>;
/// A line that is none of these is a WorkerFault.
WorkerLine read_worker_line(std::string_view line);

}  // namespace stackgate::guardrail
