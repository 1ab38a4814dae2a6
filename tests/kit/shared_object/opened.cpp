// Shared objects for shared_object_test.cpp: of this build, of another one (OTHER_BUILD), without an entry (NO_ENTRY).
#include "tests/kit/shared_object/opened.hpp"

#include <string>

#include "services/kit/shared_object/shared_object.hpp"

#ifndef NO_ENTRY
namespace {

#ifdef OTHER_BUILD
const std::string made_of = "0.0.0, another compiler";
#else
const std::string made_of = stackgate::shared_object::build();
#endif

int twice(int value) { return 2 * value; }

}  // namespace

extern "C" {
extern const stackgate::test::OpenedEntry stackgate_opened_entry;
const stackgate::test::OpenedEntry stackgate_opened_entry = {.build = made_of, .twice = &twice};
}
#endif
