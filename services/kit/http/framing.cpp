// head.hpp and chunked.hpp: Beast's parser, and on top of it the rules that it does not have.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/rfc7230.hpp>

#include "services/kit/http/chunked.hpp"
#include "services/kit/http/head.hpp"
#include "services/kit/http/text.hpp"

namespace stackgate::http {
namespace framing_detail {

namespace beast = boost::beast;
using beast::error_code;
using beast::http::error;
using beast::http::field;

constexpr std::size_t max_size_line = 1024;
constexpr std::size_t max_trailers = 16 * 1024;

std::string_view view(beast::string_view text) { return {text.data(), text.size()}; }

// RFC 9110, 5.6.4. Beast reads on behind the line for the other quotation mark.
bool ends_in_quotes(std::string_view line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == '\\' && quoted) ++i;
  }
  return quoted;
}

// A line of the trailers, or what is folded to one. Beast would refuse a Content-Length there as a second framing.
bool is_trailer(std::string_view line, bool is_first) {
  if (line.front() == ' ' || line.front() == '\t') return !is_first;
  const std::size_t colon = line.find(':');
  return colon != std::string_view::npos && colon > 0 && all(Char::token, line.substr(0, colon));
}

// Beast calls these as it reads; what is not of interest is dropped.
class Parser : public beast::http::basic_parser<true> {
 public:
  Parser() {
    header_limit(~std::uint32_t{0});
    body_limit(boost::none);
  }
  /// The bytes that were read.
  std::size_t put(std::string_view bytes, error_code& fault) {
    return basic_parser::put(boost::asio::buffer(bytes.data(), bytes.size()), fault);
  }

 protected:
  using Text = beast::string_view;
  void on_request_impl(beast::http::verb, Text, Text, int, error_code&) override {}
  void on_response_impl(int, Text, int, error_code&) override {}
  void on_field_impl(field, Text, Text, error_code&) override {}
  void on_header_impl(error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(Text body, error_code&) override { return body.size(); }
  void on_chunk_header_impl(std::uint64_t, Text, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, Text body, error_code&) override { return body.size(); }
  void on_finish_impl(error_code&) override {}
};

class HeadParser final : public Parser {
 public:
  /// `read` is what Beast reads: `bytes`, or a copy that differs in single characters. The request's views are into
  /// `bytes`.
  HeadParser(std::string_view read, std::string_view bytes, Request& request, Head& head)
      : read_(read), bytes_(bytes), request_(request), head_(head) {
    head = {};
    request.headers.clear();
  }
  std::optional<Reject> parse();
  /// After parse(): whether a value was refused by Beast, which does so with a Connection that is no list of tokens.
  bool has_faulty_value() const { return fault_ == error::bad_value; }

 private:
  void on_request_impl(beast::http::verb, Text method, Text target, int version, error_code& fault) override;
  void on_field_impl(field name, Text text, Text value, error_code& fault) override;
  void refuse(Reject reject, error_code& fault) {
    reject_ = reject;
    fault = error::bad_field;  // any: it ends the parsing
  }
  std::optional<Reject> read_target(std::string_view target);
  std::optional<Reject> interpret(field name, std::string_view value);
  std::string_view original(std::string_view part) const;
  std::string_view first_line_of_value(std::size_t line) const;
  Reject explain(const error_code& fault) const;
  Reject explain_version() const;
  Reject explain_transfer_encoding() const;
  std::optional<Reject> conclude();

  const std::string_view read_, bytes_;
  Request& request_;
  Head& head_;
  int hosts_ = 0, lengths_ = 0, transfer_encodings_ = 0;
  bool closes_ = false;
  std::optional<Reject> reject_;
  error_code fault_;
};

std::string_view HeadParser::original(std::string_view part) const {
  return bytes_.substr(static_cast<std::size_t>(part.data() - read_.data()), part.size());
}

// Of the header line that begins at `line`, without the lines that are folded to it.
std::string_view HeadParser::first_line_of_value(std::size_t line) const {
  const std::string_view text = bytes_.substr(line, bytes_.find("\r\n", line) - line);
  return trim(text.substr(text.find(':') + 1));
}

void HeadParser::on_request_impl(beast::http::verb, Text method, Text target, int version, error_code& fault) {
  head_.http10 = version == 10;
  request_.method = bytes_.substr(0, method.size());
  if (method.size() > 32) return refuse({400, "the method is not a token of at most 32 characters"}, fault);
  if (const auto wrong = read_target(bytes_.substr(method.size() + 1, target.size()))) refuse(*wrong, fault);
}

std::optional<Reject> HeadParser::read_target(std::string_view target) {
  if (target.empty() || !all(Char::target, target))
    return Reject{400, "the request target is empty or has a character that a URL must escape"};
  if (request_.method == "CONNECT") return Reject{501, "this is no proxy"};
  if (target.front() != '/' && target != "*") {  // absolute form (RFC 9112, 3.2.2)
    const std::size_t scheme = target.find("://");
    const std::string_view word = target.substr(0, scheme == std::string_view::npos ? 0 : scheme);
    if (!equal_ignoring_case(word, "http") && !equal_ignoring_case(word, "https"))
      return Reject{400, "the request target begins with neither '/' nor a scheme"};
    target.remove_prefix(scheme + 3);
    const std::size_t path = target.find_first_of("/?");
    if (path == 0) return Reject{400, "the request target has a scheme but no host"};
    target.remove_prefix(path == std::string_view::npos ? target.size() : path);
  }
  const std::size_t mark = target.find('?');
  request_.path = target.substr(0, mark);
  request_.query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  if (request_.path.empty()) request_.path = "/";
  return {};
}

void HeadParser::on_field_impl(field name, Text text, Text value, error_code& fault) {
  // Beast joins folded lines, in memory of its own or by beginning the value on a later line.
  const char* const colon = view(text).end();
  const std::less<const char*> is_before;
  const bool elsewhere = is_before(value.data(), colon) || is_before(read_.end(), value.data());
  if (elsewhere || std::string_view(colon, value.data()).contains('\n')) {
    const auto line = static_cast<std::size_t>(text.data() - read_.data());
    return refuse(interpret(name, first_line_of_value(line)).value_or(Reject{400, "a header line is folded"}), fault);
  }
  const Header header{original(view(text)), original(view(value))};
  if (!all(Char::field, header.value)) return refuse({400, "a header value has a control character"}, fault);
  if (request_.headers.size() == max_headers) return refuse({431, "too many headers"}, fault);
  request_.headers.push_back(header);
  if (const auto wrong = interpret(name, view(value))) refuse(*wrong, fault);
}

// What Beast allows and a server behind a proxy had better not: each has been used to smuggle requests.
std::optional<Reject> HeadParser::interpret(field name, std::string_view value) {
  switch (name) {
    case field::host:
      ++hosts_;
      return {};
    case field::connection:
      closes_ = closes_ || beast::http::token_list(value).exists("close");
      return {};
    case field::expect:
      if (!equal_ignoring_case(value, "100-continue")) return Reject{417, "the only expectation known is 100-continue"};
      head_.expects_continue = true;
      return {};
    case field::content_length:
      if (++lengths_ > 1) return Reject{400, "more than one Content-Length"};
      if (value.size() > 18 || value.find_first_not_of("0123456789") != std::string_view::npos)
        return Reject{400, "Content-Length is not a number"};
      return {};
    case field::transfer_encoding:
      ++transfer_encodings_;
      if (!equal_ignoring_case(value, "chunked")) return Reject{501, "the only transfer encoding known is chunked"};
      return {};
    default:
      return {};
  }
}

std::optional<Reject> HeadParser::conclude() {
  if (hosts_ > 1 || (hosts_ == 0 && !head_.http10)) return Reject{400, "exactly one Host header is required"};
  if (chunked()) {
    if (head_.http10) return Reject{400, "HTTP/1.0 has no Transfer-Encoding"};
    head_.framing = Head::Framing::chunked;
  } else if (const auto length = content_length()) {
    head_.framing = Head::Framing::length;
    head_.content_length = *length;
  }
  head_.keep_alive = keep_alive() && !closes_;       // HTTP/1.0 may have both
  if (head_.http10) head_.expects_continue = false;  // RFC 9110, 10.1.1
  return {};
}

Reject HeadParser::explain(const error_code& fault) const {
  if (fault == error::bad_method) return {400, "the method is not a token of at most 32 characters"};
  if (fault == error::bad_target) return {400, "the request target is empty or has a character that a URL must escape"};
  if (fault == error::bad_version) return explain_version();
  if (fault == error::bad_value) return {400, "a header value has a control character"};
  if (fault == error::multiple_content_length) return {400, "more than one Content-Length"};
  if (fault == error::bad_content_length)
    return chunked() ? Reject{400, "both Content-Length and Transfer-Encoding"}
                     : Reject{400, "Content-Length is not a number"};
  if (fault == error::bad_transfer_encoding) return explain_transfer_encoding();
  if (fault == error::bad_line_ending) return {400, "a line of the head does not end in CR LF"};
  return {400, "a header name is not a token"};
}

Reject HeadParser::explain_version() const {
  const std::string_view line = bytes_.substr(0, bytes_.find("\r\n"));
  const std::string_view version = line.substr(line.rfind(' ') + 1);
  const auto is_digit = [&](std::size_t at) { return version[at] >= '0' && version[at] <= '9'; };
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(5) || version[6] != '.' || !is_digit(7))
    return {400, "the request line does not end in HTTP/1.1"};
  return version[5] == '1' ? Reject{400, "the request line is not METHOD TARGET VERSION"}
                           : Reject{505, "only HTTP/1.1 and HTTP/1.0 are spoken here"};
}

// Beast refuses a second framing before on_field_impl: the line is the one behind the last header.
Reject HeadParser::explain_transfer_encoding() const {
  if (transfer_encodings_ > 0) return {400, "more than one Transfer-Encoding"};
  const auto last = static_cast<std::size_t>(request_.headers.back().name.data() - bytes_.data());
  if (!equal_ignoring_case(first_line_of_value(bytes_.find("\r\n", last) + 2), "chunked"))
    return {501, "the only transfer encoding known is chunked"};
  return {400, "both Content-Length and Transfer-Encoding"};
}

std::optional<Reject> HeadParser::parse() {
  put(read_, fault_);
  if (reject_) return reject_;
  if (fault_) return explain(fault_);
  return conclude();
}

// RFC 9112, 2.3: a later minor version is read as 1.1, which Beast refuses. Empty: it is none.
std::string as_version_1_1(std::string_view head) {
  const std::size_t line = head.find("\r\n");
  std::string copy;
  if (line == std::string_view::npos || line < 8 || !head.substr(line - 8).starts_with("HTTP/1.")) return copy;
  if (head[line - 1] < '2' || head[line - 1] > '9') return copy;
  copy = head;
  copy[line - 1] = '1';
  return copy;
}

// Makes other tokens of the options of Connection that are none (RFC 9110, 7.6.1): they mean nothing here, and Beast
// would refuse the request. Neither close nor keep-alive has an x.
void mend_connection_options(std::string& head) {
  for (std::size_t line = head.find("\r\n"), end = 0; line != std::string::npos; line = end) {
    line += 2;
    end = head.find("\r\n", line);
    const std::string_view text = std::string_view(head).substr(line, end - line);
    const std::size_t colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    if (!equal_ignoring_case(name, "connection") && !equal_ignoring_case(name, "proxy-connection")) continue;
    for (std::size_t at = colon, comma = 0; at < text.size(); at = comma) {
      comma = std::min(text.find(',', ++at), text.size());
      for (const char& c : trim(text.substr(at, comma - at)))
        if (is(Char::field, c) && !is(Char::token, c)) head[static_cast<std::size_t>(&c - head.data())] = 'x';
    }
  }
}

}  // namespace framing_detail

HeadScanner::Found HeadScanner::scan(std::string_view bytes) {
  while (at_ < bytes.size()) {
    const std::size_t feed = bytes.find('\n', at_);
    if (feed == std::string_view::npos) break;
    if (feed == line_ || bytes[feed - 1] != '\r') return Found::bare_line_feed;
    at_ = feed + 1;
    if (feed == line_ + 1) return Found::end;
    line_ = at_;
  }
  at_ = bytes.size();
  return Found::nothing;
}

std::optional<Reject> parse_head(std::string_view bytes, Request& request, Head& head) {
  using namespace framing_detail;
  std::string copy = as_version_1_1(bytes);
  HeadParser parser(copy.empty() ? bytes : copy, bytes, request, head);
  const auto reject = parser.parse();
  if (!parser.has_faulty_value()) return reject;
  if (copy.empty()) copy = bytes;
  mend_connection_options(copy);
  return HeadParser(copy, bytes, request, head).parse();
}

// Begins behind the head of a chunked request.
struct ChunkedDecoder::Parser final : framing_detail::Parser {
  explicit Parser(std::uint64_t limit) : allowed(limit) {
    framing_detail::error_code fault;
    put("POST / HTTP/1.1\r\nTransfer-Encoding:chunked\r\n\r\n", fault);
  }
  void on_chunk_header_impl(std::uint64_t size, Text, framing_detail::error_code&) override {
    left = size;
    allowed -= size;
  }

  std::uint64_t allowed;   // of later chunks
  std::uint64_t left = 0;  // of the current chunk
};

ChunkedDecoder::ChunkedDecoder() = default;
ChunkedDecoder::~ChunkedDecoder() = default;

void ChunkedDecoder::reset(std::uint64_t body_limit) {
  parser_ = std::make_unique<Parser>(body_limit);
  line_.clear();
  trailers_ = 0;
}

// Gathers the lines between the chunks, which may come in pieces; the parser gets each line whole.
ChunkedDecoder::Step ChunkedDecoder::decode(std::span<char> bytes) {
  Step step;
  while (step.state == State::more && step.consumed < bytes.size()) {
    const std::string_view rest(bytes.data() + step.consumed, bytes.size() - step.consumed);
    if (parser_->left > 0) {
      const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(parser_->left, rest.size()));
      framing_detail::error_code none;
      parser_->put(rest.substr(0, n), none);
      std::memmove(bytes.data() + step.body, rest.data(), n);
      parser_->left -= n;
      step.body += n;
      step.consumed += n;
    } else {
      const std::size_t n = std::min(rest.find('\n'), rest.size() - 1) + 1;
      step.state = add_to_line(rest.substr(0, n));
      step.consumed += n;
    }
  }
  return step;
}

ChunkedDecoder::State ChunkedDecoder::add_to_line(std::string_view piece) {
  using namespace framing_detail;
  // CR and LF come in pairs only, and at the end: Beast asserts that, and allows control characters in quotes.
  std::string_view end = piece;
  while (!end.empty() && is(Char::field, end.front())) end.remove_prefix(1);
  const bool paired = line_.ends_with('\r') ? piece == "\n" : end.empty() || end == "\r" || end == "\r\n";
  line_ += piece;
  if (const State size = trailers_ > 0 ? State::more : check_size(); size != State::more) return size;
  if (!paired || line_.size() > (trailers_ > 0 ? max_trailers : max_size_line)) return State::malformed;
  if (!line_.ends_with('\n')) return State::more;
  if (trailers_ > 0) {
    const std::size_t begin = line_.rfind('\n', line_.size() - 2) + 1;
    const std::string_view trailer = std::string_view(line_).substr(begin);
    if (trailer != "\r\n") return is_trailer(trailer, begin == trailers_) ? State::more : State::malformed;
    line_.erase(trailers_, begin - trailers_);
  } else if (ends_in_quotes(line_)) {
    return State::malformed;
  }
  error_code fault;
  parser_->put(line_, fault);
  if (fault == error::need_more) {  // the line end of a chunk, or of the last chunk's size
    trailers_ = line_.size() > 2 ? line_.size() : 0;
    return State::more;
  }
  if (fault) return State::malformed;
  line_.clear();
  return parser_->is_done() ? State::done : State::more;
}

// As soon as it is known, which Beast's parser, given whole lines and for a 0 all the trailers, is not.
ChunkedDecoder::State ChunkedDecoder::check_size() const {
  std::string_view text = line_;
  if (text.starts_with('\r')) text.remove_prefix(std::min<std::size_t>(2, text.size()));  // the line end of a chunk
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size, 16);
  const std::string_view behind(end, text.data() + text.size());
  const std::size_t digits = text.size() - behind.size();
  if (digits > 15) return State::too_large;
  if (behind.empty()) return State::more;
  if (digits == 0) return State::malformed;
  if (size > parser_->allowed) return State::too_large;
  return std::string_view("\r; \t").contains(behind.front()) ? State::more : State::malformed;
}

}  // namespace stackgate::http
