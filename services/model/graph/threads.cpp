#include "services/model/graph/threads.hpp"

#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>

namespace stackgate::model {
namespace {

/// A function of OpenBLAS; nullptr where libblas.so.3 is another library. Looked up, because the linker settles weak
/// symbols of a program as absent; in that library, because it may be loaded for a shared object alone.
template <class Function>
Function* of_openblas(const char* name) {
  static void* const library = dlopen("libblas.so.3", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function*>(dlsym(library != nullptr ? library : RTLD_DEFAULT, name));
}

}  // namespace

void use_threads(unsigned threads) {
  at::set_num_threads(static_cast<int>(threads));
  if (auto* set = of_openblas<void(int)>("openblas_set_num_threads")) set(static_cast<int>(threads));
}

std::string blas_in_use() {
  const auto config = of_openblas<char*()>("openblas_get_config"), core = of_openblas<char*()>("openblas_get_corename");
  if (config == nullptr || core == nullptr)
    return "the reference BLAS is installed, five to ten times slower than OpenBLAS: install libopenblas0-pthread";
  return fmt::format("{} on {}", config(), core());
}

}  // namespace stackgate::model
