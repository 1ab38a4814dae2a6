// The key pair with which the pods of a multi-node service reach each other.
#pragma once
#include <string>

namespace stackgate::reconcile {

struct SshKey {
  std::string private_key;  // PEM, as ssh reads it
  std::string public_key;   // one line, as authorized_keys wants it
};

/// ECDSA P-256, from the system's random source. Throws std::runtime_error when OpenSSL cannot make one.
SshKey make_ssh_key();

}  // namespace stackgate::reconcile
