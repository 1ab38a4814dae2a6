// A JSON number (RFC 8259 section 6) at the beginning of a text.
#pragma once
#include <cstdint>

#include "services/kit/json/value.hpp"

namespace stackgate::json {

struct NumberRead {
  const char* end = nullptr;      // behind the last byte taken, or where the fault is
  const char* problem = nullptr;  // nullptr: `value` holds
  Value value;
};

/// `at` points at a digit or a minus sign. Whole numbers that do not fit 64 bits become numbers; what does not fit a
/// double either is a fault.
NumberRead read_number(const char* at, const char* end, std::uint32_t offset);

}  // namespace stackgate::json
