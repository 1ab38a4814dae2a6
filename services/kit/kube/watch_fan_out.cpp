#include "services/kit/kube/watch_fan_out.hpp"

#include "services/kit/json/parse.hpp"
#include "services/kit/json/write.hpp"
#include "services/kit/kube/object.hpp"
#include "services/kit/kube/text_map.hpp"

namespace stackgate::kube {

void FanOut::clear() {
  relist_began();
  relist_ended();
}

void FanOut::relist_began() {
  for (const auto& sink : sinks_) sink->relist_began();
}

void FanOut::upsert(const json::Value& object) {
  for (const auto& sink : sinks_) sink->upsert(object);
}

void FanOut::remove(const json::Value& object) {
  for (const auto& sink : sinks_) sink->remove(object);
}

void FanOut::relist_ended() {
  for (const auto& sink : sinks_) sink->relist_ended();
}

struct NamespaceMerge::Shared {
  WatchSink& sink;
  std::size_t unlisted = 0;  // parts whose first list is not complete
  bool began = false;        // the sink has got the beginning of the first list
};

class NamespaceMerge::Part final : public WatchSink {
 public:
  Part(std::shared_ptr<Shared> shared, std::string ns) : shared_(std::move(shared)), ns_(std::move(ns)) {}

  void relist_began() override {
    ++round_;
    if (shared_->began) return;
    shared_->began = true;
    shared_->sink.relist_began();
  }
  void upsert(const json::Value& object) override {
    const std::string_view name = metadata(object, "name");
    if (const auto known = names_.find(name); known != names_.end())
      known->second = round_;
    else
      names_.emplace(name, round_);
    shared_->sink.upsert(object);
  }
  void remove(const json::Value& object) override {
    if (const auto known = names_.find(metadata(object, "name")); known != names_.end()) names_.erase(known);
    shared_->sink.remove(object);
  }
  void relist_ended() override {
    std::erase_if(names_, [this](const auto& known) {
      if (known.second == round_) return false;
      notify_removed(known.first);
      return true;
    });
    if (listed_) return;
    listed_ = true;
    if (--shared_->unlisted == 0) shared_->sink.relist_ended();
  }
  void reset() {
    names_.clear();
    listed_ = false;
  }

 private:
  void notify_removed(const std::string& name) {
    std::string text;
    json::Writer w(text);
    w.object([&] {
      w.object("metadata", [&] {
        w.member("name", name);
        w.member("namespace", ns_);
      });
    });
    json::Document document;
    if (json::parse(text, document)) shared_->sink.remove(document.root);
  }

  const std::shared_ptr<Shared> shared_;
  const std::string ns_;
  TextMap<std::uint32_t> names_;  // with the list in which each was last seen
  std::uint32_t round_ = 0;
  bool listed_ = false;
};

NamespaceMerge::NamespaceMerge(WatchSink& sink, const std::vector<std::string>& namespaces)
    : shared_(std::make_shared<Shared>(Shared{sink, namespaces.size()})) {
  for (const std::string& ns : namespaces) parts_.push_back(std::make_shared<Part>(shared_, ns));
}

NamespaceMerge::~NamespaceMerge() = default;

std::shared_ptr<WatchSink> NamespaceMerge::part(std::size_t index) const { return parts_[index]; }

void NamespaceMerge::reset() {
  shared_->unlisted = parts_.size();
  shared_->began = false;
  for (const auto& part : parts_) part->reset();
}

}  // namespace stackgate::kube
