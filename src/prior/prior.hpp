// The prior N(mu_0, Lambda_0^-1). It is one of four: mean 0 and one precision per group of parameters,
// perhaps times the inputs of each parameter's layer, which may be learned; the same beside normal priors of
// some parameters, which are given (normals.hpp) and enter steps as a posterior does; mean 0 and one
// precision per parameter, fixed by the caller; or a posterior, with its mean and its whole precision. Only
// this class
// knows what the KL divergence to the prior adds to the gradient of a loss (slope()) and to the curvature of
// a step (enter()).
//
// A posterior enters a step in the way that suits the family that is learned: as a posterior of that family
// (in_family.cpp), by the columns of its low-rank factor after the curvature rows (joined_rows.hpp), or by
// its diagonal. docs/theory/natural-gradients.md, "The loss and its derivatives", has the formulas.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "model/model.hpp"
#include "options/options.hpp"
#include "posterior/posterior.hpp"
#include "prior/joined_rows.hpp"
#include "prior/normals.hpp"

namespace bdl {

/// The precisions of independent parameters: scale_j times the value of j's group.
struct GroupedPrecisions {
  std::vector<Index> group;  ///< of each parameter; -1 for point parameters
  std::vector<double> scale;
  std::vector<double> values;  ///< of the groups
  Index given = -1;            ///< a group that keeps its value: priors that the caller has given

  Index groups() const { return std::ssize(values); }
  /// Returns the precision of parameter j; 1 for point parameters.
  double at(std::size_t j) const {
    return group[j] < 0 ? 1 : scale[j] * values[static_cast<std::size_t>(group[j])];
  }
  /// Returns the same precisions as one group of value 1.
  GroupedPrecisions joined() const {
    GroupedPrecisions one{group, scale, {1}, -1};
    for (std::size_t j = 0; j < group.size(); ++j) {
      one.scale[j] = at(j);
      one.group[j] = std::min<Index>(group[j], 0);
    }
    return one;
  }
};

template <class T>
class Prior {
 public:
  Prior() = default;
  /// Groups the blocks and sets every group's precision as the options say.
  Prior(const std::vector<ParameterBlock>& blocks, const Options& options);
  void reset(const std::vector<ParameterBlock>& blocks, const Options& options) {
    *this = Prior(blocks, options);
  }
  /// Returns a fixed prior with mean 0 and these precisions, without groups.
  static Prior fixed(ConstSpan<T> precision);
  /// Fixes the mean to 0 and the precision of each parameter; the prior is not learned any more.
  void fix(ConstSpan<T> precision);
  /// Fixes the prior to a Gaussian posterior; `learned` is the kind of the posterior that is learned.
  void fix(std::shared_ptr<const Posterior<T>> posterior, const PosteriorKind& learned);
  /// Gives some parameters normal priors, beside the groups of the others. Then posterior() is the whole.
  void give(ParameterNormals normals, const PosteriorKind& learned);
  /// Fixes the prior to `other`, if the posterior that is learned has the same kind.
  void fix(const Prior& other);
  /// Returns the same prior, fixed, in double.
  Prior<double> widened(const PosteriorKind& learned) const;

  bool is_fixed() const { return fixed_; }
  /// True if parameters are independent.
  bool is_diagonal() const { return !posterior_ || posterior_->is_diagonal(); }
  /// True if parameters have priors by give(). Training then starts as without them.
  bool has_normals() const { return normals_ != nullptr; }
  /// Returns the posterior that the prior is, or null.
  const Posterior<T>* posterior() const { return posterior_.get(); }
  const std::shared_ptr<const Posterior<T>>& shared_posterior() const { return posterior_; }
  /// Returns that posterior in the family that is learned; null if steps use it in another way.
  const Posterior<T>* posterior_in_family() const { return in_family_.get(); }
  /// Returns the diagonal of Lambda_0.
  ConstSpan<T> precision() const { return precision_.first(dimension_); }
  /// Fails with ERROR_UNSUPPORTED if enter() would: a low-rank posterior has no room for a dense Lambda_0.
  void check_enters() const;

  /// Writes factor gradient + Lambda_0 (mean - mu_0): the gradient of a loss with the KL divergence. Point
  /// parameters have no prior.
  void slope(ConstSpan<T> mean, T factor, ConstSpan<T> gradient, std::span<T> out, Scratch& scratch) const;
  /// Writes gradient + Lambda_0 (mean - mu_0). `diagonal` replaces a diagonal Lambda_0, which dropout
  /// weighs.
  void slope(ConstSpan<T> mean, ConstSpan<T> gradient, ConstSpan<T> diagonal, std::span<T> out,
             Scratch& scratch) const;
  /// Adds Lambda_0 (mean - mu_0).
  void add_slope(ConstSpan<T> mean, std::span<T> out, Scratch& scratch) const;
  /// Adds Lambda_0 x.
  void add_product(ConstSpan<T> x, std::span<T> out, Scratch& scratch) const;
  /// Adds the prior to a step that has the curvature of the data, for a loss with the KL divergence. Views
  /// in the step live until the next call.
  void enter(PosteriorStep<T>& step);
  /// Adds what enter() adds beside curvature rows.
  void enter_without_rows(PosteriorStep<T>& step) const;
  double kl(const Posterior<T>& q, Scratch& scratch) const;

  ConstSpan<double> groups() const { return groups_; }
  void set_groups(ConstSpan<double> values);
  /// Returns the precisions by groups; if they are fixed, as one group of value 1.
  GroupedPrecisions grouped() const;

  /// Writes the mean of scale theta^2 over each group and the samples (columns of thetas). Its inverse is
  /// the group's precision, before scales, that suits the samples best.
  void mean_squares(ConstMatrixView<T> thetas, std::span<double> out) const;

 private:
  struct Range {
    Index offset, size;
    std::size_t group;
    double scale;  ///< factor on the group's precision
  };
  void add_range(const Range& range, double precision);
  void add_inputs(const ParameterBlock& weights, double precision, double scale);
  void write_precision();
  void leave_to_normals();
  void set_groups_beside_columns(ConstSpan<double> values);
  void write_normals();
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
  // A posterior as prior, and how it enters steps: as a posterior of their family, by its columns after the
  // curvature's rows (joined_), by its diagonal if there is neither, or not at all (enters_ is false).
  std::shared_ptr<const Posterior<T>> posterior_, in_family_;
  bool enters_ = true;
  std::unique_ptr<JoinedRows<T>> joined_;
  Buffer<T> weights_;  // weights w_r of the joined rows
  std::unique_ptr<const ParameterNormals> normals_;
  std::shared_ptr<Posterior<T>> own_, own_in_family_;  // posterior_ and in_family_ of groups and normals
};

/// Returns a posterior of this kind with the precision of `q`; families of blocks and diagonals keep only
/// the elements that they have. Fails with ERROR_UNSUPPORTED for families that have no room for it.
template <class T>
std::unique_ptr<Posterior<T>> in_family(const Posterior<T>& q, const PosteriorKind& kind);
/// True if q has this family, with the same rank, blocks and matrices.
template <class T>
bool is_of_kind(const Posterior<T>& q, const PosteriorKind& kind);

/// Fails with ERROR_UNSUPPORTED, naming what would work, unless posteriors like q can hold the prior's whole
/// precision.
template <class T>
void check_holds(const Posterior<T>& q, const Posterior<T>& prior);

}  // namespace bdl
