// Dates and times of day.
#include <string>

#include "services/guardrail/detect/scan.hpp"
#include "services/guardrail/detect/words.hpp"

namespace stackgate::guardrail {
namespace {

struct Number {
  unsigned value = 0;
  std::size_t digits = 0;
  std::size_t end = 0;
};

/// At most five digits are read: none of ours has so many.
Number number_at(const Scan& scan, std::size_t at) {
  Number out{.end = at};
  while (out.digits < 5 && scan.digit_at(out.end)) {
    out.value = out.value * 10 + static_cast<unsigned>(scan.at(out.end++) - '0');
    ++out.digits;
  }
  return out;
}

bool is_day(unsigned value) { return value >= 1 && value <= 31; }
bool is_month_number(unsigned value) { return value >= 1 && value <= 12; }
bool is_year(const Number& number) { return number.digits == 4 && number.value >= 1000 && number.value < 3000; }
bool ends(const Scan& scan, std::size_t at) { return !is_word_byte(scan.at(at)); }

/// "pm", "a.m.", with a blank before it or none.
std::size_t half_of_day_end(const Scan& scan, std::size_t at) {
  std::size_t i = at + (scan.at(at) == ' ' ? 1 : 0);
  const char half = ascii::to_lower(scan.at(i));
  if (half != 'a' && half != 'p') return at;
  const bool stops = scan.at(i + 1) == '.';
  i += stops ? 2 : 1;
  if (ascii::to_lower(scan.at(i)) != 'm' || !ends(scan, i + 1)) return at;
  return i + (stops && scan.at(i + 1) == '.' ? 2 : 1);
}

std::size_t time_end(const Scan& scan, std::size_t at) {
  const Number hour = number_at(scan, at);
  if (hour.digits < 1 || hour.digits > 2 || hour.value > 24) return at;
  if (const std::size_t end = half_of_day_end(scan, hour.end); end != hour.end && hour.value <= 12) return end;
  const Number minute = number_at(scan, hour.end + 1);
  if (scan.at(hour.end) != ':' || minute.digits != 2 || minute.value > 59) return at;
  std::size_t end = minute.end;
  const Number second = number_at(scan, end + 1);
  if (scan.at(end) == ':' && second.digits == 2 && second.value <= 60) {
    end = second.end;
    if (scan.at(end) == '.' && scan.digit_at(end + 1))
      for (++end; scan.digit_at(end);) ++end;
  }
  if (scan.at(end) == 'Z') {
    ++end;
  } else if ((scan.at(end) == '+' || scan.at(end) == '-') && number_at(scan, end + 1).digits == 2) {
    end += 3;
    if (scan.at(end) == ':' && number_at(scan, end + 1).digits == 2) end += 3;
  } else {
    end = half_of_day_end(scan, end);
  }
  return ends(scan, end) && scan.at(end) != ':' ? end : at;
}

/// "1st", "12"; the end of the day of a month, or `at`.
std::size_t day_end(const Scan& scan, std::size_t at) {
  const Number day = number_at(scan, at);
  if (day.digits < 1 || day.digits > 2 || !is_day(day.value)) return at;
  const std::string ordinal = ascii::to_lower(scan.part(day.end, std::min(day.end + 2, scan.text().size())));
  const bool is_ordinal = ordinal == "st" || ordinal == "nd" || ordinal == "rd" || ordinal == "th";
  const std::size_t end = day.end + (is_ordinal ? 2 : 0);
  return ends(scan, end) ? end : at;
}

/// ", 2024", " 2024": where it ends, or `at`.
std::size_t year_end(const Scan& scan, std::size_t at) {
  std::size_t i = at;
  if (scan.at(i) == ',') ++i;
  if (scan.at(i) != ' ') return at;
  const Number year = number_at(scan, i + 1);
  return is_year(year) && ends(scan, year.end) ? year.end : at;
}

std::size_t numeric_date_end(const Scan& scan, std::size_t at) {
  const Number first = number_at(scan, at);
  const char separator = scan.at(first.end);
  if (separator != '-' && separator != '/' && separator != '.') return at;
  const Number second = number_at(scan, first.end + 1);
  if (second.digits < 1 || second.digits > 2 || scan.at(second.end) != separator) return at;
  const Number third = number_at(scan, second.end + 1);
  if (!ends(scan, third.end) && scan.at(third.end) != 'T') return at;
  const bool iso = is_year(first) && is_month_number(second.value) && third.digits <= 2 && is_day(third.value);
  const bool day_and_month = first.digits <= 2 && ((is_day(first.value) && is_month_number(second.value)) ||
                                                   (is_month_number(first.value) && is_day(second.value)));
  const bool whole = first.digits == 2 && second.digits == 2 && third.digits == 2;
  if (!iso && !(day_and_month && (is_year(third) || whole || (separator == '/' && third.digits == 2)))) return at;
  if (scan.at(third.end) == separator && scan.digit_at(third.end + 1)) return at;
  const bool time_follows = scan.at(third.end) == 'T' || scan.at(third.end) == ' ';
  const std::size_t time = time_follows ? time_end(scan, third.end + 1) : third.end + 1;
  if (time != third.end + 1) return time;
  return ends(scan, third.end) ? third.end : at;
}

}  // namespace

std::size_t date_end(const Scan& scan, std::size_t at) {
  if (!scan.wants(Entity::date_time)) return at;
  if (const std::size_t end = numeric_date_end(scan, at); end != at) return end;
  if (const std::size_t end = time_end(scan, at); end != at) return end;
  std::size_t month = day_end(scan, at);
  if (month == at || scan.at(month) != ' ') return at;
  if (scan.text().substr(++month).starts_with("of ")) month += 3;
  if (!scan.capital_at(month)) return at;
  std::size_t end = scan.word_end(month);
  if (!is_month(scan.part(month, end))) return at;
  if (scan.at(end) == '.' && scan.at(end + 1) == ' ' && scan.digit_at(end + 2)) ++end;
  return year_end(scan, end);
}

std::size_t month_date_end(const Scan& scan, std::size_t at, std::size_t end) {
  if (!is_month(scan.part(at, end))) return at;
  if (scan.at(end) == '.') ++end;
  if (scan.at(end) != ' ') return at;
  if (const std::size_t day = day_end(scan, end + 1); day != end + 1) return year_end(scan, day);
  const std::size_t year = year_end(scan, end);
  return year == end ? at : year;
}

}  // namespace stackgate::guardrail
