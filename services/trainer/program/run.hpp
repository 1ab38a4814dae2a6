// The program, but for main(): its fail points are for tests.
#pragma once
#include "services/trainer/checkpoint/checkpoint.hpp"

namespace stackgate::trainer {

int run(int argc, char** argv, const FailPoint& fail_point);

}  // namespace stackgate::trainer
