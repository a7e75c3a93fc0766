// Streams in a few lines: an optimizer with a random prior of any family, observations in dense matrices, and
// draws that do not depend on a family's square root.
#pragma once

#include "support/likelihoods.hpp"
#include "support/training.hpp"
#include "support/verify.hpp"
#include "train/stream/stream.hpp"

namespace bdl::testing {

struct FamilyKind {
  const char* name;
  Family family;
  Index rank;
};
inline constexpr FamilyKind low_rank_kind{"low rank", Family::low_rank, 2},
    diagonal_kind{"diagonal", Family::low_rank, 0}, full_kind{"full", Family::full, 0},
    full_moment_kind{"full moment", Family::full_moment, 0},
    diagonal_moment_kind{"diagonal moment", Family::diagonal_moment, 0};
inline constexpr FamilyKind family_kinds[] = {low_rank_kind, diagonal_kind, full_kind, full_moment_kind,
                                              diagonal_moment_kind};
inline constexpr Rule rules[] = {Rule::bong, Rule::blr, Rule::bog, Rule::bbb};
inline constexpr EstimateKind estimates[] = {EstimateKind::mc_ef, EstimateKind::mc_ggn, EstimateKind::mc_hess,
                                             EstimateKind::lin_hess, EstimateKind::lin_ef};

inline bool exists(const FamilyKind& kind, EstimateKind estimate) {
  return kind.rank == 0 || estimate != EstimateKind::mc_hess;
}

/// A proper Gaussian of the family, with variances of the order of 1 / precision.
template <class T>
std::shared_ptr<Posterior<T>> random_prior(const FamilyKind& kind, Index size, std::uint64_t seed,
                                           double precision = 1) {
  Random random(seed);
  const double unit = 1 / std::sqrt(static_cast<double>(size));
  const Dense mean = random.normal(size, 1, 0.5), d = precision * random.uniform(size, 1, 0.6, 1.4);
  const bool full = kind.family == Family::full || kind.family == Family::full_moment;
  const Dense root = random.normal(size, full ? size : kind.rank, 0.7 * unit * std::sqrt(precision));
  const Dense matrix = full ? root * transposed(root) + diagonal_matrix(d) : Dense();
  std::unique_ptr<Posterior<T>> q;
  if (kind.family == Family::low_rank) {
    q = low_rank_of<T>(root, d);
  } else if (kind.family == Family::full) {
    q = full_of<T>(matrix);
  } else if (kind.family == Family::full_moment) {
    q = full_moment_of<T>(inverse_of(matrix));
  } else {
    auto moment = std::make_unique<DiagonalMomentPosterior<T>>(size);
    std::vector<T> variance;
    for (const double value : d.values) variance.push_back(static_cast<T>(1 / value));
    moment->set_variance(variance);
    q = std::move(moment);
  }
  for (Index i = 0; i < size; ++i) q->mean()[static_cast<std::size_t>(i)] = static_cast<T>(mean(i, 0));
  q->set_blank(false);
  return q;
}

inline Options stream_options(Rule rule, EstimateKind estimate) {
  Options options = plain_options();
  options.rule = rule;
  options.curvature = estimate;
  options.learning_rate = rule == Rule::blr ? 0.5 : 0.02;
  options.iterations = 2;
  options.samples = 3;
  options.momentum = 0;
  return options;
}

inline Array array_of(const Dense& a) {
  return a.rows == 0 ? bdl_none() : bdl_column_major(a.values.data(), BDL_F64, a.rows, a.cols);
}

inline OutArray output_of(Dense& a) {
  return bdl_column_major_out(a.values.data(), BDL_F64, a.rows, a.cols);
}

/// An optimizer that observes rows of dense matrices.
template <class T>
struct Learner {
  std::shared_ptr<Network<T>> model;
  std::shared_ptr<Posterior<T>> q;
  Optimizer<T> optimizer;

  Learner(std::shared_ptr<Network<T>> network, std::shared_ptr<Posterior<T>> prior, const Options& options)
      : model(std::move(network)), q(std::move(prior)), optimizer(model, q, find_method("bong"), 1) {
    optimizer.set_options(options);
  }
  /// The one-step-ahead log densities.
  Dense observe(const Dense& x, const Dense& y) {
    Dense scores = poison(x.rows, 1);
    bdl::observe(optimizer, array_of(x), array_of(y), output_of(scores));
    return scores;
  }
  void forecast(Index steps) { bdl::forecast(optimizer, steps); }
  Dense mean() const { return column_of(std::as_const(*q).mean()); }
  Dense precision() const { return dense_precision(*q); }
  Dense covariance() const { return inverse_of(precision()); }
};

/// x: one example per row; y: valid targets.
struct StreamData {
  Dense x, y;
  StreamData(const Likelihood& likelihood, Index inputs, Index rows, std::uint64_t seed) {
    Random random(seed);
    x = random.normal(rows, inputs);
    y = Dense(likelihood.targets(), 0);
    for (Index i = 0; i < rows; ++i) y = beside(y, random_targets(likelihood, random));
    y = transposed(y);
  }
};

inline Dense rows_of(const Dense& a, Index first, Index count) {
  return transposed(columns_of(transposed(a), first, count));
}

template <class A, class B>
void assert_same_belief(const Learner<A>& got, const Learner<B>& expected) {
  assert_same("mean", got.mean(), expected.mean());
  assert_same("precision", got.precision(), expected.precision());
}

template <class A, class B>
void assert_close_belief(const Learner<A>& got, const Learner<B>& expected, double tolerance) {
  assert_close("mean", got.mean(), expected.mean(), tolerance);
  assert_close("precision", got.precision(), expected.precision(), tolerance);
}

/// theta_s = mu +- L z, L L^T = Sigma in dense matrices: pairs whose mean is mu, equal for equal posteriors
/// of any family. An odd last draw has no partner.
template <class T>
class AntitheticDraws final : public DrawSource<T> {
 public:
  void parameters(const Posterior<T>& q, DrawPlace place, MatrixView<T> thetas, Scratch&) override {
    Random random(static_cast<std::uint64_t>(1000 * place.step + place.iteration));
    const Dense root = cholesky_of(inverse_of(dense_precision(q))), mean = column_of(q.mean());
    Dense shift;
    for (Index s = 0; s < thetas.cols; ++s) {
      shift = s % 2 == 0 ? root * random.normal(q.dimension(), 1) : -1.0 * shift;
      for (Index i = 0; i < q.dimension(); ++i) thetas(i, s) = static_cast<T>(mean(i, 0) + shift(i, 0));
    }
  }
  void probes(const Posterior<T>& q, DrawPlace place, MatrixView<T> z) override {
    Random random(static_cast<std::uint64_t>(1000 * place.step + place.iteration + 500));
    for (Index n = 0; n < z.cols; ++n)
      for (Index i = 0; i < q.dimension(); ++i) z(i, n) = random.uniform() < 0.5 ? T(-1) : T(1);
  }
};

}  // namespace bdl::testing
