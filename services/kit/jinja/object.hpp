// Values that do something: what templates call, and what has attributes of its own.
#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "services/kit/jinja/fault.hpp"
#include "services/kit/jinja/value.hpp"

namespace stackgate::jinja {

class Machine;
using Result = std::expected<Value, Fault>;
using Status = std::expected<void, Fault>;

/// Held by a shared_ptr. Used by the one thread that renders.
class Object {
 public:
  Object() = default;
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  virtual std::string_view type_name() const = 0;
  virtual std::string print() const { return "<" + std::string(type_name()) + ">"; }
  virtual std::uint32_t depth() const { return 1; }
  virtual bool is_callable() const { return false; }
  virtual Result call(Machine& machine, Arguments& arguments);
  /// An undefined value: there is no such attribute.
  virtual Result attribute(Machine& machine, std::string_view name);
  virtual bool is_same(const Object& other) const { return this == &other; }
  /// Lets go of the values inside: objects that hold each other are parted at the end of a rendering.
  virtual void clear() {}
};

}  // namespace stackgate::jinja
