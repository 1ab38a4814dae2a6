#include "reconcile/plan/parts/container.hpp"

#include <unordered_set>

#include "reconcile/plan/parts/canonical.hpp"

namespace stackgate::reconcile::parts {
namespace {

template <class Members>
std::string object_text(Members&& members) {
  std::string text;
  json::Writer out(text);
  out.object([&] { members(out); });
  return text;
}

EnvVar env_from(std::string_view name, std::string_view source, auto&& reference) {
  return {std::string(name), object_text([&](json::Writer& out) {
            out.member("name", name);
            out.key("valueFrom");
            out.object([&] {
              out.key(source);
              out.object([&] { reference(out); });
            });
          })};
}

EnvVar env_from_key(std::string_view name, std::string_view source, std::string_view object, std::string_view key,
                    bool optional) {
  return env_from(name, source, [&](json::Writer& out) {
    out.member("name", object);
    out.member("key", key);
    if (optional) out.member("optional", true);
  });
}

void write_items(json::Writer& out, const std::vector<KeyToPath>& items) {
  if (items.empty()) return;
  out.key("items");
  out.array([&] {
    for (const KeyToPath& item : items) {
      out.object([&] {
        out.member("key", std::string_view(item.key));
        out.member("path", std::string_view(item.path));
      });
    }
  });
}

Volume make_volume(std::string_view name, std::string_view source, auto&& members) {
  return {std::string(name), object_text([&](json::Writer& out) {
            out.member("name", name);
            out.key(source);
            out.object([&] { members(out); });
          })};
}

void write_texts(json::Writer& out, std::string_view key, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  out.key(key);
  out.array([&] {
    for (const std::string& text : texts) out.value(std::string_view(text));
  });
}

void write_ports(json::Writer& out, const Container& container) {
  if (!container.serves && container.ports.empty()) return;
  const auto write = [&out](std::string_view name, int number) {
    out.object([&] {
      out.member("name", name);
      out.member("containerPort", number);
      out.member("protocol", "TCP");
    });
  };
  out.key("ports");
  out.array([&] {
    if (container.serves) write(api_port_name, workload_port);
    for (const NamedPort& port : container.ports) write(port.name, port.number);
  });
}

// Kubernetes lets the last entry of a name win, and server-side apply refuses two: only the last one is written.
void write_env(json::Writer& out, const std::vector<EnvVar>& env) {
  if (env.empty()) return;
  std::unordered_set<std::string_view> seen;
  std::vector<const EnvVar*> kept;
  for (auto each = env.rbegin(); each != env.rend(); ++each)
    if (seen.insert(each->name).second) kept.push_back(&*each);
  out.key("env");
  out.array([&] {
    for (auto each = kept.rbegin(); each != kept.rend(); ++each) out.raw((*each)->body);
  });
}

void write_mounts(json::Writer& out, const std::vector<Mount>& mounts) {
  if (mounts.empty()) return;
  out.key("volumeMounts");
  out.array([&] {
    for (const Mount& mount : mounts) {
      out.object([&] {
        out.member("name", std::string_view(mount.volume));
        out.member("mountPath", std::string_view(mount.path));
        member_text(out, "subPath", mount.sub_path);
        if (mount.read_only) out.member("readOnly", true);
      });
    }
  });
}

void write_probe(json::Writer& out, std::string_view key, const std::optional<Probe>& probe) {
  if (!probe) return;
  out.key(key);
  out.object([&] {
    out.key("httpGet");
    out.object([&] {
      out.member("path", std::string_view(probe->path));
      out.member("port", api_port_name);
      out.member("scheme", "HTTP");
    });
    if (probe->initial_delay != 0) out.member("initialDelaySeconds", probe->initial_delay);
    out.member("periodSeconds", probe->period);
    out.member("timeoutSeconds", probe->timeout);
    out.member("failureThreshold", probe->failures);
    out.member("successThreshold", probe->successes);
  });
}

}  // namespace

EnvVar env_value(std::string_view name, std::string_view value) {
  return {std::string(name), object_text([&](json::Writer& out) {
            out.member("name", name);
            member_text(out, "value", value);
          })};
}

EnvVar env_from_secret(std::string_view name, std::string_view secret, std::string_view key, bool optional) {
  return env_from_key(name, "secretKeyRef", secret, key, optional);
}

EnvVar env_from_config_map(std::string_view name, std::string_view map, std::string_view key, bool optional) {
  return env_from_key(name, "configMapKeyRef", map, key, optional);
}

EnvVar env_from_field(std::string_view name, std::string_view path) {
  return env_from(name, "fieldRef", [&](json::Writer& out) {
    out.member("apiVersion", "v1");
    out.member("fieldPath", path);
  });
}

std::vector<EnvVar> read_env(const Field& env) {
  std::vector<EnvVar> out;
  out.reserve(env.size());
  for (const Field& item : env.items())
    if (const auto name = item["name"].text()) out.push_back({std::string(*name), canonical_json(item)});
  return out;
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
    if (!size.empty()) out.member("sizeLimit", std::string_view(quantity_text(size)));
  });
}

Volume empty_volume(std::string_view name, std::string_view size) {
  return make_volume(name, "emptyDir", [&](json::Writer& out) {
    if (!size.empty()) out.member("sizeLimit", std::string_view(quantity_text(size)));
  });
}

Probe read_probe(const Field& field, Probe out) {
  const auto take = [&field](std::string_view key, int& into) {
    if (const auto number = field[key].integer()) into = static_cast<int>(*number);
  };
  take("initialDelaySeconds", out.initial_delay);
  take("periodSeconds", out.period);
  take("timeoutSeconds", out.timeout);
  take("failureThreshold", out.failures);
  take("successThreshold", out.successes);
  return out;
}

void write_container(json::Writer& out, const Container& container) {
  out.object([&] {
    out.member("name", std::string_view(container.name));
    out.member("image", std::string_view(container.image));
    member_text(out, "imagePullPolicy", container.pull_policy);
    write_texts(out, "command", container.command);
    write_texts(out, "args", container.args);
    write_ports(out, container);
    write_env(out, container.env);
    if (!container.resources.empty()) {
      out.key("resources");
      out.raw(container.resources);
    }
    write_mounts(out, container.mounts);
    write_probe(out, "startupProbe", container.startup);
    write_probe(out, "readinessProbe", container.readiness);
    write_probe(out, "livenessProbe", container.liveness);
    // The status tells why a container ended: from its log, where it writes no message of its own.
    out.member("terminationMessagePolicy", "FallbackToLogsOnError");
    out.key("securityContext");
    out.object([&] {
      out.member("allowPrivilegeEscalation", false);
      out.key("capabilities");
      out.object([&] {
        out.key("drop");
        out.array([&] { out.value("ALL"); });
      });
      if (container.read_only_root) out.member("readOnlyRootFilesystem", true);
    });
  });
}

std::string read_resources(const Field& resources) {
  std::string text;
  json::Writer out(text);
  out.object([&] { members_canonical(out, resources, {"limits", "requests"}); });
  return text == "{}" ? std::string() : text;
}

std::string read_image(const Field& image, std::string_view fallback) {
  const auto tag = image["tag"].text();
  std::string out(image["repository"].text().value_or(fallback));
  if (!tag) return out;
  if (!image["repository"].present()) {
    out.resize(std::min(out.find('@'), out.size()));
    const std::size_t colon = out.rfind(':');  // of the tag, unless it is that of the registry's port
    if (colon != std::string::npos && out.find('/', colon) == std::string::npos) out.resize(colon);
  }
  return out.empty() ? out : out + ":" + std::string(*tag);
}

}  // namespace stackgate::reconcile::parts
