#include "services/datastore/git/identity_line.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace stackgate::datastore::git {
namespace {

std::string identity_word(std::string_view text, std::string_view otherwise) {
  std::string out;
  for (const char c : text)
    if (c != '<' && c != '>' && c != '\n' && c != '\r' && c != '\0') out.push_back(c);
  const auto crud = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || std::string_view(".,:;\"'\\").contains(c);
  };
  while (!out.empty() && crud(out.back())) out.pop_back();
  while (!out.empty() && crud(out.front())) out.erase(out.begin());
  return out.empty() ? std::string(otherwise) : out;
}

}  // namespace

std::string format_identity(const Signature& who) {
  const int minutes = who.offset_minutes % (24 * 60);
  return fmt::format("{} <{}> {} {}{:02}{:02}", identity_word(who.name, "unknown"), identity_word(who.email, ""),
                     who.seconds < 0 ? 0 : who.seconds, minutes < 0 ? '-' : '+', std::abs(minutes) / 60,
                     std::abs(minutes) % 60);
}

}  // namespace stackgate::datastore::git
