#include <cstdlib>
#include <deque>
#include <fstream>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/try.hpp"
#include "services/kit/kube/config.hpp"
#include "services/kit/yaml/parse.hpp"

namespace stackgate::kube {
namespace kubeconfig {

using json::Value;

/// One file, kept whole: values are views into its text.
struct File {
  std::string name;       // for messages
  std::string directory;  // what its relative paths start from
  std::string text;
  yaml::Stream stream;
  const Value* root = nullptr;
};

/// The entry of a cluster, user or context, with the file that it stands in.
struct Entry {
  Value body;  // null when it has none
  const File* file = nullptr;
};

std::string path_of(const Entry& entry, std::string_view key) {
  const std::string_view path = text_at(entry.body, key);
  if (path.empty() || path.front() == '/' || entry.file->directory.empty()) return std::string(path);
  return entry.file->directory + "/" + std::string(path);
}

std::expected<void, Error> read(File& file) {
  file.stream = yaml::parse(file.text);
  if (file.stream.failed) {
    const yaml::Place place = yaml::locate(file.text, file.stream.error.offset);
    return std::unexpected(
        Error{fmt::format("{}:{}:{}: {}", file.name, place.line, place.column, file.stream.error.message)});
  }
  if (file.stream.documents.empty() || !file.stream.documents.front().root.is_object())
    return std::unexpected(Error{fmt::format("{}: no kubeconfig: it holds no mapping", file.name)});
  file.root = &file.stream.documents.front().root;
  return {};
}

std::optional<Entry> find(const std::deque<File>& files, std::string_view list, std::string_view inner,
                          std::string_view name) {
  for (const File& file : files) {
    const Value* items = file.root->find(list);
    if (items == nullptr) continue;
    for (const Value& item : items->items())
      if (text_at(item, "name") == name) {
        const Value* body = item.find(inner);
        return Entry{body == nullptr ? Value() : *body, &file};
      }
  }
  return std::nullopt;
}

std::string names(const std::deque<File>& files, std::string_view list) {
  std::string out;
  for (const File& file : files)
    if (const Value* items = file.root->find(list); items != nullptr)
      for (const Value& item : items->items()) {
        out += out.empty() ? "" : ", ";
        out += text_at(item, "name");
      }
  return out.empty() ? "none" : out;
}

std::expected<Pem, Error> pem(const Entry& entry, std::string_view data_key, std::string_view file_key) {
  Pem out;
  if (const std::string_view data = text_at(entry.body, data_key); !data.empty()) {
    auto decoded = base64::decode(data);
    if (!decoded) return std::unexpected(Error{fmt::format("{}: {} is not base64", entry.file->name, data_key)});
    out.text = std::move(*decoded);
  } else {
    out.file = path_of(entry, file_key);
  }
  return out;
}

ExecPlugin exec_plugin(const Entry& user) {
  ExecPlugin out;
  const Value* exec = user.body.find("exec");
  if (exec == nullptr) return out;
  const Entry entry{*exec, user.file};
  out.command = text_at(*exec, "command");
  // kubectl: a command with a slash is relative to the kubeconfig, one without is looked for on PATH.
  if (out.command.find('/') != std::string::npos) out.command = path_of(entry, "command");
  out.api_version = text_at(*exec, "apiVersion");
  out.install_hint = text_at(*exec, "installHint");
  out.provide_cluster_info = json::flag_at(*exec, "provideClusterInfo");
  if (const Value* args = exec->find("args"); args != nullptr)
    for (const Value& arg : args->items()) out.args.emplace_back(arg.string());
  if (const Value* env = exec->find("env"); env != nullptr)
    for (const Value& each : env->items()) out.env.emplace_back(text_at(each, "name"), text_at(each, "value"));
  return out;
}

std::expected<Config, Error> select(const std::deque<File>& files, std::string_view wanted) {
  std::string_view context_name = wanted;
  for (const File& file : files) {
    if (!context_name.empty()) break;
    context_name = text_at(*file.root, "current-context");
  }
  const std::string& name = files.front().name;
  if (context_name.empty())
    return std::unexpected(
        Error{fmt::format("{}: no current-context; name one of: {}", name, names(files, "contexts"))});
  const auto context = find(files, "contexts", "context", context_name);
  if (!context)
    return std::unexpected(Error{
        fmt::format("{}: there is no context \"{}\"; there are: {}", name, context_name, names(files, "contexts"))});
  const std::string_view cluster_name = text_at(context->body, "cluster");
  const auto cluster = find(files, "clusters", "cluster", cluster_name);
  if (!cluster)
    return std::unexpected(Error{fmt::format("{}: context \"{}\" names the cluster \"{}\", which is not there", name,
                                             context_name, cluster_name)});
  const std::string_view user_name = text_at(context->body, "user");
  const auto user = find(files, "users", "user", user_name);
  if (!user && !user_name.empty())
    return std::unexpected(Error{
        fmt::format("{}: context \"{}\" names the user \"{}\", which is not there", name, context_name, user_name)});

  Config out;
  out.source = fmt::format("{}, context {}", cluster->file->name, context_name);
  out.server = text_at(cluster->body, "server");
  while (!out.server.empty() && out.server.back() == '/') out.server.pop_back();
  if (!out.server.starts_with("https://") && !out.server.starts_with("http://"))
    return std::unexpected(Error{fmt::format("{}: cluster \"{}\": server must be an http or https URL, not \"{}\"",
                                             name, cluster_name, out.server)});
  out.tls_server_name = text_at(cluster->body, "tls-server-name");
  out.proxy_url = text_at(cluster->body, "proxy-url");
  out.insecure_skip_tls_verify = json::flag_at(cluster->body, "insecure-skip-tls-verify");
  if (out.insecure_skip_tls_verify)
    out.warnings.push_back(fmt::format(
        "{}: cluster \"{}\" has insecure-skip-tls-verify: whoever stands between can read and change everything", name,
        cluster_name));
  out.ca = TRY(pem(*cluster, "certificate-authority-data", "certificate-authority"));
  if (const std::string_view ns = text_at(context->body, "namespace"); !ns.empty()) out.ns = ns;
  if (!user) return out;

  auto certificate = TRY(pem(*user, "client-certificate-data", "client-certificate"));
  auto key = TRY(pem(*user, "client-key-data", "client-key"));
  if (certificate.empty() != key.empty())
    return std::unexpected(
        Error{fmt::format("{}: user \"{}\" has a client {} without its {}", name, user_name,
                          key.empty() ? "certificate" : "key", key.empty() ? "key" : "certificate")});
  out.client_certificate = std::move(certificate);
  out.client_key = std::move(key);
  out.token = text_at(user->body, "token");
  out.token_file = path_of(*user, "tokenFile");
  out.username = text_at(user->body, "username");
  out.password = text_at(user->body, "password");
  out.exec = exec_plugin(*user);
  if (user->body.find("auth-provider") != nullptr)
    return std::unexpected(Error{fmt::format(
        "{}: user \"{}\" uses auth-provider, which Kubernetes has removed; use an exec plugin", name, user_name)});
  if (!out.exec.command.empty() && out.exec.api_version != "client.authentication.k8s.io/v1" &&
      out.exec.api_version != "client.authentication.k8s.io/v1beta1")
    return std::unexpected(Error{fmt::format(
        "{}: user \"{}\": exec.apiVersion \"{}\" is not known; use client.authentication.k8s.io/v1 or v1beta1", name,
        user_name, out.exec.api_version)});
  return out;
}

}  // namespace kubeconfig

std::expected<Config, Error> parse_kubeconfig(std::string_view text, std::string_view directory,
                                              std::string_view context) {
  std::deque<kubeconfig::File> files(1);
  files[0].name = "kubeconfig";
  files[0].directory = directory;
  files[0].text = text;
  TRY(kubeconfig::read(files[0]));
  return kubeconfig::select(files, context);
}

std::expected<Config, Error> load_kubeconfig(std::string_view names, std::string_view context) {
  std::deque<kubeconfig::File> files;
  const bool several = names.find(':') != std::string_view::npos;
  while (!names.empty()) {
    const std::size_t end = names.find(':');
    const std::string name(names.substr(0, end));
    names = end == std::string_view::npos ? std::string_view{} : names.substr(end + 1);
    if (name.empty()) continue;
    std::ifstream in(name, std::ios::binary);
    if (!in) {
      if (several) continue;
      return std::unexpected(Error{fmt::format("kubeconfig {} cannot be read", name)});
    }
    std::ostringstream text;
    text << in.rdbuf();
    kubeconfig::File& file = files.emplace_back();
    file.name = name;
    const std::size_t slash = name.rfind('/');
    file.directory = slash == std::string::npos ? "." : name.substr(0, slash);
    file.text = std::move(text).str();
    TRY(kubeconfig::read(file));
  }
  if (files.empty()) return std::unexpected(Error{"none of the kubeconfig files can be read"});
  return kubeconfig::select(files, context);
}

}  // namespace stackgate::kube
