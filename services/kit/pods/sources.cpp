#include "services/kit/grammar/canonical_quantity.hpp"
#include "services/kit/pods/members.hpp"
#include "services/kit/pods/pod.hpp"

namespace stackgate::pods {
namespace {

/// {"name": …, and what `members` writes}
template <class T, class Members>
T entry(std::string_view name, Members&& members) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("name", name);
    members(out);
  });
  return {std::string(name), std::move(body)};
}

EnvVar env_from(std::string_view name, std::string_view source, auto&& reference) {
  return entry<EnvVar>(
      name, [&](json::Writer& out) { out.object("valueFrom", [&] { out.object(source, [&] { reference(out); }); }); });
}

Volume make_volume(std::string_view name, std::string_view source, auto&& members) {
  return entry<Volume>(name, [&](json::Writer& out) { out.object(source, [&] { members(out); }); });
}

void write_items(json::Writer& out, const std::vector<KeyToPath>& items) {
  if (items.empty()) return;
  out.array("items", [&] {
    for (const KeyToPath& item : items) {
      out.object([&] {
        out.member("key", std::string_view(item.key));
        out.member("path", std::string_view(item.path));
      });
    }
  });
}

void write_size(json::Writer& out, std::string_view size) {
  member_text(out, "sizeLimit", validate::grammar::canonical_quantity(size).value_or(std::string(size)));
}

}  // namespace

EnvVar env_value(std::string_view name, std::string_view value) {
  return entry<EnvVar>(name, [&](json::Writer& out) { member_text(out, "value", value); });
}

EnvVar env_text(std::string_view name, std::string_view text) {
  std::string literal;
  for (const char c : text) literal.append(c == '$' ? 2 : 1, c);
  return env_value(name, literal);
}

EnvVar env_from_secret(std::string_view name, std::string_view secret, std::string_view key, bool optional) {
  return env_from(name, "secretKeyRef", [&](json::Writer& out) {
    out.member("name", secret);
    out.member("key", key);
    if (optional) out.member("optional", true);
  });
}

EnvVar env_from_field(std::string_view name, std::string_view path) {
  return env_from(name, "fieldRef", [&](json::Writer& out) {
    out.member("apiVersion", "v1");
    out.member("fieldPath", path);
  });
}

Volume secret_volume(std::string_view name, std::string_view secret, const std::vector<KeyToPath>& items, int mode,
                     bool optional) {
  return make_volume(name, "secret", [&](json::Writer& out) {
    out.member("secretName", secret);
    write_items(out, items);
    out.member("defaultMode", mode);
    if (optional) out.member("optional", true);
  });
}

Volume config_map_volume(std::string_view name, std::string_view map, const std::vector<KeyToPath>& items,
                         std::optional<int> mode, bool optional) {
  return make_volume(name, "configMap", [&](json::Writer& out) {
    out.member("name", map);
    write_items(out, items);
    if (mode) out.member("defaultMode", *mode);
    if (optional) out.member("optional", true);
  });
}

Volume claim_volume(std::string_view name, std::string_view claim, bool read_only) {
  return make_volume(name, "persistentVolumeClaim", [&](json::Writer& out) {
    out.member("claimName", claim);
    if (read_only) out.member("readOnly", true);
  });
}

Volume memory_volume(std::string_view name, std::string_view size) {
  return make_volume(name, "emptyDir", [&](json::Writer& out) {
    out.member("medium", "Memory");
    write_size(out, size);
  });
}

Volume empty_volume(std::string_view name, std::string_view size) {
  return make_volume(name, "emptyDir", [&](json::Writer& out) { write_size(out, size); });
}

}  // namespace stackgate::pods
