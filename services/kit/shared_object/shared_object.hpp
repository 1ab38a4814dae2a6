// A part of a program that lies in a shared object of its own, because loading what it needs takes long: opened when
// there is use for it, never closed. It gives one symbol, a struct of functions of C++ types ("entry"), whose first
// member says which build it is of. Thread-safe.
#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "services/kit/base/try.hpp"
#include "services/kit/base/version.hpp"

namespace stackgate::shared_object {

/// Differs where the types that cross the border may: both sides are made of the same sources by the same compiler.
inline std::string build() { return std::string(version) + ", " + __VERSION__; }

/// `name` beside this program, or else in ../lib/stackgate from there.
std::string default_path(std::string_view name);

/// The entry. The error is a sentence: it cannot be loaded, has no such symbol, or is of another build.
std::expected<const void*, std::string> open_entry(const std::string& path, const char* symbol);

/// `Entry`: a struct with `static constexpr const char* symbol` and, as its first member, `std::string_view build`.
template <class Entry>
std::expected<const Entry*, std::string> open(const std::string& path) {
  return static_cast<const Entry*>(TRY(open_entry(path, Entry::symbol)));
}

}  // namespace stackgate::shared_object
