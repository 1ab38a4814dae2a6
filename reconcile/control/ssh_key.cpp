#include "reconcile/control/ssh_key.hpp"

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/base/freed.hpp"

namespace stackgate::reconcile {
namespace {

constexpr std::string_view algorithm = "ecdsa-sha2-nistp256", curve = "nistp256";

/// RFC 4251, section 5: a string is its length in four bytes and then itself.
void put(std::string& out, std::string_view text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>((size >> static_cast<unsigned>(shift)) & 0xffU);
  out += text;
}

std::string private_pem(EVP_PKEY* key) {
  const std::unique_ptr<BIO, Freed<BIO_free>> bio(BIO_new(BIO_s_mem()));
  // The traditional form ("BEGIN EC PRIVATE KEY"): every ssh reads it.
  if (bio == nullptr ||
      PEM_write_bio_PrivateKey_traditional(bio.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1)
    throw std::runtime_error("the ssh key could not be written");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(size)};
}

}  // namespace

SshKey make_ssh_key() {
  const std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>> key(EVP_EC_gen("P-256"));
  if (key == nullptr) throw std::runtime_error("no ssh key could be made");
  std::size_t size = 0;
  EVP_PKEY_get_octet_string_param(key.get(), OSSL_PKEY_PARAM_PUB_KEY, nullptr, 0, &size);
  std::vector<unsigned char> point(size);
  if (EVP_PKEY_get_octet_string_param(key.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size(), &size) != 1)
    throw std::runtime_error("the ssh key has no public half");
  std::string blob;  // RFC 5656, section 3.1
  put(blob, algorithm);
  put(blob, curve);
  put(blob, {reinterpret_cast<const char*>(point.data()), size});
  return {private_pem(key.get()), std::string(algorithm) + " " + base64::encode(blob) + " stackgate"};
}

}  // namespace stackgate::reconcile
