#include "search/space.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace bdl {
namespace {

constexpr std::int64_t largest_whole = std::int64_t{1} << 53;  // the largest that all doubles hold exactly

/// Maps values to the scale on which they are distributed evenly over the unit interval; from_scale() is the
/// inverse.
double to_scale(double value, RangeScale scale) {
  return scale == RangeScale::log ? std::log(value) : value;
}

double from_scale(double value, RangeScale scale) {
  return scale == RangeScale::log ? std::exp(value) : value;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

void check_scale(const char* name, double low, RangeScale scale) {
  if (scale == RangeScale::log && !(low > 0))
    fail(Status::ERROR_INVALID_ARGUMENT, "low is %g for option \"%s\", expected more than 0 on a log scale",
         low, name);
}

}  // namespace

/// A whole number has the interval of half a step on both sides, so the ends are as likely as the others.
double Space::Range::value(double coordinate) const {
  const double half = is_whole() ? 0.5 : 0, first = to_scale(low - half, scale),
               last = to_scale(high + half, scale);
  const double value = from_scale(first + coordinate * (last - first), scale);
  return std::clamp(is_whole() ? std::round(value) : value, low, high);
}

double Space::Range::coordinate(double value) const {
  const double half = is_whole() ? 0.5 : 0, first = to_scale(low - half, scale),
               last = to_scale(high + half, scale);
  return (to_scale(value, scale) - first) / (last - first);
}

void Space::add(Range range) {
  for (const Range& other : ranges_)
    if (other.option == range.option)
      fail(Status::ERROR_INVALID_ARGUMENT, "option \"%s\" has a range already", range.option->name);
  ranges_.push_back(std::move(range));
}

void Space::add_real(const char* name, double low, double high, RangeScale scale) {
  const OptionInfo& info = find_option(name, OptionType::real);
  Options options;
  for (const double limit : {low, high}) set_option(options, info, limit);
  check_scale(name, low, scale);
  if (!(low < high))
    fail(Status::ERROR_INVALID_ARGUMENT, "low is %g for option \"%s\", expected less than high, which is %g",
         low, name, high);
  if (!std::isfinite(high - low))
    fail(Status::ERROR_INVALID_ARGUMENT, "the range of option \"%s\" is too wide", name);
  add({&info, low, high, scale, {}});
}

void Space::add_integer(const char* name, std::int64_t low, std::int64_t high, RangeScale scale) {
  const OptionInfo& info = find_option(name, OptionType::integer);
  Options options;
  for (const std::int64_t limit : {low, high}) {
    set_option(options, info, limit);
    if (limit < -largest_whole || limit > largest_whole)
      fail(Status::ERROR_INVALID_ARGUMENT,
           "the range of option \"%s\" ends at %lld, expected within -2^53 to 2^53", name,
           static_cast<long long>(limit));
  }
  check_scale(name, static_cast<double>(low), scale);
  if (low >= high)
    fail(Status::ERROR_INVALID_ARGUMENT,
         "low is %lld for option \"%s\", expected less than high, which is %lld", static_cast<long long>(low),
         name, static_cast<long long>(high));
  add({&info, static_cast<double>(low), static_cast<double>(high), scale, {}});
}

void Space::add_choice(const char* name, const char* words) {
  const OptionInfo& info = find_option(name, OptionType::choice);
  std::vector<std::int32_t> numbers;
  for (std::string_view rest = words; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    Options options;
    set_option(options, info, std::string(trimmed(rest.substr(0, bar))).c_str());
    if (std::ranges::find(numbers, info.choice(options)) != numbers.end())
      fail(Status::ERROR_INVALID_ARGUMENT, "words has \"%s\" twice", choice_word(info, info.choice(options)));
    numbers.push_back(info.choice(options));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  if (numbers.size() < 2)
    fail(Status::ERROR_INVALID_ARGUMENT, "words is \"%.60s\", expected at least two of %s", words,
         info.range);
  const double last = static_cast<double>(numbers.size()) - 1;
  add({&info, 0, last, RangeScale::linear, std::move(numbers)});
}

bool Space::is_choice(Index k) const {
  return ranges_[static_cast<std::size_t>(k)].option->type == OptionType::choice;
}

std::vector<double> Space::values(ConstSpan<double> point) const {
  std::vector<double> out(ranges_.size());
  for (std::size_t k = 0; k < ranges_.size(); ++k) out[k] = ranges_[k].value(point[k]);
  return out;
}

void Space::snap(std::span<double> point) const {
  for (std::size_t k = 0; k < ranges_.size(); ++k)
    if (ranges_[k].is_whole()) point[k] = ranges_[k].coordinate(ranges_[k].value(point[k]));
}

void Space::set(ConstSpan<double> values, Options& options) const {
  Options changed = options;
  for (std::size_t k = 0; k < ranges_.size(); ++k) {
    const OptionInfo& info = *ranges_[k].option;
    if (info.type == OptionType::real)
      set_option(changed, info, values[k]);
    else if (info.type == OptionType::integer)
      set_option(changed, info, static_cast<std::int64_t>(values[k]));
    else
      info.choose(changed, ranges_[k].words[static_cast<std::size_t>(values[k])]);
  }
  options = changed;
}

void Space::add_to(Hash& hash) const {
  for (const Range& range : ranges_) {
    hash.add(std::string_view(range.option->name));
    hash.add(range.low);
    hash.add(range.high);
    hash.add_all({static_cast<Index>(range.scale), std::ssize(range.words)});
    for (const std::int32_t word : range.words) hash.add(static_cast<std::uint64_t>(word));
  }
}

bool Space::has_prior_option() const {
  return std::ranges::any_of(ranges_, [](const Range& range) { return is_prior_option(*range.option); });
}

}  // namespace bdl
