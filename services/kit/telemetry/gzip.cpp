#include "services/kit/telemetry/gzip.hpp"

#include <new>

#include <zlib.h>

namespace stackgate::telemetry {

std::string gzip(std::string_view text) {
  constexpr int fast = 1, gzip_window = 15 + 16, memory = 8;
  z_stream stream{};
  if (deflateInit2(&stream, fast, Z_DEFLATED, gzip_window, memory, Z_DEFAULT_STRATEGY) != Z_OK) throw std::bad_alloc();
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  // zlib does not write through it.
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);  // deflateBound() is enough for one call
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace stackgate::telemetry
