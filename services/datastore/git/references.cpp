#include "services/datastore/git/references.hpp"

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "services/datastore/git/child.hpp"
#include "services/datastore/git/scan_references.hpp"
#include "services/kit/base/try.hpp"

namespace stackgate::datastore::git {
namespace {

std::int64_t wall_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::size_t bytes_of(const RefList& list) {
  std::size_t out = 1024;
  for (const ShownRef& ref : list.refs)
    out += sizeof ref + ref.name.size() + ref.oid.size() + ref.peeled.size() + ref.symref.size();
  return out;
}

}  // namespace

/// One scan and what was made of it; never changes once remembered, but for the bodies, which are made when asked for.
struct References::Known {
  Scan scan;
  FactsById facts;
  bool young = true;  // not to be trusted yet
  std::mutex mutex;
  std::shared_ptr<const std::string> bodies[2];  // by service
};

References::References(std::size_t most_bytes) : most_bytes_(most_bytes) {}
References::~References() = default;

Expected<std::shared_ptr<References::Known>> References::know(const std::string& repository) {
  std::shared_ptr<Known> before;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = places_.find(repository); found != places_.end()) {
      recent_.splice(recent_.begin(), recent_, found->second);
      before = found->second->known;
    }
  }
  if (before && !before->young && still_so(before->scan)) return before;
  auto known = std::make_shared<Known>();
  if (before) known->facts = before->facts;
  if (known->facts.size() > 4 * (before ? before->scan.list.refs.size() : 0) + 1000) known->facts.clear();
  auto scan = TRY(scan_references(repository, known->facts));
  known->scan = std::move(scan);
  // Whoever changes something after now leaves a mark that is later than `now`, unless clocks are too coarse to show
  // it.
  known->young = too_young(known->scan, wall_ns());
  remember(repository, known);
  return known;
}

void References::remember(const std::string& repository, const std::shared_ptr<Known>& known) {
  // The body is about as large as the list; facts are shared in spirit, not in memory.
  const std::size_t bytes = 3 * bytes_of(known->scan.list);
  const std::lock_guard lock(mutex_);
  if (const auto found = places_.find(repository); found != places_.end()) {
    bytes_ -= found->second->bytes;
    recent_.erase(found->second);
    places_.erase(found);
  }
  if (bytes > most_bytes_) return;
  recent_.push_front({repository, known, bytes});
  places_[repository] = recent_.begin();
  bytes_ += bytes;
  while (bytes_ > most_bytes_) {
    bytes_ -= recent_.back().bytes;
    places_.erase(recent_.back().repository);
    recent_.pop_back();
  }
}

Expected<std::string> References::ask_git(const std::string& repository, Service service, int version) {
  ChildSpec spec{.arguments = {service == Service::upload_pack ? "upload-pack" : "receive-pack",
                               "--http-backend-info-refs", repository}};
  if (version > 0) spec.environment = {version == 2 ? "GIT_PROTOCOL=version=2" : "GIT_PROTOCOL=version=1"};
  return run_git(spec, {}, 256U << 20U);
}

Expected<std::shared_ptr<const std::string>> References::info_refs(const std::string& repository, Service service,
                                                                   int version) {
  if (service == Service::receive_pack && version == 2) version = 0;  // pushes know no version 2
  auto known = TRY(know(repository));
  const auto index = static_cast<std::size_t>(service);
  const bool usual = !known->scan.unusual;
  std::string capabilities;
  {
    const std::lock_guard lock(mutex_);
    if (version == 2 && version_2_ && usual) return version_2_;
    capabilities = capabilities_[index];
  }
  if (usual && version == 0 && !capabilities.empty()) {
    const std::lock_guard lock(known->mutex);
    auto& body = known->bodies[index];
    if (!body)
      body = std::make_shared<const std::string>(service_line(service) +
                                                 advertise(service, known->scan.list, capabilities));
    return body;
  }
  auto asked = TRY(ask_git(repository, service, version));
  const std::lock_guard lock(mutex_);
  if (version == 0)
    if (auto learnt = capabilities_of(asked)) capabilities_[index] = std::move(*learnt);
  auto body = std::make_shared<const std::string>(version == 2 ? std::move(asked) : service_line(service) + asked);
  if (version == 2 && usual) version_2_ = body;
  return body;
}

Expected<std::optional<std::string>> References::ls_refs(const std::string& repository, const LsRefs& request) {
  const auto known = TRY(know(repository));
  if (known->scan.unusual) return std::optional<std::string>{};
  return answer_ls_refs(request, known->scan.list);
}

Expected<bool> References::are_tips(const std::string& repository, const std::vector<Oid>& ids) {
  const auto known = TRY(know(repository));
  const Scan& scan = known->scan;
  if (scan.unusual) return false;
  std::unordered_set<std::string_view> tips;
  if (scan.list.head) tips.insert(scan.list.head->oid);
  for (const ShownRef& ref : scan.list.refs) tips.insert(ref.oid);
  return std::ranges::all_of(ids, [&tips](const Oid& id) { return tips.contains(id); });
}

}  // namespace stackgate::datastore::git
