#include "services/kit/run/fail_point.hpp"
#include "services/trainer/program/run.hpp"

int main(int argc, char** argv) {
  using namespace stackgate;
  const run::FailPoint fail = run::fail_point_of_environment();
  return trainer::run(argc, argv, fail);
}
