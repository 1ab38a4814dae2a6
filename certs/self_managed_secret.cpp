#include "certs/self_managed_secret.hpp"

#include "services/kit/base/base64.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::certs {
namespace {

std::string secret_entry(const json::Value& secret, std::string_view key) {
  const json::Value* data = secret.find("data");
  const json::Value* entry = data == nullptr ? nullptr : data->find(key);
  return entry == nullptr ? std::string() : base64::decode(entry->string()).value_or(std::string());
}

/// `nulls`: a merge patch deletes with null, a new object leaves out.
void write_data(json::Writer& w, const SelfManagedState& state, bool nulls) {
  const std::pair<std::string_view, std::string> entries[] = {
      {"tls.crt", state.leaf.certificates},  {"tls.key", state.leaf.key},
      {"ca.crt", trust_bundle(state)},       {"signing-ca.crt", state.signing.certificates},
      {"signing-ca.key", state.signing.key}, {"next-ca.crt", state.next.certificates},
      {"next-ca.key", state.next.key},       {"previous-ca.crt", state.previous},
  };
  w.object("data", [&] {
    for (const auto& [key, text] : entries) {
      if (!text.empty())
        w.member(key, std::string_view(base64::encode(text)));
      else if (nulls)
        w.member(key, nullptr);
    }
  });
}

}  // namespace

SelfManagedState read_secret(const json::Value& secret) {
  return {.signing = {secret_entry(secret, "signing-ca.crt"), secret_entry(secret, "signing-ca.key")},
          .next = {secret_entry(secret, "next-ca.crt"), secret_entry(secret, "next-ca.key")},
          .previous = secret_entry(secret, "previous-ca.crt"),
          .leaf = {secret_entry(secret, "tls.crt"), secret_entry(secret, "tls.key")}};
}

std::string new_secret(std::string_view name, const SelfManagedState& state) {
  return json::object_text([&](json::Writer& w) {
    w.member("apiVersion", "v1");
    w.member("kind", "Secret");
    w.member("type", "kubernetes.io/tls");
    w.object("metadata", [&] {
      w.member("name", name);
      w.object("labels", [&] {
        w.member("app.kubernetes.io/name", "stackgate");
        w.member("app.kubernetes.io/managed-by", "stackgate");
      });
    });
    write_data(w, state, false);
  });
}

std::string patch_of_secret(std::string_view resource_version, const SelfManagedState& state) {
  return json::object_text([&](json::Writer& w) {
    w.object("metadata", [&] { w.member("resourceVersion", resource_version); });
    write_data(w, state, true);
  });
}

}  // namespace stackgate::certs
