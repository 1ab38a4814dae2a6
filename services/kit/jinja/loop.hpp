// `loop` inside of a for: position, neighbours, cycle() and changed().
#pragma once
#include <deque>
#include <memory>
#include <optional>

#include "services/kit/jinja/machine.hpp"

namespace stackgate::jinja {

/// Walks the items that pass the loop's condition, each asked only when the loop comes to it or looks ahead.
class Loop : public Object, public std::enable_shared_from_this<Loop> {
 public:
  Loop(const Stmt& stmt, ListPtr items, FramePtr outside)
      : stmt_(stmt), items_(std::move(items)), outside_(std::move(outside)) {}

  /// False at the end; otherwise current() is the next one.
  std::expected<bool, Fault> advance(Machine& machine);
  const Value& current() const { return items_->items[*current_]; }

  std::string_view type_name() const override { return "LoopContext"; }
  Result attribute(Machine& machine, std::string_view name) override;
  Result cycle(Arguments& arguments) const;
  Result changed(Machine& machine, Arguments& arguments);
  void clear() override;

 private:
  /// The next one that passes, from `behind_` on.
  std::expected<std::optional<std::size_t>, Fault> look(Machine& machine);
  std::expected<std::size_t, Fault> length(Machine& machine);
  Status look_ahead(Machine& machine);
  Result neighbour(Machine& machine, bool is_next);

  const Stmt& stmt_;
  ListPtr items_;
  FramePtr outside_;
  std::size_t behind_ = 0;         // what was not looked at begins here
  std::size_t count_ = 0;          // how many were walked
  std::deque<std::size_t> ahead_;  // looked at, not walked; the next one first
  std::optional<std::size_t> current_;
  std::optional<std::size_t> before_;
  std::optional<Value> last_changed_;
};

}  // namespace stackgate::jinja
