// AdmissionReview admission.k8s.io/v1 as plain values: reading a request, writing an answer. No I/O.
// Source: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/json/value.hpp"

namespace stackgate::webhook {

enum class Operation : std::uint8_t { create, update, remove, connect };
std::string_view to_string(Operation operation);  // the wire word: CREATE, UPDATE, DELETE, CONNECT

/// Views into the parsed document.
struct ReviewRequest {
  std::string_view uid;
  std::string_view group, version, kind;
  std::string_view sub_resource;
  std::string_view ns;
  std::string_view name;  // or metadata.generateName, when the name is not given yet
  std::string_view user;
  Operation operation = Operation::create;
  bool dry_run = false;
  const json::Value* object = nullptr;      // nullptr on deletion
  const json::Value* old_object = nullptr;  // nullptr on creation
};

/// Why a body is no AdmissionReview that this server can answer. The caller answers with HTTP 400: the API server then
/// applies its failure policy.
struct ReviewError {
  std::string message;
  std::string uid;  // empty when it could not be read
};

std::expected<ReviewRequest, ReviewError> read_review(const json::Value& root);

/// The uid of a body that is no valid JSON, if it can be made out; for the log and the answer.
std::string salvage_uid(std::string_view body);

/// Views into the findings that it was made of.
struct Cause {
  std::string_view field;
  std::string_view reason;  // FieldValueInvalid, FieldValueRequired, …
  std::string message;
};

/// Its views are into the request, the findings, or for ever.
struct Answer {
  std::string_view uid;
  bool allowed = true;
  // The rest of a denial; ignored when allowed.
  int code = 422;
  std::string_view reason = "Invalid";
  std::string message;
  std::string_view name, group, kind;
  std::vector<Cause> causes;
  // Of both.
  std::vector<std::string> warnings;
  std::vector<std::pair<std::string_view, std::string>> audit_annotations;
};

/// Appends the AdmissionReview with its response as JSON.
void write_review(std::string& out, const Answer& answer);

}  // namespace stackgate::webhook
