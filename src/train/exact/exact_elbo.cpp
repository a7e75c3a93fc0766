#include "train/exact/exact_elbo.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/interrupt.hpp"
#include "linalg/blas.hpp"
#include "linalg/dense/cholesky.hpp"
#include "network/outer_rows.hpp"

namespace bdl {

namespace {

template <class T>
std::unique_ptr<Network<double>> in_double(const Model<T>& model) {
  if (!model.has_exact_optimum())
    fail(Status::ERROR_UNSUPPORTED,
         "the methods exact-* need a network with one layer, not heteroscedastic or Student t");
  auto network = std::make_unique<Network<double>>(
      std::make_shared<Graph<double>>(model.graph()->description()), model.likelihood);
  network->set_offsets(model.offsets() > 0);
  return network;
}

/// Replaces a matrix (lower triangle), positive semidefinite up to rounding, by its Cholesky factor. It
/// adds a little to the diagonal, which does not matter to a step that the ELBO must accept.
void factorize_semidefinite(MatrixView<double> h) {
  for (Index i = 0; i < h.rows; ++i) h(i, i) = h(i, i) > 0 ? h(i, i) * (1 + 1e-10) : 1e-300;
  if (!cholesky(h)) fail(Status::ERROR_DIVERGED, "the expected Hessian has no Cholesky factor");
}

}  // namespace

template <class T>
ExactElbo::ExactElbo(const Model<T>& model, Prior<double> prior, const RowShares& shares, Team& team)
    : model_(in_double(model)), prior_(std::move(prior)), team_(team), sums_(*model_, shares) {}

double ExactElbo::Value::rounding() const {
  return 1e-13 * (1 + std::abs(log_likelihood) + std::abs(kl));
}

ExactElbo::Value ExactElbo::evaluate_step(const Posterior<double>& q, ExampleLoss loss) {
  takes_rows_ = takes_rows(q);
  of_h_ = sums_.has_rows()                  ? HessianSum::none
          : q.takes_matrix() || takes_rows_ ? HessianSum::matrix
                                            : HessianSum::diagonal;
  sums_.evaluate(q, of_h_, {nullptr, dimension(), 0}, team_, loss);
  return finish(q);
}

ExactElbo::Value ExactElbo::evaluate(const Posterior<double>& q, ConstMatrixView<double> y) {
  of_h_ = HessianSum::products;
  sums_.evaluate(q, of_h_, y, team_);
  return finish(q);
}

ExactElbo::Value ExactElbo::finish(const Posterior<double>& q) {
  const Interruptible work;
  const Value value{sums_.log_likelihood(), prior_.kl(q, scratch_)};
  const std::span<double> slope = sums_.slope();
  prior_.add_slope(q.mean(), slope, scratch_);
  if (!std::isfinite(value.loss()) ||
      !std::ranges::all_of(slope, [](double derivative) { return std::isfinite(derivative); }))
    fail(Status::ERROR_DIVERGED, "the ELBO is not finite");
  return value;
}

Curvature<double> ExactElbo::curvature() {
  if (of_h_ == HessianSum::none) return {sums_.estimate().rows, sums_.estimate().w, {}, {}};
  if (of_h_ == HessianSum::diagonal) return {nullptr, {}, {}, sums_.diagonal()};
  if (!takes_rows_) return {nullptr, {}, sums_.matrix(), {}};
  factorize_semidefinite(sums_.matrix());
  factor_.view(sums_.matrix());
  std::ranges::fill(ones_.first(dimension()), 1.0);
  return {&factor_, std::as_const(ones_).first(dimension()), {}, {}};
}

void ExactElbo::multiply_target(ConstMatrixView<double> x, MatrixView<double> h, MatrixView<double> out) {
  std::fill_n(h.data, h.size(), 0.0);
  if (of_h_ == HessianSum::none)
    sums_.estimate().rows->add_outer(sums_.estimate().w, h);
  else
    std::copy_n(sums_.matrix().data, h.size(), h.data);
  mirror_lower(h);
  gemm(Op::none, Op::none, 1.0, h, x, 0.0, out);
  for (Index k = 0; k < x.cols; ++k) prior_.add_product(x.column(k), out.column(k), scratch_);
}

InterceptPrior ExactElbo::intercept_prior(const Posterior<double>& q) {
  const auto bias = static_cast<std::size_t>(exact_layer(*model_).bias_offset);
  std::vector<double> slope(static_cast<std::size_t>(dimension()));
  prior_.add_slope(q.mean(), slope, scratch_);
  return {prior_.precision()[bias], slope[bias]};
}

void ExactElbo::best_noise_precision(const Value& value, std::span<double> out) const {
  if (sums_.has_several_outputs()) {
    for (Index c = 0; c < std::ssize(out); ++c)
      out[static_cast<std::size_t>(c)] = std::clamp(sums_.targets_of(c) / sums_.squares(c), 1e-30, 1e30);
    return;
  }
  const double n = sums_.targets_of(0);
  const double precision = model_->likelihood.noise_precision(0);
  const double squares = -2 * value.log_likelihood - n * std::log(2 * std::numbers::pi / precision);
  out[0] = std::clamp(n * precision / squares, 1e-30, 1e30);
}

void ExactElbo::best_noise_covariance(MatrixView<double> out) const {
  for (Index c = 0; c < out.cols; ++c)
    for (Index b = c; b < out.rows; ++b) out(b, c) = out(c, b) = sums_.products(b, c) / sums_.targets_of(0);
}

void ExactElbo::write_residual_products(MatrixView<double> out) const {
  for (Index c = 0; c < out.cols; ++c)
    for (Index b = c; b < out.rows; ++b) out(b, c) = sums_.products(b, c) - (b == c ? sums_.variances(c) : 0);
}

std::vector<double> ExactElbo::noise_degrees(bool learns_prior) const {
  constexpr double least = 1;
  std::vector<double> degrees;
  for (Index c = 0; c < sums_.noises(); ++c) {
    const double effective = model_->likelihood.noise_precision(c) * sums_.variances(c);
    const double left = std::max(least, sums_.targets_of(c) - effective);
    degrees.push_back(learns_prior ? std::max(left, effective) : left);
  }
  return degrees;
}

#define BDL_INSTANTIATE(T) \
  template ExactElbo::ExactElbo(const Model<T>&, Prior<double>, const RowShares&, Team&);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
