#include "services/kit/jinja/strftime.hpp"

#include <array>

#include <fmt/format.h>

namespace stackgate::jinja {
namespace {

constexpr std::array<std::string_view, 7> days{"Sunday",   "Monday", "Tuesday", "Wednesday",
                                               "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months{"January",   "February", "March",    "April",
                                                  "May",       "June",     "July",     "August",
                                                  "September", "October",  "November", "December"};

struct Moment {
  explicit Moment(std::chrono::local_seconds time)
      : day(std::chrono::floor<std::chrono::days>(time)),
        date(day),
        time_of_day(time - day),
        weekday(std::chrono::weekday(day).c_encoding()),
        year_day((day - std::chrono::local_days(date.year() / 1 / 1)).count()) {}

  std::chrono::local_days day;
  std::chrono::year_month_day date;
  std::chrono::hh_mm_ss<std::chrono::seconds> time_of_day;
  unsigned weekday;  // 0: Sunday
  long year_day;     // 0: the first of January
};

// A number with its padding: %-d has none.
void append_number(std::string& out, long value, int width, char pad, char flag) {
  if (flag == '-') width = 0;
  if (flag == '_') pad = ' ';
  if (flag == '0') pad = '0';
  out += pad == ' ' ? fmt::format("{:{}}", value, width) : fmt::format("{:0{}}", value, width);
}

std::string_view composed(char conversion) {
  switch (conversion) {
    case 'D':
      return "%m/%d/%y";
    case 'F':
      return "%Y-%m-%d";
    case 'R':
      return "%H:%M";
    case 'T':
    case 'X':
      return "%H:%M:%S";
    case 'c':
      return "%a %b %e %H:%M:%S %Y";
    case 'r':
      return "%I:%M:%S %p";
    case 'x':
      return "%m/%d/%y";
    default:
      return {};
  }
}

bool append_field(std::string& out, const Moment& at, char conversion, char flag) {
  const auto hour = static_cast<long>(at.time_of_day.hours().count());
  const int year = static_cast<int>(at.date.year());
  const auto month = static_cast<unsigned>(at.date.month());
  const auto monday_based = static_cast<long>((at.weekday + 6) % 7);
  const auto number = [&](long value, int width, char pad = '0') { append_number(out, value, width, pad, flag); };
  switch (conversion) {
    case 'a':
      out += days[at.weekday].substr(0, 3);
      break;
    case 'A':
      out += days[at.weekday];
      break;
    case 'b':
    case 'h':
      out += months[month - 1].substr(0, 3);
      break;
    case 'B':
      out += months[month - 1];
      break;
    case 'C':
      number(year / 100, 2);
      break;
    case 'd':
      number(static_cast<unsigned>(at.date.day()), 2);
      break;
    case 'e':
      number(static_cast<unsigned>(at.date.day()), 2, ' ');
      break;
    case 'H':
      number(hour, 2);
      break;
    case 'k':
      number(hour, 2, ' ');
      break;
    case 'I':
      number((hour + 11) % 12 + 1, 2);
      break;
    case 'l':
      number((hour + 11) % 12 + 1, 2, ' ');
      break;
    case 'j':
      number(at.year_day + 1, 3);
      break;
    case 'm':
      number(month, 2);
      break;
    case 'M':
      number(at.time_of_day.minutes().count(), 2);
      break;
    case 'n':
      out += '\n';
      break;
    case 'p':
      out += hour < 12 ? "AM" : "PM";
      break;
    case 'P':
      out += hour < 12 ? "am" : "pm";
      break;
    case 'S':
      number(at.time_of_day.seconds().count(), 2);
      break;
    case 't':
      out += '\t';
      break;
    case 'u':
      number(monday_based + 1, 1);
      break;
    case 'w':
      number(at.weekday, 1);
      break;
    case 'U':
      number((at.year_day + 7 - static_cast<long>(at.weekday)) / 7, 2);
      break;
    case 'W':
      number((at.year_day + 7 - monday_based) / 7, 2);
      break;
    case 'y':
      number(year % 100, 2);
      break;
    case 'Y':
      number(year, 1);
      break;
    case 'z':
    case 'Z':
      break;  // a local time without a zone
    case '%':
      out += '%';
      break;
    default:
      return false;
  }
  return true;
}

void append_time(std::string& out, const Moment& at, std::string_view format) {
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 >= format.size()) {
      out += format[i];
      continue;
    }
    const std::size_t begin = i++;
    const char flag = format[i] == '-' || format[i] == '_' || format[i] == '0' ? format[i] : '\0';
    if (flag != '\0' && i + 1 < format.size()) ++i;
    if (const std::string_view parts = composed(format[i]); !parts.empty()) {
      append_time(out, at, parts);
    } else if (!append_field(out, at, format[i], flag)) {
      out += format.substr(begin, i + 1 - begin);
    }
  }
}

}  // namespace

std::string strftime(std::chrono::local_seconds time, std::string_view format) {
  std::string out;
  append_time(out, Moment(time), format);
  return out;
}

}  // namespace stackgate::jinja
