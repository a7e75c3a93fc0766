#include "train/approximate/laplace/kronecker_curvature.hpp"

#include <algorithm>
#include <cmath>

#include "curvature/data_rows.hpp"
#include "curvature/seeds.hpp"

namespace bdl {
namespace {

template <class T>
const BlockedRows<T>& blocks_of(const Estimate<T>& estimate) {
  return dynamic_cast<const BlockedRows<T>&>(*estimate.rows);
}

/// Returns a prior in this family; null for a diagonal one.
template <class T>
const BlocksPosterior<T>* in_family_of(const Prior<T>& prior, const Posterior<T>& q) {
  PosteriorStep<T> step{q};
  prior.enter_without_rows(step);
  return step.prior ? &as_blocks(*step.prior) : nullptr;
}

}  // namespace

template <class T>
KroneckerCurvature<T>::KroneckerCurvature(const Model<T>& model, const Posterior<T>& q, Prior<T>& prior,
                                          const CurvatureForm& form, const SharedData& shared)
    : held_(q.clone()), h_(&dynamic_cast<BlocksPosterior<T>&>(*held_)), shapes_(q.kind().matrices) {
  const Pass pass{model, form, shared};
  find_factors(pass);
  const BlocksPosterior<T>* const whole = in_family_of(prior, q);
  for_matrices([&](std::size_t k) {
    set_products(k, whole ? &as_kronecker(whole->member(static_cast<Index>(k))) : nullptr);
  });
  if (form.eigenvalues == KroneckerEigenvalues::corrected) correct(pass);
  for_matrices([&](std::size_t k) {
    const auto h = member(k).precision();
    if (!std::all_of(h.data, h.data + h.size(), [](T value) { return std::isfinite(value); }))
      fail(Status::ERROR_DIVERGED, "the curvature of the data is not finite");
  });
}

/// Calls fill(chunks of the shard's rows, numbers) for each shard of this rank, and returns the sum over all
/// shards.
template <class T>
template <class Fill>
ConstSpan<double> KroneckerCurvature<T>::add_shards(const Pass& pass, Index numbers, Fill&& fill) {
  const SharedData& shared = pass.shared;
  sums_.reserve(shared.team.rank(), shared.team.size(), shared.shards, numbers, 0);
  add_up(shared.team, sums_, [&](Index shard, std::span<double> out) {
    const ShardRange examples = part_of(shard, shared.shards, shared.data.rows());
    std::ranges::fill(out, 0.0);
    if (examples.count() == 0) return;
    RowRange own(shared.data, examples.first, examples.count());
    const Posterior<T>& q = *h_;
    SeedSpec seeds = curvature_seeds(pass.form, q, pass.shared.weight(), examples.first);
    seeds.apart = true;
    DataChunks<T> chunks(pass.model, q.mean(), own, seeds);
    fill(chunks, out);
  });
  return std::as_const(sums_).values();
}

/// Computes Omega as a mean over all examples, by their weights, and Gamma as a sum, so that their product is
/// the curvature of all data.
template <class T>
void KroneckerCurvature<T>::find_factors(const Pass& pass) {
  const CurvatureKind kind = curvature_seeds<T>(pass.form, *h_, 1, 0).kind;
  factors_.reserve(shapes_);
  const auto sums = add_shards(pass, factors_.size() + 1, [&](DataChunks<T>& chunks, std::span<double> out) {
    const Index rows = pass.shared.data.rows() * chunks.estimator().cost({1, 1, kind, true}).count;
    double weight = 0;
    std::ranges::fill(factors_.values(), 0.0);
    chunks.for_each([&](const Estimate<T>& estimate, Index) {
      const Scratch::Frame frame(scratch_);
      const Likelihood& likelihood = pass.model.likelihood;
      const ConstMatrixView<T> y = chunks.targets(chunks.estimator().outputs().cols);
      double share = static_cast<double>(estimate.rows->count()) / static_cast<double>(rows);
      share *= sum_weights(likelihood, y) / static_cast<double>(y.cols);
      weight += share;
      add_factors(blocks_of(estimate), share, 1, estimate.w, factors_, scratch_,
                  ConstSpan<T>(row_weights(likelihood, y, scratch_)));
    });
    std::ranges::copy(factors_.values(), out.begin());
    out.back() = weight;
  });
  std::ranges::copy(sums.first(at(factors_.size())), factors_.values().begin());
  if (!pass.model.likelihood.is_weighted()) return;
  for_matrices([&](std::size_t k) {
    const MatrixView<double> omega = factors_.omega(k);
    for (double& value : std::span(omega.data, at(omega.size()))) value /= sums.back();
  });
}

/// Sets the curvature along eigenvectors of the factors or, under a prior of the family, along those of the
/// partial traces of the whole precision.
template <class T>
void KroneckerCurvature<T>::set_products(std::size_t k, const KroneckerPosterior<T>* prior) {
  KroneckerPosterior<T>& to = member(k);
  const MatrixView<double> omega = factors_.omega(k), gamma = factors_.gamma(k);
  std::vector<double> by_input, by_output;
  if (prior) {
    joint_.compute(omega, gamma, *prior, 1, to, of_posterior_);
    by_input.assign(joint_.input_values().begin(), joint_.input_values().end());
    by_output.assign(joint_.output_values().begin(), joint_.output_values().end());
  } else {
    by_input = find_vectors(omega, to.input_vectors());
    by_output = find_vectors(gamma, to.output_vectors());
  }
  const MatrixView<T> h = to.precision();
  for (Index o = 0; o < h.cols; ++o)
    for (Index i = 0; i < h.rows; ++i)
      h(i, o) = static_cast<T>(by_input[static_cast<std::size_t>(i)]) *
                static_cast<T>(by_output[static_cast<std::size_t>(o)]);
}

/// Writes the eigenvectors of a factor and returns its eigenvalues.
template <class T>
std::vector<double> KroneckerCurvature<T>::find_vectors(ConstMatrixView<double> factor,
                                                        MatrixView<T> vectors) {
  eigen_.compute(factor, of_posterior_);
  std::copy_n(eigen_.vectors().data, vectors.size(), vectors.data);
  return {eigen_.values().begin(), eigen_.values().end()};
}

/// Replaces the curvature by weighted sums of squared gradients along the pairs of eigenvectors.
template <class T>
void KroneckerCurvature<T>::correct(const Pass& pass) {
  const auto sums = add_shards(pass, h_->dimension(), [&](DataChunks<T>& chunks, std::span<double> out) {
    chunks.for_each([&](const Estimate<T>& estimate, Index) {
      for_each_matrix(blocks_of(estimate), shapes_, [&](const BlockRows<T>& rows, std::size_t k) {
        const KroneckerPosterior<T>& at = std::as_const(*this).member(k);
        rows.add_rotated_squares(estimate.w, at.input_vectors(), at.output_vectors(),
                                 {out.data() + first(k), shapes_[k].columns(), shapes_[k].outputs}, scratch_);
      });
    });
  });
  for_matrices([&](std::size_t k) {
    std::transform(sums.data() + first(k), sums.data() + first(k) + shapes_[k].parameters(),
                   member(k).precision().data, [](double sum) { return static_cast<T>(sum); });
  });
}

template <class T>
void KroneckerCurvature<T>::check_groups(const GroupedPrecisions& prior) const {
  for_matrices([&](std::size_t k) {
    const auto begin = static_cast<std::size_t>(first(k)),
               end = begin + static_cast<std::size_t>(shapes_[k].parameters());
    for (std::size_t j = begin; j < end; ++j)
      if (prior.group[j] != prior.group[begin] || prior.scale[j] != prior.scale[begin])
        fail(Status::ERROR_UNSUPPORTED,
             "the evidence of a Kronecker-factored posterior needs one prior precision for all parameters of "
             "a layer: set prior_groups to \"shared\", or to \"layers\" if the noise does not depend on x");
  });
}

/// The prior's precision counts as far as it is diagonal along the pairs, as in the posterior; one number for
/// a layer is.
template <class T>
void KroneckerCurvature<T>::sums(const GroupedPrecisions& prior, double s, bool by_groups,
                                 EvidenceSums& out) const {
  Scratch scratch;
  out.clear(by_groups ? prior.groups() : 0);
  for_matrices([&](std::size_t k) {
    const auto begin = static_cast<std::size_t>(first(k));
    const KroneckerPosterior<T>& at = member(k);
    const Index size = at.dimension();
    Buffer<T> lambda(size), delta(size);
    for (Index j = 0; j < size; ++j) {
      const double value = prior.at(begin + static_cast<std::size_t>(j));
      lambda.data()[j] = static_cast<T>(value);
      out.log_det -= std::log(value);
    }
    if (!by_groups)
      at.diagonal_in_basis(std::as_const(lambda).first(size),
                           delta.matrix(shapes_[k].columns(), shapes_[k].outputs), scratch);
    double trace = 0, squares = 0;
    for (Index j = 0; j < size; ++j) {
      const double h = s * static_cast<double>(at.precision().data[j]),
                   added = by_groups ? prior.at(begin) : static_cast<double>(delta.data()[j]),
                   kept = added / (h + added);
      out.log_det += std::log(h + added);
      trace += h / (h + added);
      squares += kept * kept;
    }
    out.effective += trace;
    if (!by_groups) return;
    const Index g = prior.group[begin];
    out.traces[static_cast<std::size_t>(g)] += trace;
    out.square(g, g) += squares;
  });
}

/// Adds the prior's precision as far as it is diagonal along the pairs: among posteriors with these
/// eigenvectors this one has the least KL divergence to the posterior with the whole precision.
template <class T>
void KroneckerCurvature<T>::write(const Prior<T>& prior, double s, Posterior<T>& q) const {
  auto& all = dynamic_cast<BlocksPosterior<T>&>(q);
  const BlocksPosterior<T>* const whole = in_family_of(prior, q);
  const T factor = static_cast<T>(s);
  Scratch scratch;
  for_matrices([&](std::size_t k) {
    const KroneckerPosterior<T>& from = member(k);
    auto& to = dynamic_cast<KroneckerPosterior<T>&>(all.member(static_cast<Index>(k)));
    to.copy_vectors(from);
    Buffer<T> buffer(to.dimension());
    const MatrixView<T> delta = buffer.matrix(shapes_[k].columns(), shapes_[k].outputs);
    if (whole)
      to.diagonal_in_basis(as_kronecker(whole->member(static_cast<Index>(k))), delta, scratch);
    else
      to.diagonal_in_basis(prior.precision().subspan(static_cast<std::size_t>(first(k)),
                                                     static_cast<std::size_t>(to.dimension())),
                           delta, scratch);
    T* const lambda = to.precision().data;
    for (Index i = 0; i < to.dimension(); ++i) lambda[i] = factor * from.precision().data[i] + delta.data[i];
    to.finish();
  });
}

template class KroneckerCurvature<float>;
template class KroneckerCurvature<double>;

}  // namespace bdl
