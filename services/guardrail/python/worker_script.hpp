// worker.py, which runs actions.py.
#pragma once
#include <string>

namespace stackgate::guardrail {

const std::string& worker_script();

}  // namespace stackgate::guardrail
