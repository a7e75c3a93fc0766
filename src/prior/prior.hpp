// The prior N(0, diag(lambda)^-1): one precision per group of parameters, perhaps times the inputs of each
// parameter's layer, or one per parameter fixed by the caller.
#pragma once

#include <vector>

#include "model/model.hpp"
#include "options/options.hpp"

namespace bdl {

template <class T>
class Prior {
 public:
  Prior() = default;
  /// Groups the blocks and sets every group's precision as the options say.
  Prior(const std::vector<ParameterBlock>& blocks, const Options& options);
  void reset(const std::vector<ParameterBlock>& blocks, const Options& options) {
    *this = Prior(blocks, options);
  }
  /// Fixes lambda parameter by parameter; learning ends.
  void fix(ConstSpan<T> precision);

  bool is_fixed() const { return fixed_; }
  ConstSpan<T> precision() const { return precision_.first(dimension_); }
  ConstSpan<double> groups() const { return groups_; }
  void set_groups(ConstSpan<double> values);

  /// Mean of scale theta^2 over each group and the samples (columns of thetas), one per group: 1 over the
  /// precision of the group, before its scale, that suits them best.
  void mean_squares(ConstMatrixView<T> thetas, std::span<double> out) const;

 private:
  void spread_groups();
  struct Part {
    Index offset, size;
    std::size_t group;
    double scale;  ///< of the group's precision
  };
  std::vector<Part> parts_;
  std::vector<double> groups_;
  std::vector<Index> group_sizes_;
  Buffer<T> precision_;
  Index dimension_ = 0;
  bool fixed_ = false;
};

}  // namespace bdl
