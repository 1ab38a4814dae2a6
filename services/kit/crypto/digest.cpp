#include "services/kit/crypto/digest.hpp"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <openssl/rand.h>

#include "services/kit/base/freed.hpp"

namespace stackgate::crypto {
namespace digest_detail {

// A failure here is a broken library or no memory: there is no digest to go on with.
void must(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "OpenSSL failed: %s\n", what);
  std::abort();
}

// Fetched once: OpenSSL 3 looks an algorithm up by name at every use of EVP_sha256(), which costs more than a small
// digest itself.
const EVP_MD* fetched(const char* name) {
  EVP_MD* md = EVP_MD_fetch(nullptr, name, nullptr);
  must(md != nullptr, name);
  return md;
}
const EVP_MD* sha256_md() {
  static const EVP_MD* const md = fetched("SHA256");
  return md;
}
const EVP_MD* sha1_md() {
  static const EVP_MD* const md = fetched("SHA1");
  return md;
}

using DigestContext = std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>>;
using MacContext = std::unique_ptr<EVP_MAC_CTX, Freed<EVP_MAC_CTX_free>>;

DigestContext make_digest_context() {
  DigestContext context(EVP_MD_CTX_new());
  must(context != nullptr, "EVP_MD_CTX_new");
  return context;
}

MacContext make_hmac_context() {
  static EVP_MAC* const mac = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
  must(mac != nullptr, "HMAC");
  MacContext context(EVP_MAC_CTX_new(mac));
  char name[] = "SHA256";
  const OSSL_PARAM parameters[] = {OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
                                   OSSL_PARAM_construct_end()};
  must(context != nullptr && EVP_MAC_CTX_set_params(context.get(), parameters) == 1, "EVP_MAC_CTX_set_params");
  return context;
}

template <std::size_t N>
std::array<unsigned char, N> whole(const EVP_MD* md, std::string_view bytes) {
  thread_local const DigestContext context = make_digest_context();
  std::array<unsigned char, N> out;
  must(EVP_DigestInit_ex(context.get(), md, nullptr) == 1 &&
           EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
           EVP_DigestFinal_ex(context.get(), out.data(), nullptr) == 1,
       "EVP_Digest");
  return out;
}

}  // namespace digest_detail

struct DigestStream::State {
  digest_detail::DigestContext context = digest_detail::make_digest_context();
};

DigestStream::DigestStream(Kind kind) : state_(std::make_unique<State>()) {
  const EVP_MD* md = kind == Kind::sha256 ? digest_detail::sha256_md() : digest_detail::sha1_md();
  digest_detail::must(EVP_DigestInit_ex(state_->context.get(), md, nullptr) == 1, "EVP_DigestInit_ex");
}
DigestStream::~DigestStream() = default;
DigestStream::DigestStream(DigestStream&&) noexcept = default;
DigestStream& DigestStream::operator=(DigestStream&&) noexcept = default;

void DigestStream::add(std::string_view bytes) {
  digest_detail::must(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1, "EVP_DigestUpdate");
}

void DigestStream::finish_into(unsigned char* out) {
  digest_detail::must(EVP_DigestFinal_ex(state_->context.get(), out, nullptr) == 1, "EVP_DigestFinal_ex");
}

Sha256 Sha256Stream::finish() {
  Sha256 out;
  finish_into(out.data());
  return out;
}

Sha1 Sha1Stream::finish() {
  Sha1 out;
  finish_into(out.data());
  return out;
}

Sha256 sha256(std::string_view bytes) { return digest_detail::whole<32>(digest_detail::sha256_md(), bytes); }
Sha1 sha1(std::string_view bytes) { return digest_detail::whole<20>(digest_detail::sha1_md(), bytes); }

Sha256 hmac_sha256(std::string_view key, std::string_view bytes) {
  thread_local const digest_detail::MacContext context = digest_detail::make_hmac_context();
  // A null key would mean "the key of the last call".
  static const unsigned char no_key = 0;
  const auto* key_bytes = key.empty() ? &no_key : reinterpret_cast<const unsigned char*>(key.data());
  Sha256 out;
  std::size_t length = 0;
  digest_detail::must(
      EVP_MAC_init(context.get(), key_bytes, key.size(), nullptr) == 1 &&
          EVP_MAC_update(context.get(), reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()) == 1 &&
          EVP_MAC_final(context.get(), out.data(), &length, out.size()) == 1 && length == out.size(),
      "HMAC-SHA256");
  return out;
}

std::string to_hex(const unsigned char* bytes, std::size_t count) {
  static constexpr std::string_view digits = "0123456789abcdef";
  std::string out(count * 2, '\0');
  for (std::size_t i = 0; i < count; ++i) {
    out[i * 2] = digits[bytes[i] >> 4U];
    out[i * 2 + 1] = digits[bytes[i] & 15U];
  }
  return out;
}

std::string random_bytes(std::size_t count) {
  std::string out(count, '\0');
  digest_detail::must(RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(count)) == 1,
                      "no random bytes");
  return out;
}

std::string random_hex(std::size_t count) {
  const std::string bytes = random_bytes(count);
  return to_hex(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace stackgate::crypto
