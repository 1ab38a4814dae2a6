// Which CustomResourceDefinitions exist, of those that somebody asked for.
// Pure; used on one thread at a time.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "services/kit/kube/text_map.hpp"
#include "services/kit/kube/watch_runner.hpp"

namespace stackgate::kube {

enum class CrdChange : std::uint8_t {
  appeared,
  touched,   // it was changed: other versions may be served now, or it was established
  replaced,  // deleted and made again since the last word: its objects are others
  vanished,
};

/// The sink of a watch on customresourcedefinitions; metadata is enough.
class CrdNames final : public WatchSink {
 public:
  using Listener = std::function<void(std::string_view name, CrdChange change)>;
  /// `listed` is called after each whole list, when all changes were reported.
  CrdNames(Listener listener, std::function<void()> listed)
      : listener_(std::move(listener)), listed_(std::move(listed)) {}

  void want(std::string_view name) { wanted_.try_emplace(std::string(name)); }
  bool exists(std::string_view name) const;

  void relist_began() override { ++round_; }
  void upsert(const json::Value& object) override;
  void remove(const json::Value& object) override;
  void relist_ended() override;

 private:
  struct Seen {
    std::string uid, version;  // uid is empty while it does not exist
    std::uint32_t round = 0;
  };

  const Listener listener_;
  const std::function<void()> listed_;
  TextMap<Seen> wanted_;
  std::uint32_t round_ = 0;
};

}  // namespace stackgate::kube
