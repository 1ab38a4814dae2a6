#include "services/kit/kube/resource.hpp"

namespace stackgate::kube {

std::string to_string(const ResourceType& type) {
  std::string out(type.plural);
  if (!type.group.empty()) out.append(".").append(type.group);
  return out;
}

std::string escape(std::string_view text) {
  constexpr std::string_view hex = "0123456789ABCDEF";
  std::string out;
  out.reserve(text.size());
  // "." and ".." are path steps even though each character is unreserved.
  const bool dots = text == "." || text == "..";
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '_' || c == '~' || (c == '.' && !dots);
    if (plain) {
      out += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out += '%';
      out += hex[byte >> 4U];
      out += hex[byte & 15U];
    }
  }
  return out;
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
