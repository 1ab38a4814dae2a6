// All references of a repository as the protocols show them, remembered between requests. What is remembered is used
// only while stat(2) of HEAD, packed-refs, config and every folder below refs/ says what it said before, so a push or
// commit of another replica is seen by the next request. Times that are too young to tell two changes apart (2 s) are
// not trusted: then all is read again. Thread-safe.
//
// Whatever is out of the ordinary (a reference's file that cannot be read, a shallow or linked repository, other
// hashes) is left to git itself: `git upload-pack --http-backend-info-refs`, from which the capabilities are learnt as
// well.
#pragma once
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "services/datastore/git/objects.hpp"
#include "services/datastore/git/protocol.hpp"

namespace stackgate::datastore::git {

class References {
 public:
  /// `most_bytes`: what may be remembered, over all repositories.
  explicit References(std::size_t most_bytes = 24U << 20U);
  ~References();
  References(const References&) = delete;
  References& operator=(const References&) = delete;

  /// The body of info/refs for one service. `version`: 0, 1 or 2.
  Expected<std::shared_ptr<const std::string>> info_refs(const std::string& repository, Service service, int version);
  /// Nothing when git must answer.
  Expected<std::optional<std::string>> ls_refs(const std::string& repository, const LsRefs& request);
  /// Whether each is what a reference names now, in a repository that is not out of the ordinary.
  Expected<bool> are_tips(const std::string& repository, const std::vector<Oid>& ids);

 private:
  struct Known;
  Expected<std::shared_ptr<Known>> know(const std::string& repository);
  void remember(const std::string& repository, const std::shared_ptr<Known>& known);
  Expected<std::string> ask_git(const std::string& repository, Service service, int version);

  const std::size_t most_bytes_;
  std::mutex mutex_;
  struct Place {
    std::string repository;
    std::shared_ptr<Known> known;
    std::size_t bytes;
  };
  std::list<Place> recent_;  // the latest first
  std::unordered_map<std::string, std::list<Place>::iterator> places_;
  std::size_t bytes_ = 0;
  std::string capabilities_[2];                   // by service, once learnt
  std::shared_ptr<const std::string> version_2_;  // the same for all repositories
};

}  // namespace stackgate::datastore::git
