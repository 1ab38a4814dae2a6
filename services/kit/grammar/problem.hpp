// What a grammar reports about a text that is not in it.
#pragma once
#include <string>

namespace stackgate::validate::grammar {

/// Both halves are phrases without a final period, made for a Finding. They name single characters of the text and
/// short corrections of it, never user information of a URL.
struct Problem {
  std::string problem;  // what is wrong: "must not contain '_' (character 3)"
  std::string fix;      // what to write instead: "write \"my-name\""
};

}  // namespace stackgate::validate::grammar
