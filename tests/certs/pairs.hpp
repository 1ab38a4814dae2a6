// Certificates for tests, made by the code under test and checked against openssl's own tool in issuer_test.
#pragma once
#include <chrono>
#include <stdexcept>

#include "certs/issuer.hpp"

namespace stackgate::certs::test {

using namespace std::chrono_literals;

template <class T>
T must(std::expected<T, Error> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

inline Time now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

inline PemPair make_ca(std::string name = "test CA", Time from = now() - 1h, Time to = now() + 24h) {
  return must(make_self_signed_ca({.common_name = std::move(name), .not_before = from, .not_after = to}));
}

inline PemPair make_leaf(const PemPair& ca, Time from = now() - 1h, Time to = now() + 12h) {
  return must(issue_leaf(ca, {.common_name = "gate",
                              .dns_names = {"gate.test.svc", "localhost"},
                              .ip_addresses = {"127.0.0.1", "::1"},
                              .not_before = from,
                              .not_after = to}));
}

}  // namespace stackgate::certs::test
