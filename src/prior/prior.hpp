// The prior N(mu_0, Lambda_0^-1). It is one of three: mean 0 and one precision per group of parameters,
// perhaps times the inputs of each parameter's layer, which may be learned; mean 0 and one precision per
// parameter, fixed by the caller; or a posterior, with its mean and its whole precision. What a loss with the
// KL divergence to it adds to its gradient (slope()) and to the curvature of a step (enter()) is written
// here, and nowhere else.
//
// A posterior enters a step in the way that suits the family that is learned: as a posterior of that family
// (in_family.cpp), by the columns of its low-rank factor after the curvature rows (joined_rows.hpp), or by
// its diagonal. docs/mathematics/natural-gradients.md, "The loss and its derivatives", has the formulas.
#pragma once

#include <memory>
#include <vector>

#include "model/model.hpp"
#include "options/options.hpp"
#include "posterior/posterior.hpp"
#include "prior/joined_rows.hpp"

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
  /// Mean 0 and these precisions, without groups.
  static Prior fixed(ConstSpan<T> precision);
  /// Fixes lambda parameter by parameter; learning ends.
  void fix(ConstSpan<T> precision);
  /// Fixes it to a Gaussian posterior, for posteriors of this kind to be learned.
  void fix(std::shared_ptr<const Posterior<T>> posterior, const PosteriorKind& learned);
  /// Fixes it as another one is, for the same kind of posteriors.
  void fix(const Prior& other);
  /// Returns the same prior, fixed, in double.
  Prior<double> widened(const PosteriorKind& learned) const;

  bool is_fixed() const { return fixed_; }
  /// Returns the posterior that the prior is, or null.
  const Posterior<T>* posterior() const { return posterior_.get(); }
  /// Returns it as one of the family that is learned; null where steps take it otherwise.
  const Posterior<T>* posterior_in_family() const { return in_family_.get(); }
  /// Returns the diagonal of Lambda_0.
  ConstSpan<T> precision() const { return precision_.first(dimension_); }
  /// Fails with ERROR_UNSUPPORTED where enter() would: a low-rank posterior has no room for a dense Lambda_0.
  void check_enters() const;

  /// out = factor gradient + Lambda_0 (mean - mu_0): the gradient of a loss with the KL.
  void slope(ConstSpan<T> mean, T factor, ConstSpan<T> gradient, std::span<T> out, Scratch& scratch) const;
  /// out = gradient + Lambda_0 (mean - mu_0); a diagonal Lambda_0 may be another one, as dropout weighs it.
  void slope(ConstSpan<T> mean, ConstSpan<T> gradient, ConstSpan<T> diagonal, std::span<T> out,
             Scratch& scratch) const;
  /// out += Lambda_0 (mean - mu_0).
  void add_slope(ConstSpan<T> mean, std::span<T> out, Scratch& scratch) const;
  /// out += Lambda_0 x.
  void add_product(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const;
  /// Completes a step that has the curvature of the data, for a loss with the KL to this prior. What it
  /// points at lives until the next call.
  void enter(PosteriorStep<T>& step);
  double kl(const Posterior<T>& q, Scratch& scratch) const;

  ConstSpan<double> groups() const { return groups_; }
  void set_groups(ConstSpan<double> values);

  /// Writes the mean of scale theta^2 over each group and the samples (columns of thetas), one per group: 1
  /// over the precision of the group, before its scale, that suits them best.
  void mean_squares(ConstMatrixView<T> thetas, std::span<double> out) const;

 private:
  struct Range {
    Index offset, size;
    std::size_t group;
    double scale;  ///< of the group's precision
  };
  void write_precision();
  ConstSpan<T> product(ConstSpan<T> shift, Scratch& scratch) const;
  ConstSpan<T> shift_from_mean(ConstSpan<T> mean, Scratch& scratch) const;
  void set_posterior(std::shared_ptr<const Posterior<T>> posterior,
                     std::shared_ptr<const Posterior<T>> in_family, bool is_low_rank);

  std::vector<Range> ranges_;
  std::vector<double> groups_;
  std::vector<Index> group_sizes_;
  Buffer<T> precision_;
  Index dimension_ = 0;
  PointLayout points_;  // parameters without prior: precision 1, and no slope
  bool fixed_ = false;
  // A posterior as prior, and how it gets into steps: as a posterior of their family, by its columns after
  // the curvature's rows, by its diagonal if there is neither, or not at all.
  std::shared_ptr<const Posterior<T>> posterior_, in_family_;
  bool enters_ = true;
  std::unique_ptr<JoinedRows<T>> joined_;
  Buffer<T> weights_;  // of the joined rows
};

/// Returns a posterior of the kind with the precision of `q`; families of blocks and diagonals have only what
/// they can hold of it. Fails with ERROR_UNSUPPORTED for low-rank ones that have no room for it.
template <class T>
std::unique_ptr<Posterior<T>> in_family(const Posterior<T>& q, const PosteriorKind& kind);
/// True if it is in the family already, with the same rank or blocks.
template <class T>
bool is_of_kind(const Posterior<T>& q, const PosteriorKind& kind);

/// Fails with ERROR_UNSUPPORTED, naming what would work, unless posteriors like q can hold the prior's whole
/// precision.
template <class T>
void check_holds(const Posterior<T>& q, const Posterior<T>& prior);

}  // namespace bdl
