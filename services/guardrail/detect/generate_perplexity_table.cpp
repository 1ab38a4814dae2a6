// Trains the model of perplexity.hpp and prints perplexity_table.cpp. Run by hand, from the repository's top, when the
// symbols or the training texts change:
//   generate_perplexity_table jargon.txt services/guardrail/detect/training_text.txt $(git ls-files validators
//     reconcile webhook certs crds cluster_state tests/support tests/cluster services/model services/datastore chart)
// jargon.txt is the Jargon File 4.4.7 (public domain) of Debian's package jargon-text; training_text.txt, which lies
// here, was written for this and counts a hundredfold; the rest are sources and documents of this project.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "services/guardrail/detect/text_symbols.hpp"

namespace {

using namespace stackgate::guardrail;

std::string read(const char* path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

/// The Jargon File without the heads of its entries and the braces around names of others.
std::string prose(const std::string& text) {
  std::istringstream in(text);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first == std::string::npos || line[first] == ':') continue;
    std::erase_if(line, [](char c) { return c == '{' || c == '}'; });
    out += line + "\n";
  }
  return out;
}

struct Counts {
  std::vector<double> one, two, three;
  Counts() : one(symbol_count), two(symbol_count * symbol_count), three(symbol_count * symbol_count * symbol_count) {}

  void add(std::string_view text, double weight) {
    std::size_t a = blank_symbol, b = blank_symbol;
    for_each_symbol(text, [&](Symbol c) {
      one[c] += weight;
      two[b * symbol_count + c] += weight;
      three[(a * symbol_count + b) * symbol_count + c] += weight;
      a = b;
      b = c;
    });
  }
};

/// Witten and Bell: what was seen, mixed with the shorter history by how many different symbols followed.
void mix(const std::vector<double>& counts, std::size_t row, const std::vector<double>& shorter,
         std::vector<double>& out) {
  double sum = 0, kinds = 0;
  for (std::size_t c = 0; c < symbol_count; ++c) {
    sum += counts[row + c];
    kinds += counts[row + c] > 0 ? 1 : 0;
  }
  const double rest = sum > 0 ? kinds / (sum + kinds) : 1;
  for (std::size_t c = 0; c < symbol_count; ++c)
    out[c] = (sum > 0 ? counts[row + c] / sum * (1 - rest) : 0) + rest * shorter[c];
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) return 2;
  Counts counts;
  counts.add(prose(read(arguments[1])), 1);
  counts.add(read(arguments[2]), 100);
  for (int i = 3; i < count; ++i) counts.add(read(arguments[i]), 0.5);
  std::vector<double> even(symbol_count, 1.0 / symbol_count), one(symbol_count), two(symbol_count), three(symbol_count);
  mix(counts.one, 0, even, one);
  std::cout << "// Written by generate_perplexity_table.cpp: for each two symbols and the one that follows, quarters "
               "of bits.\n"
               "#include \"services/guardrail/detect/perplexity.hpp\"\n\nnamespace stackgate::guardrail {\n\n"
               "const std::array<std::string_view, symbol_count> perplexity_table{\n";
  for (std::size_t a = 0; a < symbol_count; ++a) {
    std::string table;
    for (std::size_t b = 0; b < symbol_count; ++b) {
      mix(counts.two, b * symbol_count, one, two);
      mix(counts.three, (a * symbol_count + b) * symbol_count, two, three);
      for (const double probability : three) {
        const double quarters = std::clamp(std::round(-4 * std::log2(probability)), 0.0, 63.0);
        table += "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"[static_cast<std::size_t>(quarters)];
      }
    }
    for (std::size_t i = 0; i < table.size(); i += 110)
      std::cout << "    \"" << table.substr(i, 110) << "\""
                << (i + 110 < table.size() ? ""
                    : a + 1 < symbol_count ? ","
                                           : "};")
                << "\n";
  }
  std::cout << "\n}  // namespace stackgate::guardrail\n";
}
