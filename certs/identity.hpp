// A TLS identity: certificate chain and private key, checked, as a server context. No files and no clock here.
#pragma once
#include <chrono>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "services/kit/base/error.hpp"

struct ssl_ctx_st;

namespace stackgate::certs {

using Time = std::chrono::system_clock::time_point;

/// PEM text: the leaf first, then its intermediates; one unencrypted private key.
struct PemPair {
  std::string certificates;
  std::string key;
  bool operator==(const PemPair&) const = default;
};

struct Description {
  std::string subject;  // RFC 2253: "CN=stackgate"
  std::string issuer;
  std::string serial;    // hexadecimal
  std::string key_type;  // "EC P-256", "RSA 2048"
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;
  Time not_before{}, not_after{};
  bool is_ca = false;
};

/// The first certificate of `pem`.
std::expected<Description, Error> describe(std::string_view pem);

/// Thread-safe to share; the context is ready for an http::Server.
struct Identity {
  Description leaf;
  Time not_after{};  // the earliest end in the chain
  std::shared_ptr<ssl_ctx_st> context;
};

/// Checks that both parse, that the key belongs to the leaf, that it is EC (P-256, P-384, P-521), Ed25519 or RSA of at
/// least 2048 bits, and that every certificate of the chain is in date at `now`.
std::expected<Identity, Error> make_identity(const PemPair& pair, Time now);

/// Whether the leaf in `certificates` leads to a certificate of `ca_bundle` at `now`, as a TLS client would check it
/// for a server. The error says why not.
std::expected<void, Error> verify_chain(std::string_view certificates, std::string_view ca_bundle, Time now);

/// Where a certificate is in its life. `late`: more than four fifths are over, so whoever renews it has failed to.
enum class Age : std::uint8_t { not_yet_valid, fresh, late, expired };
Age age_of(Time not_before, Time not_after, Time now);

}  // namespace stackgate::certs
