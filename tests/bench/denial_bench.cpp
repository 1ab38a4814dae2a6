// What a refused review costs inside the process: parse, rules, and wording the refusal; without sockets and the log.
#include <chrono>
#include <cstdio>
#include <ctime>

#include <fmt/format.h>

#include "services/kit/json/parse.hpp"
#include "tests/bench/review_bodies.hpp"
#include "webhook/admit.hpp"

namespace {

double cpu_microseconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

}  // namespace

int main() {
  using namespace stackgate;
  const std::string body = bench::refused_review();
  json::Document document;
  std::string out;
  constexpr int turns = 40'000;
  double best = 1e9;
  for (int round = 0; round < 5; ++round) {
    const double begin = cpu_microseconds();
    for (int i = 0; i < turns; ++i) {
      out.clear();
      const auto review = webhook::read_review(*json::parse(body, document));
      webhook::write_review(out, webhook::admit(webhook::Stage::validate, *review, nullptr, {}).answer);
    }
    best = std::min(best, (cpu_microseconds() - begin) / turns);
  }
  fmt::print(
      "{{\"name\":\"denial_six_faults\",\"value\":{:.2f},\"unit\":\"us\",\"limit\":12,\"within\":{},\"beside\":null}}"
      "\n",
      best, best <= 12);
  return best <= 12 ? 0 : 1;
}
