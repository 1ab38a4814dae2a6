// run_program.py, which runs one program, behind kit/subprocess' confine.py.
#pragma once
#include <string>

namespace stackgate::evaluator {

const std::string& run_program_script();

}  // namespace stackgate::evaluator
