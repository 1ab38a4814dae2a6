// The deleter of a C library's objects: std::unique_ptr<X509, Freed<X509_free>>.
#pragma once

namespace stackgate {

template <auto free_function>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    free_function(object);
  }
};

}  // namespace stackgate
