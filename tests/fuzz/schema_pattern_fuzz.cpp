// "PATTERN\0TEXT": what the automaton takes for a plain expression must mean to it what it means to RE2.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <re2/re2.h>

#include "services/kit/base/utf8.hpp"
#include "services/kit/schema/automaton.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stackgate;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = all.find('\0');
  if (end == std::string_view::npos || size > 400) return 0;
  const std::string source = "^" + std::string(all.substr(0, end)) + "$";
  const std::string_view text = all.substr(end + 1);
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t length = utf8::sequence_length(rest);
    if (length == 0) return 0;  // texts are UTF-8
    rest.remove_prefix(length);
  }
  const auto automaton = validate::schema::Automaton::compile(source);
  if (!automaton) return 0;
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 reference(source, options);
  if (!reference.ok() ||
      automaton->matches(text) != re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), reference)) {
    std::fprintf(stderr, "%s on %.*s: ours %d, RE2 %s\n", source.c_str(), static_cast<int>(text.size()), text.data(),
                 automaton->matches(text), reference.ok() ? "the other" : reference.error().c_str());
    std::abort();
  }
  return 0;
}
