// Archives made byte by byte, so that a test can make wrong ones.
#pragma once
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>

namespace stackgate::pack {

struct Member {
  std::string name;
  std::string data;
  char type = '0';
  std::string link{};
};

/// A ustar header (POSIX.1-2008, pax) and the data, padded.
inline std::string tar_member(const Member& m) {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  put(0, std::string_view(m.name).substr(0, 100));
  put(100, "0000644");
  put(108, "0000000");
  put(116, "0000000");
  put(124, fmt::format("{:011o}", m.data.size()));
  put(136, "00000000000");
  put(148, "        ");
  block[156] = m.type;
  put(157, std::string_view(m.link).substr(0, 100));
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  block[154] = '\0';
  block += m.data;
  block.resize((block.size() + 511) / 512 * 512);
  return block;
}

inline std::string tar(const std::vector<Member>& members) {
  std::string out;
  for (const Member& m : members) out += tar_member(m);
  return out + std::string(1024, '\0');
}

/// `level` 0: stored, not compressed.
inline std::string gzip(std::string_view text, int level = 6) {
  z_stream z{};
  deflateInit2(&z, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

inline std::string tar_gz(const std::vector<Member>& members) { return gzip(tar(members)); }

}  // namespace stackgate::pack
