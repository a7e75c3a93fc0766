#include "train/approximate/kronecker_laplace.hpp"

#include <algorithm>
#include <vector>

#include "curvature/data_rows.hpp"
#include "posterior/blocks/blocks.hpp"
#include "posterior/kronecker/joint_basis.hpp"

namespace bdl {
namespace {

CurvatureKind seeds_of(FisherLabels labels) {
  if (labels == FisherLabels::exact) return CurvatureKind::gauss_newton;
  if (labels == FisherLabels::empirical) return CurvatureKind::empirical_fisher;
  return CurvatureKind::gradient_and_one_label;
}

template <class T>
const BlockedRows<T>& blocks_of(const Estimate<T>& estimate) {
  return dynamic_cast<const BlockedRows<T>&>(*estimate.rows);
}

/// Turns a posterior into Laplace's approximation, matrix by matrix.
template <class T>
class KroneckerLaplace {
 public:
  KroneckerLaplace(Optimizer<T>& optimizer, Posterior<T>& q, DataSet& data, double weight, Index shards)
      : optimizer_(optimizer),
        q_(dynamic_cast<BlocksPosterior<T>&>(q)),
        shapes_(q.kind().matrices),
        data_(data),
        weight_(weight),
        shards_(shards) {}

  void run() {
    find_factors();
    for_matrices([&](std::size_t k, KroneckerPosterior<T>& to) { set_products(k, to); });
    if (optimizer_.options().kronecker_eigenvalues == KroneckerEigenvalues::corrected) correct();
    for_matrices([&](std::size_t k, KroneckerPosterior<T>& to) { add_prior(k, to); });
  }

 private:
  SeedSpec seeds(Index shard) const {
    const Options& options = optimizer_.options();
    SeedSpec spec{seeds_of(options.fisher), weight_};
    spec.apart = true;
    spec.statistics = {std::as_const(q_).statistics(), {}};
    spec.labels = {static_cast<std::uint64_t>(options.seed), Stream::labels,
                   static_cast<std::uint64_t>(optimizer_.state.step), static_cast<std::uint32_t>(shard)};
    return spec;
  }
  /// Calls fill(chunks of the shard's rows, numbers) for each shard of this rank, and returns the sum over
  /// all shards.
  template <class Fill>
  ConstSpan<double> add_shards(Index numbers, Fill&& fill) {
    const Team& team = optimizer_.team;
    sums_.reserve(team.rank(), team.size(), shards_, numbers, 0);
    add_up(optimizer_.team, sums_, [&](Index shard, std::span<double> out) {
      const ShardRange rows = part_of(shard, shards_, data_.rows());
      std::ranges::fill(out, 0.0);
      if (rows.count() == 0) return;
      RowRange own(data_, rows.first, rows.count());
      DataChunks<T> chunks(*optimizer_.model(), std::as_const(q_).mean(), own, seeds(shard));
      fill(chunks, out);
    });
    return sums_.values();
  }
  template <class Visit>
  void for_matrices(Visit&& visit) {
    for (std::size_t k = 0; k < shapes_.size(); ++k)
      if (shapes_[k].is_matrix())
        visit(k, dynamic_cast<KroneckerPosterior<T>&>(q_.member(static_cast<Index>(k))));
  }

  /// Computes Omega as a mean over all examples and Gamma as a sum, so that their product is the curvature
  /// of all data.
  void find_factors() {
    const CurvatureKind kind = seeds_of(optimizer_.options().fisher);
    factors_.reserve(shapes_);
    const auto sums = add_shards(factors_.size(), [&](DataChunks<T>& chunks, std::span<double> out) {
      const Index rows = data_.rows() * chunks.estimator().cost({1, 1, kind, true}).count;
      std::ranges::fill(factors_.values(), 0.0);
      chunks.for_each([&](const Estimate<T>& estimate, Index) {
        const double share = static_cast<double>(estimate.rows->count()) / static_cast<double>(rows);
        add_factors(blocks_of(estimate), share, 1, estimate.w, factors_, scratch_);
      });
      std::ranges::copy(factors_.values(), out.begin());
    });
    std::ranges::copy(sums, factors_.values().begin());
  }

  /// Sets the precision along eigenvectors of the factors or, under a prior of the family, along those of
  /// the partial traces of the whole precision.
  void set_products(std::size_t k, KroneckerPosterior<T>& to) {
    const MatrixView<double> omega = factors_.omega(k), gamma = factors_.gamma(k);
    std::vector<double> by_input, by_output;
    if (const KroneckerPosterior<T>* const prior = prior_of(k)) {
      joint_.compute(omega, gamma, *prior, 1, to, of_posterior_);
      by_input.assign(joint_.input_values().begin(), joint_.input_values().end());
      by_output.assign(joint_.output_values().begin(), joint_.output_values().end());
    } else {
      by_input = find_vectors(omega, to.input_vectors());
      by_output = find_vectors(gamma, to.output_vectors());
    }
    const MatrixView<T> lambda = to.precision();
    for (Index o = 0; o < lambda.cols; ++o)
      for (Index i = 0; i < lambda.rows; ++i)
        lambda(i, o) = static_cast<T>(by_input[static_cast<std::size_t>(i)]) *
                       static_cast<T>(by_output[static_cast<std::size_t>(o)]);
  }

  /// Writes the eigenvectors of a factor and returns its eigenvalues.
  std::vector<double> find_vectors(ConstMatrixView<double> factor, MatrixView<T> vectors) {
    eigen_.compute(factor, of_posterior_);
    std::copy_n(eigen_.vectors().data, vectors.size(), vectors.data);
    return {eigen_.values().begin(), eigen_.values().end()};
  }

  /// Replaces the curvature by weighted sums of squared gradients along the pairs of eigenvectors.
  void correct() {
    std::vector<Index> first{0};
    for (const MatrixShape& shape : shapes_) first.push_back(first.back() + shape.parameters());
    const auto sums = add_shards(first.back(), [&](DataChunks<T>& chunks, std::span<double> out) {
      chunks.for_each([&](const Estimate<T>& estimate, Index) {
        for_each_matrix(blocks_of(estimate), shapes_, [&](const BlockRows<T>& rows, std::size_t k) {
          const KroneckerPosterior<T>& at = as_kronecker(std::as_const(q_).member(static_cast<Index>(k)));
          rows.add_rotated_squares(estimate.w, at.input_vectors(), at.output_vectors(),
                                   {out.data() + first[k], shapes_[k].columns(), shapes_[k].outputs},
                                   scratch_);
        });
      });
    });
    for_matrices([&](std::size_t k, KroneckerPosterior<T>& to) {
      std::transform(sums.data() + first[k], sums.data() + first[k] + to.dimension(), to.precision().data,
                     [](double sum) { return static_cast<T>(sum); });
    });
  }

  /// Returns the prior of matrix k in this family; null for a diagonal prior.
  const KroneckerPosterior<T>* prior_of(std::size_t k) {
    PosteriorStep<T> step{q_};
    optimizer_.prior().enter(step);
    return step.prior ? &as_kronecker(as_blocks(*step.prior).member(static_cast<Index>(k))) : nullptr;
  }

  /// Adds the prior's precision as far as it is diagonal along the pairs: among posteriors with these
  /// eigenvectors this one has the least KL divergence to the posterior with the whole precision.
  void add_prior(std::size_t k, KroneckerPosterior<T>& to) {
    const auto first = static_cast<std::size_t>(q_.offset(static_cast<Index>(k)));
    Buffer<T> buffer(to.dimension());
    const MatrixView<T> delta = buffer.matrix(shapes_[k].columns(), shapes_[k].outputs);
    if (const KroneckerPosterior<T>* const prior = prior_of(k))
      to.diagonal_in_basis(*prior, delta, of_posterior_);
    else
      to.diagonal_in_basis(
          optimizer_.prior().precision().subspan(first, static_cast<std::size_t>(to.dimension())), delta,
          of_posterior_);
    T* const lambda = to.precision().data;
    for (Index i = 0; i < to.dimension(); ++i) lambda[i] += delta.data[i];
    to.finish();
  }

  Optimizer<T>& optimizer_;
  BlocksPosterior<T>& q_;
  std::vector<MatrixShape> shapes_;
  DataSet& data_;
  double weight_;
  Index shards_;
  TreeSums<double> sums_;
  KroneckerFactors factors_;
  Scratch scratch_;
  Scratch of_posterior_;
  FactorEigen eigen_;
  JointBasis<T> joint_;
};

}  // namespace

template <class T>
std::unique_ptr<Posterior<T>> kronecker_laplace(Optimizer<T>& optimizer, DataSet& data, double weight,
                                                Index shards) {
  auto q = optimizer.posterior()->clone();
  KroneckerLaplace<T>(optimizer, *q, data, weight, shards).run();
  return q;
}

template std::unique_ptr<Posterior<float>> kronecker_laplace(Optimizer<float>&, DataSet&, double, Index);
template std::unique_ptr<Posterior<double>> kronecker_laplace(Optimizer<double>&, DataSet&, double, Index);

}  // namespace bdl
