// Who is asking.
#pragma once
#include <cstdint>
#include <string>

namespace stackgate::datastore {

enum class Scope : std::uint8_t { read, write };

struct Identity {
  std::int64_t account = 0;  // 0: nobody has signed in
  std::string name{};
  bool admin = false;
  Scope scope = Scope::write;  // a personal token may be for reading only

  bool anonymous() const { return account == 0; }
};

}  // namespace stackgate::datastore
