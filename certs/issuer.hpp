// Makes certificates: a CA of our own and leaves under it. EC P-256 with SHA-256.
#pragma once
#include <expected>
#include <string>
#include <vector>

#include "certs/identity.hpp"

namespace stackgate::certs {

struct Subject {
  std::string common_name{};
  std::vector<std::string> dns_names{};     // of a leaf; a CA has none
  std::vector<std::string> ip_addresses{};  // text, IPv4 or IPv6
  Time not_before{}, not_after{};           // whole seconds count
};

/// A self-signed CA that may sign leaves only (pathlen 0), and its key.
std::expected<PemPair, Error> make_self_signed_ca(const Subject& subject);

/// A new key and a server certificate for it, signed by `ca`. The result holds the leaf alone: clients know the CA.
std::expected<PemPair, Error> issue_leaf(const PemPair& ca, const Subject& subject);

}  // namespace stackgate::certs
