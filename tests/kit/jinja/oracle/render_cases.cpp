// Renders what tests/kit/jinja/oracle.sh compares with Jinja2: a JSON line {"template", "context"} in, a JSON line
// {"text"} or {"fault", "kind"} out. With --bench N: how long parsing and rendering the first line take.
#include <chrono>
#include <iostream>
#include <string>

#include <nlohmann/json.hpp>

#include "services/kit/jinja/template.hpp"

namespace {

using Json = nlohmann::ordered_json;
using stackgate::jinja::Environment;
using stackgate::jinja::Fault;
using stackgate::jinja::FaultKind;
using stackgate::jinja::Template;

Environment environment() {
  Environment out;
  out.clock = [] { return std::chrono::local_seconds(std::chrono::seconds(1'706'692'087)); };  // 2024-01-31T09:08:07
  return out;
}

Json faulty(const Fault& fault) {
  static constexpr const char* kinds[] = {"syntax", "undefined", "type", "limit", "raised"};
  return {{"fault", describe(fault)}, {"kind", kinds[static_cast<std::size_t>(fault.kind)]}};
}

Json rendered(const Json& job) {
  const auto parsed = Template::parse(job.at("template").get_ref<const std::string&>(), environment());
  if (!parsed) return faulty(parsed.error());
  const auto out = parsed->render(job.at("context"));
  return out ? Json{{"text", *out}} : faulty(out.error());
}

void bench(const Json& job, int rounds) {
  using Clock = std::chrono::steady_clock;
  const auto& source = job.at("template").get_ref<const std::string&>();
  const auto microseconds = [rounds](Clock::time_point since) {
    return std::chrono::duration<double, std::micro>(Clock::now() - since).count() / rounds;
  };
  auto began = Clock::now();
  for (int i = 0; i < rounds; ++i) (void)Template::parse(source, environment());
  const double parse = microseconds(began);
  const auto parsed = Template::parse(source, environment());
  began = Clock::now();
  for (int i = 0; i < rounds; ++i) (void)parsed->render(job.at("context"));
  std::cout << Json{{"parse_us", parse}, {"render_us", microseconds(began)}} << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  for (std::string line; std::getline(std::cin, line);) {
    const Json job = Json::parse(line);
    if (argc > 2) {
      bench(job, std::stoi(argv[2]));
      return 0;
    }
    std::cout << rendered(job).dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }
  return 0;
}
