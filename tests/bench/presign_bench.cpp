// Presigned URLs on one core, as an LFS batch answers them. Prints one JSON object per figure.
#include <string>

#include "services/kit/crypto/digest.hpp"
#include "services/kit/objects/s3_store.hpp"
#include "tests/bench/figure.hpp"

using namespace stackgate;

int main() {
  objects::S3Store store({.endpoint = "objects.example:7480",
                          .bucket = "stackgate",
                          .access_key = "STACKGATEBENCH000000",
                          .secret_key = "0123456789abcdef0123456789abcdef01234567"});
  const std::string key = "lfs/4d/7a/4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
  std::size_t length = 0;
  const double get = bench::microseconds([&] {
    length += store.presigned_get(key, {.content_disposition = "attachment; filename=\"model.safetensors\""})->size();
  });
  const double put = bench::microseconds([&] { length += store.presigned_put(key, {.size = 104'857'600})->size(); });
  if (length == 0) return 1;
  bench::print({.name = "presigned_get_per_second",
                .value = 1e6 / get,
                .unit = "/s",
                .limit = 50'000,
                .at_least = true,
                .text = "one core, with a file name"});
  bench::print({.name = "presigned_put_per_second",
                .value = 1e6 / put,
                .unit = "/s",
                .limit = 50'000,
                .at_least = true,
                .text = "one core, with a signed length"});

  const std::string block(1 << 20U, 'x');
  crypto::Sha256Stream stream;
  const double hash = bench::microseconds([&] { stream.add(block); });
  bench::print({.name = "sha256_stream",
                .value = 1.048576e6 / hash,
                .unit = "MB/s",
                .limit = 300,
                .at_least = true,
                .text = "one core; 300 is what a core without SHA instructions gives"});
  return bench::exit_status;
}
