#include "base/http_date.h"

#include <array>
#include <ctime>
#include <iomanip>
#include <locale>
#include <sstream>
#include <string>

namespace armgate {

std::optional<std::chrono::sys_seconds> parse_http_date(std::string_view text) {
  static constexpr std::array<const char*, 3> kForms{"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT",
                                                     "%a %b %e %H:%M:%S %Y"};
  for (const char* form : kForms) {
    std::istringstream in{std::string(text)};
    in.imbue(std::locale::classic());
    std::tm parts{};
    in >> std::get_time(&parts, form);
    // get_time() takes a text that breaks off for a whole one, so the date must also be written back as it was read.
    std::ostringstream back;
    back.imbue(std::locale::classic());
    back << std::put_time(&parts, form);
    if (in.fail() || back.view() != text) continue;
    const std::chrono::year_month_day day{std::chrono::year(parts.tm_year + 1900),
                                          std::chrono::month(static_cast<unsigned>(parts.tm_mon + 1)),
                                          std::chrono::day(static_cast<unsigned>(parts.tm_mday))};
    if (!day.ok()) return std::nullopt;
    return std::chrono::sys_days(day) + std::chrono::hours(parts.tm_hour) + std::chrono::minutes(parts.tm_min) +
           std::chrono::seconds(parts.tm_sec);
  }
  return std::nullopt;
}

}  // namespace armgate
