// The program, but for main(): its fail points are for tests.
#pragma once
#include "services/puller/transfer/download.hpp"

namespace stackgate::puller {

int run(int argc, char** argv, const FailPoint& fail_point);

}  // namespace stackgate::puller
