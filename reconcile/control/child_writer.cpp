#include "reconcile/control/child_writer.hpp"

#include <deque>

#include <fmt/format.h>

#include "reconcile/compare/plan_hash.hpp"
#include "reconcile/control/ssh_key.hpp"
#include "services/kit/base/base64.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/json/read.hpp"
#include "services/kit/json/write.hpp"

namespace stackgate::reconcile {
namespace {

/// The data of a Secret that holds a new key pair.
std::string ssh_key_data() {
  const SshKey key = make_ssh_key();
  return json::object_text([&](json::Writer& writer) {
    writer.member("id", base64::encode(key.private_key));
    writer.member("id.pub", base64::encode(key.public_key + "\n"));
  });
}

/// Fails on the server when the entry is not the one that was meant.
std::string adopt_patch(int entry) {
  std::string out;
  json::Writer writer(out);
  const std::string at = fmt::format("/metadata/managedFields/{}", entry);
  const auto step = [&](std::string_view op, std::string_view member, std::string_view value) {
    writer.object([&] {
      writer.member("op", op);
      writer.member("path", fmt::format("{}/{}", at, member));
      writer.member("value", value);
    });
  };
  writer.array([&] {
    step("test", "manager", "stackgate");
    step("test", "operation", "Update");
    step("replace", "operation", "Apply");
  });
  return out;
}

}  // namespace

std::vector<std::expected<void, kube::ApiError>> ChildWriter::create(const Key& key,
                                                                     std::span<const Creation> creations) const {
  std::vector<std::expected<void, kube::ApiError>> out;
  std::deque<Store::OwnWrite> writing;
  std::vector<kube::Request> requests;
  requests.reserve(creations.size());
  for (const Creation& each : creations) {
    const DesiredChild& child = *each.child;
    std::string body =
        with_plan_hash(child.body.root(), each.hash, child.generate_ssh_key ? ssh_key_data() : std::string());
    writing.emplace_back(store_, key, child.type, child.name);
    requests.push_back(kube::Request::create(watches_.resource(child.type), key.ns, std::move(body)));
  }
  auto answers = client_.send_many(std::move(requests));
  out.reserve(answers.size());
  for (std::size_t i = 0; i < answers.size(); ++i)
    out.push_back(created(key, *creations[i].child, std::move(answers[i])));
  return out;
}

std::expected<void, kube::ApiError> ChildWriter::created(const Key& key, const DesiredChild& child,
                                                         kube::Result<kube::Response> answer) const {
  const auto made = kube::object_of(std::move(answer));
  if (made) {
    store_.wrote_child(child.type, made->root(), key);
    return {};
  }
  if (made.error().conflict()) (void)TRY(look_again(key, child.type, child.name));
  return std::unexpected(made.error());
}

std::expected<void, kube::ApiError> ChildWriter::update(const Key& key, const DesiredChild& child,
                                                        std::string_view hash, const StoredChild& found) const {
  const kube::ResourceType type = watches_.resource(child.type);
  const Store::OwnWrite writing(store_, key, child.type, child.name);
  if (found.create_entry >= 0 && !same_shape(found.plan_hash, hash)) {
    auto adopted = client_.patch(type, key.ns, child.name, kube::PatchType::json, adopt_patch(found.create_entry));
    if (!adopted) {
      // Somebody else's write moved the entry: what is stored now shows where it is.
      (void)TRY(look_again(key, child.type, child.name));
      return std::unexpected(std::move(adopted.error()));
    }
    store_.wrote_child(child.type, adopted->root(), key);
  }
  const std::string body = with_plan_hash(child.body.root(), hash);
  auto applied = client_.apply(type, key.ns, child.name, body);
  // An API server that is older than a field drops it on create, but refuses to apply it.
  if (!applied && applied.error().message.contains("field not declared in schema"))
    applied = client_.patch(type, key.ns, child.name, kube::PatchType::strategic, body);
  // A port whose number somebody changed is another item to apply, beside ours and of the same name: only a patch that
  // replaces lists takes it away.
  if (!applied && applied.error().code == 422 && applied.error().message.contains("Duplicate value"))
    applied = client_.patch(type, key.ns, child.name, kube::PatchType::merge, body);
  if (!applied) return std::unexpected(std::move(applied.error()));
  store_.wrote_child(child.type, applied->root(), key, hash);
  return {};
}

std::expected<void, kube::ApiError> ChildWriter::adopt(const Key& key, const json::Value& body,
                                                       const StoredChild& found) const {
  const json::Value* owners = json::at(&body, {"metadata", "ownerReferences"});
  std::string patch;
  json::Writer writer(patch);
  writer.object([&] {
    writer.object("metadata", [&] {
      writer.member("uid", found.uid);
      writer.member("resourceVersion", std::to_string(found.version));
      if (owners != nullptr) writer.member("ownerReferences", *owners);
    });
  });
  // Another manager's name: a second entry of ours would be taken for the one that the POST left, see create_entry().
  const std::string path =
      kube::object_path(watches_.resource(found.type), key.ns, found.name) + "?fieldManager=stackgate-adoption";
  const Store::OwnWrite writing(store_, key, found.type, found.name);
  const auto adopted =
      kube::object_of(client_.request("PATCH", path, std::move(patch), "application/merge-patch+json"));
  if (adopted) {
    store_.wrote_child(found.type, adopted->root(), key);
    return {};
  }
  if (adopted.error().conflict()) (void)TRY(look_again(key, found.type, found.name));
  return std::unexpected(adopted.error());
}

std::expected<void, kube::ApiError> ChildWriter::remove(const Key& key, const StoredChild& found) const {
  auto removed = client_.remove(watches_.resource(found.type), key.ns, found.name, {.uid = found.uid});
  if (removed || removed.error().not_found()) {
    store_.forget_child(key, found.type, found.name, found.uid);
    return {};
  }
  // A conflict may mean that another object has the name by now, or only that somebody wrote to this one meanwhile. To
  // forget it then would leave it for ever, since no event brings it back.
  if (removed.error().conflict()) (void)TRY(look_again(key, found.type, found.name));
  return std::unexpected(std::move(removed.error()));
}

std::expected<bool, kube::ApiError> ChildWriter::look_again(const Key& key, ChildType type,
                                                            std::string_view name) const {
  auto found = client_.get(watches_.resource(type), key.ns, name);
  if (found) {
    store_.wrote_child(type, found->root(), key);
    return false;
  }
  if (!found.error().not_found()) return std::unexpected(std::move(found.error()));
  store_.forget_child(key, type, name, {});
  return true;
}

}  // namespace stackgate::reconcile
