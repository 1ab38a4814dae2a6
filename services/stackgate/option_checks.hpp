// What options' values must be. A check says what is wrong with a value, nothing of a good one.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace stackgate {

using OptionCheck = std::function<std::string(const std::string&)>;

/// Refuses what is none of the words. (CLI::IsMember does, too, but repeats the words in the help.)
OptionCheck one_of(std::vector<std::string> words);
OptionCheck number_between(unsigned least, unsigned most);
/// HOST:PORT as in "127.0.0.1:9443", ":8080" or "[::1]:0"; listening itself says the rest.
OptionCheck host_and_port();
/// By the grammars that resources are held to.
OptionCheck namespace_name();
OptionCheck image_reference();

}  // namespace stackgate
