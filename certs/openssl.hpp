// Owners for OpenSSL objects, and its error queue as a sentence. For the .cpp files of this folder.
#pragma once
#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "services/kit/base/freed.hpp"

namespace stackgate::certs {

using Bio = std::unique_ptr<BIO, Freed<BIO_free_all>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;
using Name = std::unique_ptr<X509_NAME, Freed<X509_NAME_free>>;

/// A read-only BIO over `text`, which must outlive it.
inline Bio bio_over(std::string_view text) { return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size()))); }

/// What was written into a memory BIO.
inline std::string text_of(const Bio& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return size > 0 ? std::string(data, static_cast<std::size_t>(size)) : std::string();
}

/// The first error in OpenSSL's queue, which is emptied.
inline std::string openssl_reason() {
  const unsigned long code = ERR_peek_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  ERR_clear_error();
  return reason != nullptr ? reason : "unknown OpenSSL error";
}

}  // namespace stackgate::certs
