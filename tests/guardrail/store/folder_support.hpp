// A folder of configurations that tests write, and swap as Kubernetes does.
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/support/temp_dir.hpp"

namespace stackgate::guardrail::test {

namespace fs = std::filesystem;

inline constexpr std::string_view good = "models: []\n";
inline constexpr std::string_view bad = "models: [\n";

class Folder {
 public:
  std::string path() const { return folder_ / "configs"; }
  Folder() { fs::create_directories(path()); }

  void write(const std::string& name, std::string_view text) const {
    const fs::path file = fs::path(path()) / name;
    fs::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << text;
    ASSERT_TRUE(out.good());
  }
  void link(const std::string& name, const std::string& to) const { fs::create_symlink(to, fs::path(path()) / name); }
  void remove(const std::string& name) const { fs::remove_all(fs::path(path()) / name); }

  /// As the kubelet writes a ConfigMap: a folder of its own, `..data` to it by one rename, links by key.
  void mount(const std::map<std::string, std::string>& keys) {
    const std::string stamp = "..2026_11_24_" + std::to_string(++mounts_);
    for (const auto& [key, text] : keys) write(stamp + "/" + key, text);
    const fs::path top = path();
    fs::create_symlink(stamp, top / "..data_tmp");
    fs::rename(top / "..data_tmp", top / "..data");
    for (const auto& [key, text] : keys)
      if (!fs::is_symlink(top / key)) fs::create_symlink("..data/" + key, top / key);
    for (const auto& each : fs::directory_iterator(top))
      if (each.is_symlink() && each.path().filename() != "..data" && !keys.contains(each.path().filename()))
        fs::remove(each.path());
    if (mounts_ > 1) fs::remove_all(top / ("..2026_11_24_" + std::to_string(mounts_ - 1)));
  }

 private:
  stackgate::test::TempDir folder_;
  int mounts_ = 0;
};

}  // namespace stackgate::guardrail::test
