// Files of a run, written through MLflow's tracking server (its proxy "mlflow-artifacts"). Pure.
// Source: https://mlflow.org/docs/latest/tracking/server.html; _upload_artifact of mlflow/server/handlers.py.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/mlflow/requests.hpp"

namespace stackgate::mlflow {

/// Its answer has the run's "artifact_uri".
Call get_run(std::string_view run);
/// Of a good answer to get_run(); "": the run has none. An error is a sentence.
std::expected<std::string, std::string> read_artifact_uri(std::string_view body);

/// "1/abc/artifacts" of "mlflow-artifacts:/1/abc/artifacts", percent-encoded. The error, a sentence without the URI,
/// which may hold a password: who wants to write there needs more than the server.
std::expected<std::string, std::string> artifact_root(std::string_view uri);

/// A file of the run: what was there under that name before is replaced. `root`: artifact_root(); `name`: segments,
/// none of them ".." or ".".
Call put_artifact(std::string_view root, std::string_view name, std::string content = {});

/// Of an answer: the server was started without the proxy. Its 503 then does not pass.
bool has_no_proxy(int status, std::string_view body);

}  // namespace stackgate::mlflow
