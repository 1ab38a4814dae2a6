// What an API server was asked, from its audit log (level Metadata): by whom, when, with which answer.
// Source: https://kubernetes.io/docs/tasks/debug/debug-cluster/audit/
#pragma once
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/json/parse.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/kube/object.hpp"

namespace stackgate::bench {

struct Asked {
  std::string verb, resource, subresource, ns, agent;
  int code = 0;
  double received = 0, answered = 0;  // seconds of the day
  bool is_write() const { return verb != "get" && verb != "list" && verb != "watch"; }
};

/// "2026-01-31T23:59:59.123456Z" as seconds of the day; runs over midnight are not measured.
inline double seconds_of_day(std::string_view stamp) {
  if (stamp.size() < 20) return 0;
  const auto number = [&](std::size_t at, std::size_t size) { return std::stod(std::string(stamp.substr(at, size))); };
  return number(11, 2) * 3600 + number(14, 2) * 60 + std::stod(std::string(stamp.substr(17, stamp.size() - 18)));
}

class AuditLog {
 public:
  explicit AuditLog(std::string path) : path_(std::move(path)) {}

  /// What was answered since the last call, watches when they ended. `agent` is a part of the user agent.
  std::vector<Asked> read(std::string_view agent) {
    std::vector<Asked> out;
    std::ifstream file(path_);
    file.seekg(at_);
    for (std::string line; std::getline(file, line);) {
      if (file.eof()) break;  // half a line: the next call reads it
      at_ = file.tellg();
      json::Document document;
      if (!json::parse(line, document)) continue;
      const json::Value& event = document.root;
      const auto text = [&](std::initializer_list<std::string_view> path) {
        const json::Value* found = json::at(&event, path);
        return found == nullptr ? std::string() : std::string(found->string());
      };
      if (text({"stage"}) != "ResponseComplete" || !text({"userAgent"}).contains(agent)) continue;
      const json::Value* code = json::at(&event, {"responseStatus", "code"});
      out.push_back({text({"verb"}), text({"objectRef", "resource"}), text({"objectRef", "subresource"}),
                     text({"objectRef", "namespace"}), text({"userAgent"}),
                     code == nullptr ? 0 : static_cast<int>(code->integer()),
                     seconds_of_day(text({"requestReceivedTimestamp"})), seconds_of_day(text({"stageTimestamp"}))});
    }
    return out;
  }

 private:
  const std::string path_;
  std::streamoff at_ = 0;
};

inline std::size_t count(const std::vector<Asked>& asked, const std::function<bool(const Asked&)>& is) {
  std::size_t out = 0;
  for (const Asked& each : asked) out += is(each) ? 1U : 0U;
  return out;
}

}  // namespace stackgate::bench
