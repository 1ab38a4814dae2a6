// What each request of statuses.tsv is answered with, beside what the engine before Asio and Beast answered. With
// RECORD_STATUSES=1 the test writes that table for the engine that it is built with instead (statuses.tsv says how).
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "services/kit/http/reader.hpp"
#include "tests/support/paths.hpp"

namespace stackgate::http {
namespace {

struct Row {
  std::string name, before, now, bytes;
  std::string written;  // the bytes as the table has them
  std::string reason;   // why `now` is not `before`
};

// \r \n \t \\ \xHH and \{N*c}, which stands for N times c.
std::string unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      bytes += text[i];
      continue;
    }
    switch (text.at(++i)) {
      case 'r':
        bytes += '\r';
        break;
      case 'n':
        bytes += '\n';
        break;
      case 't':
        bytes += '\t';
        break;
      case '\\':
        bytes += '\\';
        break;
      case 'x':
        bytes += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
        i += 2;
        break;
      case '{': {
        const std::size_t star = text.find('*', i);
        bytes.append(std::stoul(std::string(text.substr(i + 1, star - i - 1))), text.at(star + 1));
        i = star + 2;
        break;
      }
      default:
        throw std::runtime_error("an unknown escape in: " + std::string(text));
    }
  }
  return bytes;
}

std::vector<Row> read_table() {
  std::ifstream in(stackgate::test::source_dir() / "tests/kit/http/statuses.tsv");
  std::vector<Row> rows;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    Row row;
    std::string* const cells[] = {&row.name, &row.before, &row.now, &row.written, &row.reason};
    std::size_t at = 0;
    for (std::string* cell : cells) {
      const std::size_t tab = std::min(line.find('\t', at), line.size());
      *cell = line.substr(at, tab - at);
      at = std::min(tab + 1, line.size());
    }
    row.bytes = unescape(row.written);
    rows.push_back(row);
  }
  return rows;
}

// 200 for each request that a handler would get, 100 where the client waits for it, the status of the refusal, or
// "waits" for the rest.
std::string statuses_of(std::string_view bytes) {
  BufferPool pool;
  RequestReader reader({2048, 4096}, pool);
  std::string seen;
  const auto add = [&seen](const std::string& what) { seen += seen.empty() ? what : " " + what; };
  for (;;) {
    switch (reader.step()) {
      case RequestReader::Step::request:
        add("200");
        reader.finish();
        continue;
      case RequestReader::Step::send_continue:
        add("100");
        continue;
      case RequestReader::Step::reject:
        add(std::to_string(reader.rejected().status));
        return seen;
      case RequestReader::Step::plan:
        throw std::logic_error("nobody asked for a plan");
      case RequestReader::Step::need_more:
        break;
    }
    if (bytes.empty()) break;
    const auto space = reader.space();
    const std::size_t n = std::min(space.size(), bytes.size());
    std::memcpy(space.data(), bytes.data(), n);
    reader.add(n);
    bytes.remove_prefix(n);
  }
  if (reader.phase() != RequestReader::Phase::idle) add("waits");
  return seen;
}

TEST(Statuses, are_those_of_the_engine_before_except_where_the_table_says_so) {
  const auto rows = read_table();
  if (std::getenv("RECORD_STATUSES") != nullptr) {
    for (const Row& row : rows)
      std::cout << row.name << '\t' << statuses_of(row.bytes) << '\t' << row.now << '\t' << row.written
                << (row.reason.empty() ? "" : "\t") << row.reason << '\n';
    return;
  }
  EXPECT_GE(rows.size(), 100U);
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(statuses_of(row.bytes), row.now);
  }
}

TEST(Statuses, differ_from_those_of_the_engine_before_only_where_an_RFC_is_named) {
  std::set<std::string> names;
  for (const Row& row : read_table()) {
    SCOPED_TRACE(row.name);
    EXPECT_TRUE(names.insert(row.name).second) << "the name stands twice";
    EXPECT_EQ(row.reason.starts_with("RFC "), row.before != row.now) << row.reason;
  }
}

}  // namespace
}  // namespace stackgate::http
