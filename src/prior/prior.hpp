// The prior N(mu_0, Lambda_0^-1): mean 0 and one precision per group of parameters, perhaps times the inputs
// of each parameter's layer, which may be learned; one precision per parameter fixed by the caller; or a
// posterior, with its mean and its whole precision. What a loss with the KL divergence to it adds to its
// gradient and to the curvature of a step stands here, and nowhere else.
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
  /// Fixes it to a Gaussian posterior, for beliefs of this kind to be learned with.
  void fix(std::shared_ptr<const Posterior<T>> belief, const PosteriorKind& learned);
  /// As another one is fixed, for the same kind of beliefs.
  void fix(const Prior& other);
  /// The same prior, fixed, in double.
  Prior<double> widened(const PosteriorKind& learned) const;

  bool is_fixed() const { return fixed_; }
  /// Null unless the prior is one.
  const Posterior<T>* belief() const { return belief_.get(); }
  /// It, as one of the family that is learned; null where steps take it otherwise.
  const Posterior<T>* belief_in_family() const { return in_family_.get(); }
  /// Lambda_0's diagonal.
  ConstSpan<T> precision() const { return precision_.first(dimension_); }
  /// Fails with ERROR_UNSUPPORTED where enter() would: a low-rank posterior has no room for a dense Lambda_0.
  void check_enters() const;

  /// out = factor gradient + Lambda_0 (mean - mu_0): the gradient of a loss with the KL.
  void slope(ConstSpan<T> mean, T factor, ConstSpan<T> gradient, std::span<T> out);
  /// The same for the factor 1; a diagonal Lambda_0 may be another one, as dropout weighs it.
  void slope(ConstSpan<T> mean, ConstSpan<T> gradient, ConstSpan<T> diagonal, std::span<T> out);
  /// out += Lambda_0 (mean - mu_0).
  void add_slope(ConstSpan<T> mean, std::span<T> out);
  /// out += Lambda_0 x.
  void add_product(ConstSpan<T> x, std::span<T> out);
  /// The step's loss has the KL to this prior: completes what has the curvature of the data. What it points
  /// at lives until the next call.
  void enter(PosteriorStep<T>& step);
  void enter(StepSize& step) const;
  double kl(const Posterior<T>& q, PosteriorScratch<T>& scratch) const;
  /// Of its precisions.
  Index bytes() const;
  struct Scratch {
    Buffer<T> weights, shift, product;
    PosteriorScratch<T> posterior;
    JoinedRows<T> joined;
  };
  /// Memory for products with a posterior's precision. Other priors take none.
  void reserve(Scratch& scratch) const;
  /// The same for steps, which enter() has completed, that make this use of the rows.
  void reserve_step(const StepSize& step, const RowsUse& use, Scratch& scratch) const;
  Scratch& scratch() { return scratch_; }

  ConstSpan<double> groups() const { return groups_; }
  void set_groups(ConstSpan<double> values);

  /// Mean of scale theta^2 over each group and the samples (columns of thetas), one per group: 1 over the
  /// precision of the group, before its scale, that suits them best.
  void mean_squares(ConstMatrixView<T> thetas, std::span<double> out) const;

 private:
  void spread_groups();
  ConstSpan<T> product(ConstSpan<T> shift);
  ConstSpan<T> shift_from_mean(ConstSpan<T> mean);
  void take_belief(std::shared_ptr<const Posterior<T>> belief, std::shared_ptr<const Posterior<T>> in_family,
                   bool is_low_rank);
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
  PointLayout points_;  // no prior: precision 1, and no slope
  bool fixed_ = false;
  // Of a posterior as prior, and how it gets into steps: as a posterior of their family, by its columns after
  // the curvature's rows, by its diagonal if there is neither, or not at all.
  std::shared_ptr<const Posterior<T>> belief_, in_family_;
  bool is_joined_ = false, enters_ = true;
  Scratch scratch_;
};

/// A posterior of the kind with the precision of `belief`, of which families of blocks and diagonals have
/// only their part. Fails with ERROR_UNSUPPORTED for low-rank ones that have no room for it.
template <class T>
std::unique_ptr<Posterior<T>> in_family(const Posterior<T>& belief, const PosteriorKind& kind);
/// It is in the family already, with the same rank or blocks.
template <class T>
bool is_of_kind(const Posterior<T>& belief, const PosteriorKind& kind);

/// Fails with ERROR_UNSUPPORTED, naming what would work, unless in_family() has the whole precision.
template <class T>
void check_holds(const Posterior<T>& q, const Posterior<T>& belief);

}  // namespace bdl
