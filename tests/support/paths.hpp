// Where the sources and the build are. One file knows (paths.cpp), so that the others compile alike in every checkout.
#pragma once
#include <filesystem>

namespace stackgate::test {

/// The repository's top.
std::filesystem::path source_dir();
/// What CMake was told to build into.
std::filesystem::path binary_dir();

}  // namespace stackgate::test
