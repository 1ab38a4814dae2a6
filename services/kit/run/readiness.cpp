#include "services/kit/run/readiness.hpp"

#include "services/kit/http/message.hpp"

namespace stackgate::run {

void Readiness::add(std::string name, Check check) {
  const std::lock_guard lock(mutex_);
  checks_.push_back({std::move(name), std::move(check)});
}

void Readiness::add_warning(std::string name, Check check) {
  const std::lock_guard lock(mutex_);
  checks_.push_back({std::move(name), std::move(check), false});
}

Readiness::Report Readiness::report() const {
  Report report{.ready = true};
  const auto note = [&report](const std::string& name, const std::string& reason) {
    report.ready = report.ready && reason.empty();
    report.text += reason.empty() ? "[+]" + name + " ok\n" : "[-]" + name + " failed: " + reason + "\n";
  };
  const std::lock_guard lock(mutex_);
  for (const auto& [name, check, counts] : checks_) {
    const std::string reason = check();
    report.items.push_back({name, reason, counts});
    if (counts || reason.empty())
      note(name, reason);
    else
      report.text.append("[!]").append(name).append(": ").append(reason).append("\n");
  }
  report.stopping = stopping_;
  if (report.stopping) note("shutdown", "the process is stopping");
  return report;
}

http::Handler health_handler(const Readiness& readiness) {
  return [&readiness](const http::Request& request, http::Responder respond) {
    if (request.method != "GET" && request.method != "HEAD") return respond(http::not_allowed("GET, HEAD"));
    if (request.path == "/healthz" || request.path == "/livez") return respond(http::text_answer(200, "ok\n"));
    if (request.path != "/readyz")
      return respond(http::text_answer(404, "404 here are /healthz, /livez and /readyz\n"));
    const auto report = readiness.report();
    const bool verbose =
        request.query == "verbose" || request.query.starts_with("verbose=") || request.query.starts_with("verbose&");
    if (report.ready && !verbose) return respond(http::text_answer(200, "ok\n"));
    const std::string_view end = report.ready ? "readyz check passed\n" : "readyz check failed\n";
    respond(http::text_answer(report.ready ? 200 : 503, report.text + std::string(end)));
  };
}

}  // namespace stackgate::run
