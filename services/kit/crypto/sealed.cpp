#include "services/kit/crypto/sealed.hpp"

#include <array>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "services/kit/base/base64.hpp"
#include "services/kit/crypto/digest.hpp"

namespace stackgate::crypto {
namespace sealed_detail {

constexpr std::size_t nonce_bytes = 12, tag_bytes = 16;
constexpr std::string_view purpose = "stackgate sealed secret 1";

using Context = std::unique_ptr<EVP_CIPHER_CTX, decltype(&EVP_CIPHER_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }
unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

[[noreturn]] void fail() { throw std::runtime_error("OpenSSL cannot encrypt"); }

/// With key, nonce and place.
Context begin(std::string_view key, std::string_view nonce, std::string_view place, bool seals) {
  Context out(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free);
  const Sha256 own = hmac_sha256(key, purpose);
  int written = 0;
  if (!out ||
      EVP_CipherInit_ex(out.get(), EVP_aes_256_gcm(), nullptr, own.data(), bytes_of(nonce), seals ? 1 : 0) != 1 ||
      EVP_CipherUpdate(out.get(), nullptr, &written, bytes_of(place), static_cast<int>(place.size())) != 1)
    fail();
  return out;
}

}  // namespace sealed_detail

using namespace sealed_detail;

std::string seal(std::string_view key, std::string_view secret, std::string_view place) {
  std::string nonce(nonce_bytes, '\0'), text(secret.size(), '\0'), tag(tag_bytes, '\0');
  if (RAND_bytes(bytes_of(nonce), static_cast<int>(nonce.size())) != 1) fail();
  const Context context = begin(key, nonce, place, true);
  int written = 0;
  std::array<unsigned char, tag_bytes> end{};
  if (EVP_CipherUpdate(context.get(), bytes_of(text), &written, bytes_of(secret), static_cast<int>(secret.size())) !=
          1 ||
      EVP_CipherFinal_ex(context.get(), end.data(), &written) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, tag_bytes, tag.data()) != 1)
    fail();
  return base64::encode(nonce + tag + text);
}

std::optional<std::string> open_sealed(std::string_view key, std::string_view sealed, std::string_view place) {
  const auto bytes = base64::decode(sealed);
  if (!bytes || bytes->size() < nonce_bytes + tag_bytes) return std::nullopt;
  const std::string_view all(*bytes), text = all.substr(nonce_bytes + tag_bytes);
  std::string tag(all.substr(nonce_bytes, tag_bytes)), out(text.size(), '\0');
  const Context context = begin(key, all.substr(0, nonce_bytes), place, false);
  int written = 0;
  std::array<unsigned char, tag_bytes> end{};
  if (EVP_CipherUpdate(context.get(), bytes_of(out), &written, bytes_of(text), static_cast<int>(text.size())) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, tag_bytes, tag.data()) != 1 ||
      EVP_CipherFinal_ex(context.get(), end.data(), &written) != 1)
    return std::nullopt;
  return out;
}

}  // namespace stackgate::crypto
