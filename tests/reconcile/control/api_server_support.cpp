#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tests/reconcile/control/api_server.hpp"

namespace stackgate::reconcile::tests {
namespace {

using Json = nlohmann::json;

http::Response failure(int status, std::string_view reason, std::string_view message) {
  return {
      .status = status,
      .body =
          Json{{"kind", "Status"}, {"status", "Failure"}, {"code", status}, {"reason", reason}, {"message", message}}
              .dump()};
}

http::Response found(int status, std::string object) { return {.status = status, .body = std::move(object)}; }

std::string collection_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// A path below a namespace names an object when it has two parts after the namespace; one outside has the type last.
bool names_an_object(const std::string& path) {
  const std::size_t ns = path.find("/namespaces/");
  if (ns == std::string::npos) return false;  // the operator reads no cluster-wide object by name
  return std::ranges::count(path.substr(ns + 12), '/') >= 2;
}

/// "/api/v1/namespaces/ml/services" → "/api/v1/services": what a watch of all namespaces asks for.
std::string everywhere(const std::string& collection) {
  const std::size_t ns = collection.find("/namespaces/");
  if (ns == std::string::npos) return collection;
  return collection.substr(0, ns) + collection.substr(collection.find('/', ns + 12));
}

bool is_ours(const std::string& object) {
  const auto labels = Json::parse(object)["metadata"].value("labels", Json::object());
  return labels.value("app.kubernetes.io/managed-by", "") == "stackgate";
}

std::uint64_t version_in(std::string_view query) {
  constexpr std::string_view key = "resourceVersion=";
  const std::size_t at = query.find(key);
  std::uint64_t out = 0;
  if (at != std::string_view::npos) std::from_chars(query.data() + at + key.size(), query.data() + query.size(), out);
  return out;
}

}  // namespace

ApiServer::ApiServer() {
  auto started = http::Server::start(
      {}, [this](const http::Request& request, http::Responder respond) { serve(request, std::move(respond)); });
  if (!started) throw std::runtime_error(started.error().message);
  server_ = *std::move(started);
  pump_ = std::jthread([this](const std::stop_token& stop) { pump(stop); });
}

ApiServer::~ApiServer() {
  pump_ = {};
  server_.reset();
}

std::string ApiServer::url() const { return fmt::format("http://127.0.0.1:{}", server_->port()); }

void ApiServer::refuse(std::string what, int status, std::string reason, std::string message, int times) {
  const std::scoped_lock lock(mutex_);
  faults_.push_back({std::move(what), status, times, std::move(reason), std::move(message)});
}

void ApiServer::before_answer(std::function<void(const std::string&, const std::string&)> call) {
  const std::scoped_lock lock(mutex_);
  before_answer_ = std::move(call);
}

std::string ApiServer::store(const std::string& path, Json object) {
  Json& metadata = object["metadata"];
  const auto before = objects_.find(path);
  if (before != objects_.end()) {
    Json old = Json::parse(before->second);
    old["metadata"].erase("resourceVersion");
    Json fresh = object;
    fresh["metadata"].erase("resourceVersion");
    if (old == fresh) return before->second;  // no change, no new version
  }
  ++version_;
  if (!metadata.contains("uid")) metadata["uid"] = fmt::format("uid-{}", version_);
  metadata["resourceVersion"] = std::to_string(version_);
  const std::string text = object.dump();
  events_.push_back({version_, before == objects_.end() ? "ADDED" : "MODIFIED", path, text});
  objects_[path] = text;
  changed_.notify_all();
  return text;
}

std::string ApiServer::put(const std::string& path, std::string_view text) {
  const std::scoped_lock lock(mutex_);
  return store(path, Json::parse(text));
}

std::string ApiServer::change(const std::string& path, std::string_view merge_patch) {
  const std::scoped_lock lock(mutex_);
  Json object = Json::parse(objects_.at(path));
  object.merge_patch(Json::parse(merge_patch));
  return store(path, std::move(object));
}

void ApiServer::remove(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(path);
  if (found == objects_.end()) return;
  Json object = Json::parse(found->second);
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  events_.push_back({version_, "DELETED", path, object.dump()});
  objects_.erase(found);
  changed_.notify_all();
}

std::string ApiServer::get(const std::string& path) const {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(path);
  return found == objects_.end() ? std::string() : found->second;
}

std::vector<std::string> ApiServer::take_requests() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(requests_, {});
}

int ApiServer::lists_of(const std::string& collection) const {
  const std::scoped_lock lock(mutex_);
  const auto found = lists_.find(collection);
  return found == lists_.end() ? 0 : found->second;
}

void ApiServer::compact() {
  const std::scoped_lock lock(mutex_);
  compacted_ = ++version_;
  changed_.notify_all();
}

void ApiServer::cut_watches() {
  const std::scoped_lock lock(mutex_);
  cut_ = true;
  changed_.notify_all();
}

void ApiServer::hide(const std::string& collection, bool hidden) {
  const std::scoped_lock lock(mutex_);
  std::erase(hidden_, collection);
  if (hidden) hidden_.push_back(collection);
}

// --- Answers ---

void ApiServer::serve(const http::Request& request, http::Responder respond) {
  const std::string path(request.path);
  const bool ours_only = request.query.contains("labelSelector=");
  const bool is_object = names_an_object(path);
  std::function<void(const std::string&, const std::string&)> before_answer;
  http::Response out;
  const std::string line = fmt::format("{} {}", request.method, path);
  {
    const std::scoped_lock lock(mutex_);
    const auto fault =
        std::ranges::find_if(faults_, [&](const Fault& each) { return each.times > 0 && line.contains(each.what); });
    if (is_object || request.method != "GET") requests_.push_back(line);
    if (fault != faults_.end()) {
      --fault->times;
      return respond(failure(fault->status, fault->reason, fault->message));
    }
    if (std::ranges::find(hidden_, is_object ? collection_of(path) : path) != hidden_.end())
      return respond(failure(404, "NotFound", "the server could not find the requested resource"));
    if (request.query.contains("watch=")) {
      begun_.push_back({path, ours_only, version_in(request.query), respond.start({}, std::nullopt)});
      changed_.notify_all();
      return;
    }
    out = is_object || request.method != "GET" ? answer(request, path) : list(path, ours_only);
    if (request.method != "GET" && out.status < 300) before_answer = before_answer_;
  }
  if (before_answer) before_answer(line, out.body);
  respond(std::move(out));
}

http::Response ApiServer::answer(const http::Request& request, const std::string& whole) {
  const std::string path = whole.ends_with("/status") ? collection_of(whole) : whole;
  if (request.method == "POST") return create(path, request.body);
  const auto there = objects_.find(path);
  if (there == objects_.end()) return failure(404, "NotFound", path + " not found");
  if (request.method == "PATCH") return patch(path, request.header("Content-Type"), request.body);
  if (request.method == "DELETE") return remove_as_asked(path, request.body);
  return found(200, there->second);
}

http::Response ApiServer::create(const std::string& collection, std::string_view body) {
  Json object = Json::parse(body);
  const std::string path = collection + "/" + object["metadata"]["name"].get<std::string>();
  if (objects_.contains(path)) return failure(409, "AlreadyExists", path + " already exists");
  object["metadata"]["managedFields"] = Json::array({{{"manager", "stackgate"}, {"operation", "Update"}}});
  return found(201, store(path, std::move(object)));
}

http::Response ApiServer::patch(const std::string& path, std::string_view type, std::string_view body) {
  Json object = Json::parse(objects_.at(path));
  Json change = Json::parse(body);
  if (type.starts_with("application/json-patch")) {
    try {
      return found(200, store(path, object.patch(change)));
    } catch (const Json::exception& error) {
      return failure(422, "Invalid", error.what());
    }
  }
  for (const char* precondition : {"uid", "resourceVersion"})
    if (change["metadata"].contains(precondition) &&
        change["metadata"][precondition] != object["metadata"][precondition])
      return failure(409, "Conflict", fmt::format("precondition failed: {}", precondition));
  object.merge_patch(change);
  return found(200, store(path, std::move(object)));
}

http::Response ApiServer::remove_as_asked(const std::string& path, std::string_view body) {
  const Json options = body.empty() ? Json::object() : Json::parse(body);
  const Json object = Json::parse(objects_.at(path));
  if (const auto wanted = options.find("preconditions"); wanted != options.end())
    if (wanted->contains("uid") && (*wanted)["uid"] != object["metadata"]["uid"])
      return failure(409, "Conflict", "precondition failed: uid");
  events_.push_back({++version_, "DELETED", path, object.dump()});
  objects_.erase(path);
  changed_.notify_all();
  return found(200, R"({"kind":"Status","status":"Success"})");
}

http::Response ApiServer::list(const std::string& collection, bool ours_only) {
  ++lists_[collection];
  Json out{{"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", Json::array()}};
  for (const auto& [path, object] : objects_)
    if (everywhere(collection_of(path)) == collection && (!ours_only || is_ours(object)))
      out["items"].push_back(Json::parse(object));
  return found(200, out.dump());
}

// --- Watches ---

bool ApiServer::send(Watch& watch, const std::vector<Event>& events) const {
  std::string text;
  for (const Event& each : events)
    if (each.version > watch.seen && everywhere(collection_of(each.path)) == watch.collection &&
        (!watch.ours_only || is_ours(each.object)))
      text += fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", each.type, each.object);
  if (!events.empty()) watch.seen = std::max(watch.seen, events.back().version);
  return watch.writer->write(text).has_value();
}

void ApiServer::pump(const std::stop_token& stop) {
  std::vector<Watch> watches;
  std::size_t known = 0;
  std::uint64_t oldest = 0;
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    changed_.wait(lock, stop,
                  [&] { return !begun_.empty() || events_.size() != known || cut_ || compacted_ != oldest; });
    std::ranges::move(begun_, std::back_inserter(watches));
    begun_.clear();
    const std::vector<Event> events = events_;
    known = events.size();
    oldest = compacted_;
    const bool cut = std::exchange(cut_, false);
    lock.unlock();
    if (cut) watches.clear();
    std::erase_if(watches, [&](Watch& each) {
      if (each.seen >= oldest) return !send(each, events);
      static_cast<void>(each.writer->write(
          R"({"type":"ERROR","object":{"kind":"Status","status":"Failure","code":410,"reason":"Expired"}})"
          "\n"));
      static_cast<void>(each.writer->finish());
      return true;
    });
    lock.lock();
  }
}

}  // namespace stackgate::reconcile::tests
