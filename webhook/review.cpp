#include "webhook/review.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "services/kit/json/write.hpp"

namespace stackgate::webhook {
namespace {

constexpr std::string_view review_version = "admission.k8s.io/v1";
constexpr std::array<std::string_view, 4> operation_words{"CREATE", "UPDATE", "DELETE", "CONNECT"};

const json::Value* object_at(const json::Value& parent, std::string_view key) {
  const json::Value* found = parent.find(key);
  return found != nullptr && found->is_object() ? found : nullptr;
}

std::string_view name_of(const json::Value* object) {
  const json::Value* metadata = object == nullptr ? nullptr : object_at(*object, "metadata");
  if (metadata == nullptr) return {};
  std::string_view name = text_at(*metadata, "name");
  return name.empty() ? text_at(*metadata, "generateName") : name;
}

}  // namespace

std::string_view to_string(Operation operation) { return operation_words[static_cast<std::size_t>(operation)]; }

std::expected<ReviewRequest, ReviewError> read_review(const json::Value& root) {
  if (!root.is_object()) return std::unexpected(ReviewError{"the body is no JSON object", {}});
  const json::Value* request = object_at(root, "request");
  std::string uid(request == nullptr ? std::string_view{} : text_at(*request, "uid"));
  auto refuse = [&](std::string message) { return std::unexpected(ReviewError{std::move(message), uid}); };

  if (text_at(root, "kind") != "AdmissionReview" || text_at(root, "apiVersion") != review_version)
    return refuse(fmt::format("expected kind AdmissionReview of {}, got kind \"{}\" of \"{}\"", review_version,
                              text_at(root, "kind"), text_at(root, "apiVersion")));
  if (request == nullptr) return refuse("the review has no request");
  if (uid.empty()) return refuse("request.uid is missing");

  ReviewRequest out;
  out.uid = text_at(*request, "uid");
  const json::Value* kind = object_at(*request, "kind");
  if (kind == nullptr || text_at(*kind, "kind").empty()) return refuse("request.kind is missing");
  out.group = text_at(*kind, "group");
  out.version = text_at(*kind, "version");
  out.kind = text_at(*kind, "kind");

  std::string_view word = text_at(*request, "operation");
  const auto* at = std::find(operation_words.begin(), operation_words.end(), word);
  if (at == operation_words.end()) return refuse(fmt::format("request.operation \"{}\" is not known", word));
  out.operation = static_cast<Operation>(at - operation_words.begin());

  out.sub_resource = text_at(*request, "subResource");
  out.ns = text_at(*request, "namespace");
  if (const json::Value* user = object_at(*request, "userInfo")) out.user = text_at(*user, "username");
  if (const json::Value* dry_run = request->find("dryRun")) out.dry_run = dry_run->boolean();
  out.object = object_at(*request, "object");
  out.old_object = object_at(*request, "oldObject");

  const bool writes = out.operation == Operation::create || out.operation == Operation::update;
  if (writes && out.object == nullptr) return refuse("request.object is missing");
  if (out.operation == Operation::update && out.old_object == nullptr) return refuse("request.oldObject is missing");

  out.name = text_at(*request, "name");
  if (out.name.empty()) out.name = name_of(out.object != nullptr ? out.object : out.old_object);
  return out;
}

std::string salvage_uid(std::string_view body) {
  // The API server writes the uid first in the request, long before anything that a user wrote.
  constexpr std::string_view head = "\"request\":{\"uid\":\"";
  const std::size_t at = body.substr(0, 1024).find(head);
  if (at == std::string_view::npos) return {};
  std::string_view rest = body.substr(at + head.size(), 65);
  const std::size_t end = rest.find_first_not_of("0123456789abcdefABCDEF-");
  if (end == std::string_view::npos || rest[end] != '"') return {};
  return std::string(rest.substr(0, end));
}

void write_review(std::string& out, const Answer& answer) {
  json::Writer w(out);
  w.object([&] {
    w.member("kind", "AdmissionReview");
    w.member("apiVersion", review_version);
    w.object("response", [&] {
      w.member("uid", answer.uid);
      w.member("allowed", answer.allowed);
      if (!answer.allowed) {
        w.object("status", [&] {
          w.member("status", "Failure");
          w.member("code", answer.code);
          w.member("reason", answer.reason);
          w.member("message", std::string_view(answer.message));
          w.object("details", [&] {
            w.member("name", answer.name);
            w.member("group", answer.group);
            w.member("kind", answer.kind);
            w.array("causes", [&] {
              for (const Cause& cause : answer.causes)
                w.object([&] {
                  w.member("reason", cause.reason);
                  w.member("message", std::string_view(cause.message));
                  w.member("field", cause.field);
                });
            });
          });
        });
      }
      if (!answer.warnings.empty()) {
        w.array("warnings", [&] {
          for (const std::string& warning : answer.warnings) w.value(std::string_view(warning));
        });
      }
      if (!answer.audit_annotations.empty()) {
        w.object("auditAnnotations", [&] {
          for (const auto& [key, value] : answer.audit_annotations) w.member(key, std::string_view(value));
        });
      }
    });
  });
}

}  // namespace stackgate::webhook
