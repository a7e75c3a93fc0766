// K-FAC and noisy K-FAC (Martens and Grosse 2015; Zhang et al. 2018; Osawa et al. 2019). The curvature per
// example of a layer's weights W is approximated by Gamma (x) Omega, with moving averages Omega of E[u u^T]
// (u: the layer's inputs) and Gamma of E[e e^T] (e: the sensitivities of its outputs). With the prior's term
// reg = tau Lambda_0 / N and the damping eta, a step is
//
//   Omega <- (1 - beta) Omega + beta E[u u^T]                    every factor_interval steps
//   Gamma <- (1 - beta) Gamma + beta E[e e^T]
//   Omega = Q_o diag(omega) Q_o^T, likewise Gamma                every eigen_interval steps
//   m <- keep m + add (g / N + reg (mu - mu_0))                  momentum (methods/schedule.hpp)
//   mu <- mu - alpha (Gamma (x) Omega + reg + eta)^-1 m          shortened according to option "kl_clip"
//   Sigma^-1 = N (Gamma (x) Omega + reg + eta) / tau             eta: only by option "damping_in" = both
//
// The inverse is taken in the basis of the eigenvectors, Q_g (x) Q_o, where Gamma (x) Omega is the diagonal
// of the products gamma_i omega_j (docs/theory/kronecker.md, "Steps").
#include "steps/kfac.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "curvature/seeds.hpp"
#include "parallel/parallel.hpp"
#include "steps/averages.hpp"

namespace bdl {
namespace {

/// Returns the number of eigenvalues of a matrix's factors; 0 for point parameters.
Index values_of(const MatrixShape& shape) {
  return shape.is_matrix() ? shape.columns() + shape.outputs : 0;
}

template <class T>
KroneckerPosterior<T>& matrix_of(BlocksPosterior<T>& q, std::size_t k) {
  return dynamic_cast<KroneckerPosterior<T>&>(q.member(static_cast<Index>(k)));
}

template <class T>
void check_finite(ConstSpan<T> values, const char* what, Index number) {
  const auto bad = std::ranges::find_if(values, [](T value) { return !std::isfinite(value); });
  if (bad != values.end())
    fail(Status::ERROR_DIVERGED, "the %s of parameter %lld (counting from 0) is not finite after step %lld",
         what, static_cast<long long>(bad - values.begin()), static_cast<long long>(number));
}

/// Returns the prior as a posterior of the family; null if it is diagonal.
template <class T>
const BlocksPosterior<T>* kronecker_prior(const Prior<T>& prior) {
  return prior.posterior() && !prior.posterior()->is_diagonal() ? &as_blocks(*prior.posterior_in_family())
                                                                : nullptr;
}

}  // namespace

Index eigenvalue_count(const std::vector<MatrixShape>& shapes) {
  Index sum = 0;
  for (const MatrixShape& shape : shapes) sum += values_of(shape);
  return sum;
}

template <class T>
void start_near(const BlocksPosterior<T>& prior, T added, BlocksPosterior<T>& q) {
  for (Index k = 0; k < q.block_count(); ++k)
    if (auto* const member = dynamic_cast<KroneckerPosterior<T>*>(&q.member(k)))
      member->set_precision(as_kronecker(prior.member(k)), added);
}

template <class T>
class KfacStep {
 public:
  KfacStep(const StepInput<T>& in, const Evidence<T>& evidence, KfacAverages<T>& averages)
      : in_(in),
        evidence_(evidence),
        averages_(averages),
        now_(averages.now_),
        next_(averages.next_),
        prior_(kronecker_prior(in.prior)),
        gradient_(gradient_of(evidence, in.scratch)),
        direction_(in.scratch.template take<T>(in.dimension())) {
    if (now_.steps == 0) make_room(averages_.now_);  // the step after this one writes there
    make_room(next_);
    next_.steps = now_.steps + 1;
  }

  void run(BlocksPosterior<T>& to) {
    const Options& options = in_.options;
    const MomentumTerms momentum = momentum_terms(options, next_.steps);
    average_factors();
    average_momentum(momentum);
    find_eigenvectors(to);
    const bool is_split = options.damping_form == DampingForm::split;
    const Added in_step{options.damping, in_.rates.temperature / in_.data_size, is_split},
        in_precision{options.damping_in == DampingIn::both ? options.damping : 0,
                     in_.rates.next_temperature / in_.data_size, is_split};
    const T scale = static_cast<T>(in_.data_size / in_.rates.next_temperature);
    for (std::size_t k = 0; k < shapes().size(); ++k) {
      if (!shapes()[k].is_matrix()) continue;
      KroneckerPosterior<T>& member = matrix_of(to, k);
      const Index offset = from().offset(static_cast<Index>(k));
      const MatrixView<T> curvature = member.precision();  // the step's, to solve with; then the posterior's
      write_curvature(k, offset, member, in_step, curvature);
      find_direction(offset, member);
      write_curvature(k, offset, member, in_precision, curvature);
      std::transform(curvature.data, curvature.data + curvature.size(), curvature.data,
                     [scale](T value) { return scale * value; });
      member.finish();
    }
    find_point_directions();
    move_mean(momentum.bias_correction, to.mean());
  }

 private:
  /// Terms added to the curvature per example: eta, and `reg` = tau / N times the prior's precision.
  struct Added {
    double damping, reg;
    bool is_split;
  };

  const std::vector<MatrixShape>& shapes() const { return next_.factors.shapes(); }
  void make_room(KroneckerAverages<T>& averages) const {
    if (averages.factors.shapes().empty()) averages.factors.reserve(in_.q.kind().matrices);
    averages.momentum.reserve(in_.dimension());
    averages.point_squares.reserve(in_.q.point_parameters().parameters());
    averages.eigenvalues.reserve(eigenvalue_count(averages.factors.shapes()));
    if (prior_) averages.prior.reserve(in_.dimension());
  }
  const BlocksPosterior<T>& from() const { return as_blocks(in_.q); }

  /// Writes the next factors. The first ones are the minibatch's, averaged with option initial_curvature if
  /// that is positive.
  void average_factors() {
    const bool is_first = now_.steps == 0, is_due = averages_.renews_factors(in_.options);
    const double rate = is_first ? 1 : is_due ? in_.options.curvature_rate : 0;
    double* const values = next_.factors.values().data();
    const double* const before = now_.factors.values().data();
    for_each_index(next_.factors.size(),
                   [=](Index i) BDL_INLINE_LAMBDA { values[i] = is_first ? 0 : (1 - rate) * before[i]; });
    if (is_due) {
      const Scratch::Frame frame(in_.scratch);
      const ConstSpan<T> weights =
          in_.likelihood ? row_weights(*in_.likelihood, evidence_.y, in_.scratch) : ConstSpan<T>();
      add_factors(*evidence_.layers, rate, rate / in_.data_size, evidence_.curvature.w, next_.factors,
                  in_.scratch, weights);
    }
    if (is_first && in_.options.initial_curvature > 0)
      add_start(in_.options.initial_curvature, in_.options.curvature_rate);
    const Index count = eigenvalue_count(shapes());
    std::copy_n(now_.eigenvalues.data(), is_first ? 0 : count, next_.eigenvalues.first(count).data());
  }

  /// Averages the first factors with a I and b I, where a is the mean eigenvalue of the first Omega and a b
  /// the initial curvature.
  void add_start(double initial, double rate) {
    const auto add = [rate](MatrixView<double> factor, double diagonal) {
      for (Index j = 0; j < factor.cols; ++j) {
        for (Index i = j; i < factor.rows; ++i) factor(i, j) *= rate;
        factor(j, j) += (1 - rate) * diagonal;
      }
    };
    for (std::size_t k = 0; k < shapes().size(); ++k) {
      if (!shapes()[k].is_matrix()) continue;
      const MatrixView<double> omega = next_.factors.omega(k);
      double mean = 0;
      for (Index i = 0; i < omega.rows; ++i) mean += omega(i, i) / static_cast<double>(omega.rows);
      if (!(mean > 0)) mean = 1;
      add(omega, mean);
      add(next_.factors.gamma(k), initial / mean);
    }
  }

  /// Writes the next m = keep m + add (g / N + reg (mu - mu_0)); point parameters have no prior.
  void average_momentum(const MomentumTerms& terms) {
    const auto prior_slope = in_.scratch.template take<T>(in_.dimension());
    in_.prior.slope(in_.q.mean(), T(0), gradient_, prior_slope, in_.scratch);
    const T *const g = gradient_.data(), *const pull = prior_slope.data(),
                   *const old = now_.steps > 0 ? now_.momentum.data() : nullptr;
    const T keep = static_cast<T>(terms.keep), add = static_cast<T>(terms.add),
            each = static_cast<T>(1 / in_.data_size),
            reg = static_cast<T>(in_.rates.temperature / in_.data_size);
    T* const m = next_.momentum.first(in_.dimension()).data();
    for_each_index(in_.dimension(), [=](Index i) BDL_INLINE_LAMBDA {
      m[i] = keep * (old ? old[i] : T(0)) + add * (each * g[i] + reg * pull[i]);
    });
  }

  /// Finds the eigenvectors of the new factors every eigen_interval steps. In the steps between, the next
  /// posterior copies the present one's.
  void find_eigenvectors(BlocksPosterior<T>& to) {
    const bool are_due = now_.steps == 0 || now_.steps % in_.options.eigen_interval == 0;
    next_.knows_prior = prior_ != nullptr;
    const bool has_prior = !are_due && next_.knows_prior && now_.knows_prior;
    if (prior_) next_.prior.reserve(in_.dimension());
    if (has_prior) std::copy_n(now_.prior.data(), in_.dimension(), next_.prior.data());
    for (std::size_t k = 0; k < shapes().size(); ++k) {
      if (!shapes()[k].is_matrix()) continue;
      const auto number = static_cast<Index>(k);
      KroneckerPosterior<T>& member = matrix_of(to, k);
      const KroneckerPosterior<T>* const prior = prior_ ? &as_kronecker(prior_->member(number)) : nullptr;
      if (are_due)
        decompose_factors(k, prior, member);
      else
        member.copy_vectors(as_kronecker(from().member(number)));
      if (prior && !has_prior)
        member.diagonal_in_basis(*prior, prior_along(k, from().offset(number)), in_.scratch);
    }
  }

  /// Finds the eigenvectors of a matrix's factors, or the joint ones with a prior of the family.
  void decompose_factors(std::size_t k, const KroneckerPosterior<T>* prior, KroneckerPosterior<T>& to) {
    const auto [inputs, outputs] = eigenvalues(k);
    if (prior) {
      JointBasis<T>& joint = averages_.joint_;
      joint.compute(next_.factors.omega(k), next_.factors.gamma(k), *prior,
                    in_.rates.temperature / in_.data_size, to, in_.scratch);
      std::ranges::copy(joint.input_values(), inputs.begin());
      std::ranges::copy(joint.output_values(), outputs.begin());
      return;
    }
    const auto find = [&](ConstMatrixView<double> factor, std::span<double> values, MatrixView<T> vectors) {
      averages_.eigen_.compute(factor, in_.scratch);
      std::ranges::copy(averages_.eigen_.values(), values.begin());
      std::copy_n(averages_.eigen_.vectors().data, vectors.size(), vectors.data);
    };
    find(next_.factors.omega(k), inputs, to.input_vectors());
    find(next_.factors.gamma(k), outputs, to.output_vectors());
  }

  struct Eigenvalues {
    std::span<double> inputs, outputs;
  };
  Eigenvalues eigenvalues(std::size_t k) {
    double* first = next_.eigenvalues.data();
    for (std::size_t j = 0; j < k; ++j) first += values_of(shapes()[j]);
    const Index columns = shapes()[k].columns();
    return {{first, at(columns)}, {first + columns, at(shapes()[k].outputs)}};
  }

  MatrixView<T> prior_along(std::size_t k, Index offset) {
    return {next_.prior.data() + offset, shapes()[k].columns(), shapes()[k].outputs};
  }
  ConstSpan<T> prior_precision(Index offset, Index size) const {
    return in_.prior.precision().subspan(at(offset), at(size));
  }

  /// Writes the curvature per example along the pairs of eigenvectors, plus eta and the diagonal of reg in
  /// this basis.
  void write_curvature(std::size_t k, Index offset, const KroneckerPosterior<T>& posterior,
                       const Added& added, MatrixView<T> out) {
    const auto [omega, gamma] = eigenvalues(k);
    if (added.is_split)
      return write_split_curvature(omega, gamma, prior_precision(offset, posterior.dimension()), added, out);
    if (next_.knows_prior)
      std::copy_n(prior_along(k, offset).data, out.size(), out.data);
    else
      posterior.diagonal_in_basis(prior_precision(offset, posterior.dimension()), out, in_.scratch);
    for (Index o = 0; o < out.cols; ++o)
      for (Index j = 0; j < out.rows; ++j)
        out(j, o) = static_cast<T>(omega[at(j)] * gamma[at(o)] + added.damping +
                                   added.reg * static_cast<double>(out(j, o)));
  }

  /// Writes the curvature with the damping, plus the mean of reg, split into a term for each factor
  /// (Martens and Grosse 2015, section 6.3).
  static void write_split_curvature(ConstSpan<double> omega, ConstSpan<double> gamma, ConstSpan<T> prior,
                                    const Added& added, MatrixView<T> out) {
    double mean = 0;
    for (const T value : prior) mean += static_cast<double>(value);
    mean /= static_cast<double>(prior.size());
    const SplitDamping split = split_damping(omega, gamma, added.damping + added.reg * mean);
    for (Index o = 0; o < out.cols; ++o)
      for (Index j = 0; j < out.rows; ++j)
        out(j, o) = static_cast<T>((omega[at(j)] + split.omega) * (gamma[at(o)] + split.gamma));
  }

  /// Computes direction = curvature^-1 m for one matrix.
  void find_direction(Index offset, const KroneckerPosterior<T>& posterior) {
    const MatrixView<T> column(direction_.data() + offset, posterior.dimension(), 1);
    std::copy_n(next_.momentum.data() + offset, column.rows, column.data);
    posterior.solve(column, in_.scratch);
  }

  /// Computes m / (s + point_damping) for point parameters, where s averages their squared gradients.
  void find_point_directions() {
    const Options& options = in_.options;
    const bool is_first = now_.steps == 0, begins = is_first && options.initial_curvature > 0;
    const double rate = is_first && !begins ? 1 : options.curvature_rate;
    const T damping = static_cast<T>(options.point_damping), keep = static_cast<T>(1 - rate),
            add = static_cast<T>(rate / in_.data_size), initial = static_cast<T>(options.initial_curvature);
    const auto squares = next_.point_squares.first(in_.q.point_parameters().parameters());
    std::size_t k = 0;
    for (const auto& [offset, size] : in_.q.point_parameters().ranges)
      for (Index i = offset; i < offset + size; ++i, ++k) {
        T& s = squares[k];
        s = keep * (is_first ? initial : now_.point_squares.data()[k]) + add * evidence_.point_squares[k];
        direction_[at(i)] = next_.momentum.data()[i] / (s + damping);
      }
  }

  /// Moves the mean. Shortens the step if length^2 <m, direction> exceeds option kl_clip: that is about
  /// twice the KL divergence, per example, between the model before and after.
  void move_mean(double factor, std::span<T> to) {
    const Index dimension = in_.dimension();
    const T *const m = next_.momentum.data(), *const direction = direction_.data(),
                   *const old = in_.q.mean().data();
    double product = 0;
    for (Index i = 0; i < dimension; ++i)
      product += static_cast<double>(m[i]) * static_cast<double>(direction[i]);
    const double most = in_.options.kl_clip, change = std::pow(in_.rates.mean * factor, 2) * product;
    averages_.shortening_ = most > 0 && change > most ? std::sqrt(most / change) : 1;
    const T length = static_cast<T>(in_.rates.mean * factor * averages_.shortening_);
    T* const mean = to.data();
    for_each_index(dimension, [=](Index i) BDL_INLINE_LAMBDA { mean[i] = old[i] - length * direction[i]; });
    check_finite<T>(to, "mean", in_.number);
    check_finite<T>(next_.momentum.first(dimension), "gradient's average", in_.number);
  }

  const StepInput<T>& in_;
  const Evidence<T>& evidence_;
  KfacAverages<T>& averages_;
  const KroneckerAverages<T>& now_;
  KroneckerAverages<T>& next_;
  const BlocksPosterior<T>* prior_;
  ConstSpan<T> gradient_;
  std::span<T> direction_;
};

template <class T>
StepResult kfac_step(const StepInput<T>& in, const Evidence<T>& evidence, Averages<T>& averages,
                     Posterior<T>& next) {
  KfacStep<T>(in, evidence, averages.kfac).run(dynamic_cast<BlocksPosterior<T>&>(next));
  return {1, false, 1 - in.options.curvature_rate / static_cast<double>(in.options.factor_interval)};
}

#define BDL_INSTANTIATE(T)                                                     \
  template void start_near(const BlocksPosterior<T>&, T, BlocksPosterior<T>&); \
  template StepResult kfac_step(const StepInput<T>&, const Evidence<T>&, Averages<T>&, Posterior<T>&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
