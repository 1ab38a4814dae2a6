// A page of a knowledge base (kb/*.md) in pieces that are found and shown to a model. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stackgate::guardrail {

struct Chunk {
  std::string title;  // headings around it, "Prices - Discounts"; the page's name where there is none
  std::string body;   // Markdown, as written
};

struct ChunkLimits {
  std::size_t wanted_bytes = 400;  // paragraphs are put together up to this; one that is longer stays whole,
  std::size_t most_bytes = 2000;   // up to this: then it is cut between words
  std::size_t chunks = 10'000;     // of a page; the rest is left out, and `complete` is false
};

struct Chunks {
  std::vector<Chunk> chunks;
  bool complete = true;
};

/// Cut at headings ("#" to "######", not within ``` blocks) and between paragraphs. `name`: "prices.md".
Chunks markdown_chunks(std::string_view name, std::string_view page, const ChunkLimits& limits = {});

}  // namespace stackgate::guardrail
