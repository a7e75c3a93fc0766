// The options that a search varies, each within a range. A point of the unit cube stands for one value of
// each.
#pragma once

#include <vector>

#include "base/hash.hpp"
#include "options/options.hpp"

namespace bdl {

enum class RangeScale { linear = 1, log = 2 };

class Space {
 public:
  /// Adds a range. Fails, and adds nothing, unless the option exists, has no range yet, and allows the
  /// values.
  void add_real(const char* name, double low, double high, RangeScale scale);
  void add_integer(const char* name, std::int64_t low, std::int64_t high, RangeScale scale);
  /// `words` are written as in the documentation of options: "mc-ef | mc-ggn".
  void add_choice(const char* name, const char* words);

  Index size() const { return static_cast<Index>(ranges_.size()); }
  /// True if coordinate k has no order: its values are equal or not.
  bool is_choice(Index k) const;
  /// Returns a value for each option; for a choice, the number of its word in the range, from 0.
  std::vector<double> values(ConstSpan<double> point) const;
  /// Makes points that stand for equal values equal.
  void snap(std::span<double> point) const;
  /// Sets every option, or none if it fails.
  void set(ConstSpan<double> values, Options& options) const;
  /// True if some option defines the prior.
  bool has_prior_option() const;
  /// Adds everything that defines the space.
  void add_to(Hash& hash) const;

 private:
  struct Range {
    const OptionInfo* option;
    double low, high;  ///< limits of the values
    RangeScale scale;
    std::vector<std::int32_t> words;  ///< the option's numbers for the words of a choice
    bool is_whole() const { return option->type != OptionType::real; }
    double value(double coordinate) const;
    double coordinate(double value) const;
  };
  void add(Range range);
  std::vector<Range> ranges_;
};

}  // namespace bdl
