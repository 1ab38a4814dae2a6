#include "services/kit/kube/resource.hpp"

#include "services/kit/base/percent.hpp"

namespace stackgate::kube {

std::string to_string(const ResourceType& type) {
  std::string out(type.plural);
  if (!type.group.empty()) out.append(".").append(type.group);
  return out;
}

std::string escape(std::string_view text) {
  // "." and ".." are path steps even though each character is unreserved.
  if (text == ".") return "%2E";
  if (text == "..") return "%2E%2E";
  return percent_encode(text);
}

std::string version_path(const ResourceType& type) {
  std::string out = type.group.empty() ? "/api/" : "/apis/";
  if (!type.group.empty()) out.append(type.group).append("/");
  return out.append(type.version);
}

std::string collection_path(const ResourceType& type, std::string_view ns) {
  std::string out = version_path(type);
  if (type.namespaced && !ns.empty()) out.append("/namespaces/").append(escape(ns));
  out.append("/").append(type.plural);
  return out;
}

std::string object_path(const ResourceType& type, std::string_view ns, std::string_view name,
                        std::string_view subresource) {
  std::string out = collection_path(type, ns);
  out.append("/").append(escape(name));
  if (!subresource.empty()) out.append("/").append(subresource);
  return out;
}

Query& Query::add(std::string_view key, std::string_view value) {
  if (value.empty()) return *this;
  text_ += text_.empty() ? '?' : '&';
  text_.append(key).append("=").append(escape(value));
  return *this;
}

}  // namespace stackgate::kube
