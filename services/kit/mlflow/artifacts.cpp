#include "services/kit/mlflow/artifacts.hpp"

#include <fmt/format.h>

#include "services/kit/base/percent.hpp"
#include "services/kit/json/parse.hpp"

namespace stackgate::mlflow {
namespace artifacts_detail {

constexpr std::string_view scheme = "mlflow-artifacts";
constexpr std::size_t longest_scheme = 40;
constexpr json::ParseLimits limits{.max_depth = 32, .max_bytes = 1U << 20U};

/// "" where it is none of a path: the server refuses such a path, too.
std::string safe_segment(std::string_view encoded) {
  const std::string segment = percent_decoded(encoded).value_or(std::string(encoded));
  if (segment == "." || segment == ".." || segment.find_first_of(std::string_view("/\\\0", 3)) != std::string::npos)
    return {};
  return percent_encode(segment);
}

}  // namespace artifacts_detail

using namespace artifacts_detail;

Call get_run(std::string_view run) { return {"GET", "/api/2.0/mlflow/runs/get?run_id=" + percent_encode(run)}; }

std::expected<std::string, std::string> read_artifact_uri(std::string_view body) {
  json::Document document;
  const auto root = json::parse(body, document, limits);
  const json::Value* at = root ? &*root : nullptr;
  for (const std::string_view key : {"run", "info"})
    if (at != nullptr) at = at->find(key);
  if (at == nullptr) return std::unexpected("it answers without \"run.info\"");
  const json::Value* uri = at->find("artifact_uri");
  return std::string(uri == nullptr ? "" : uri->string());
}

std::expected<std::string, std::string> artifact_root(std::string_view uri) {
  if (uri.empty()) return std::unexpected("it names no place for the files of its runs");
  const std::size_t colon = uri.find(':');
  const std::string_view found = colon == std::string_view::npos ? "file" : uri.substr(0, colon);
  if (found != scheme)
    return std::unexpected(
        fmt::format("its runs keep their files at {}:, and it writes only those at {}: (of experiments made while it "
                    "runs with --serve-artifacts and without --default-artifact-root)",
                    found.substr(0, longest_scheme), scheme));
  std::string_view rest = uri.substr(colon + 1);
  // Credentials are for this server, and not for one that it names.
  if (rest.starts_with("//") && !rest.starts_with("///"))
    return std::unexpected("its runs keep their files at another server");
  std::string out;
  while (!rest.empty()) {
    const std::string_view segment = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), segment.size() + 1));
    if (segment.empty()) continue;
    const std::string safe = safe_segment(segment);
    if (safe.empty()) return std::unexpected("it keeps the files of its runs where no path leads");
    out += (out.empty() ? "" : "/") + safe;
  }
  if (out.empty()) return std::unexpected("it keeps the files of all its runs in one folder");
  return out;
}

Call put_artifact(std::string_view root, std::string_view name, std::string content) {
  return {"PUT", fmt::format("/api/2.0/mlflow-artifacts/artifacts/{}/{}", root, percent_encode(name, "/")),
          std::move(content), "application/octet-stream"};
}

bool has_no_proxy(int status, std::string_view body) {
  return status == 503 && body.find("--no-serve-artifacts") != std::string_view::npos;
}

}  // namespace stackgate::mlflow
