#include "inference/exact/exact_elbo.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/interrupt.hpp"

namespace bdl {

namespace {

template <class T>
std::unique_ptr<Network<double>> in_double(const Model<T>& model) {
  exact_layer(model);
  return std::make_unique<Network<double>>(std::make_shared<Graph<double>>(model.graph()->description()),
                                           model.likelihood);
}

}  // namespace

template <class T>
ExactElbo::ExactElbo(const Model<T>& model, Index examples) : model_(in_double(model)), examples_(examples) {
  reserve_data();
  estimator_.emplace(*model_);
}

template <class T>
ExactElbo::ExactElbo(const Model<T>& model, Prior<double> prior, DataSet& data)
    : ExactElbo(model, data.rows()) {
  prior_ = std::move(prior);
  data.fetch({0, examples_}, model.standardization, x_.matrix(data.inputs(), examples_),
             y_.matrix(1, examples_));
}

void ExactElbo::reserve_data() {
  slope_.reserve(dimension());
  x_.reserve(model_->inputs() * examples_);
  y_.reserve(examples_);
}

void ExactElbo::reserve(const Posterior<double>& q, const RowsUse& use) {
  estimator_->reserve(q, examples_, use);
  q.reserve_marginals(scratch_);
}

double ExactElbo::Value::rounding() const {
  return 1e-13 * (1 + std::abs(log_likelihood) + std::abs(kl));
}

ExactElbo::Value ExactElbo::evaluate(const Posterior<double>& q) {
  const Interruptible work;
  reserve(q, {});
  estimate_ = estimator_->estimate(q, std::as_const(x_).matrix(model_->inputs(), examples_),
                                   std::as_const(y_).matrix(1, examples_), 1);
  const Value value{estimate_.expected_log_likelihood, prior_.kl(q, scratch_)};
  const auto slope = slope_.first(dimension());
  estimate_.rows->sum(estimate_.c, slope);
  prior_.add_slope(q.mean(), slope);
  if (!std::isfinite(value.loss()) ||
      !std::ranges::all_of(slope, [](double derivative) { return std::isfinite(derivative); }))
    fail(Status::ERROR_DIVERGED, "the ELBO is not finite");
  return value;
}

double ExactElbo::best_noise_precision(const Value& value) const {
  const auto n = static_cast<double>(examples_);
  const double precision = model_->likelihood.noise_precision(0);
  const double squares = -2 * value.log_likelihood - n * std::log(2 * std::numbers::pi / precision);
  return std::clamp(n * precision / squares, 1e-30, 1e30);
}

std::vector<double> ExactElbo::typical_precision() const {
  const DenseShape& layer = exact_layer(*model_);
  const bdl_likelihood kind = model_->likelihood.kind();
  const auto x = x_.matrix(model_->inputs(), examples_);
  std::vector<double> out(prior_precision().begin(), prior_precision().end());
  for (Index i = 0; i < examples_; ++i) {
    const double b = kind == BDL_BERNOULLI  ? 0.25
                     : kind == BDL_GAUSSIAN ? model_->likelihood.noise_precision(0)
                                            : std::max(1.0, y_.data()[i]);
    for (Index j = 0; j < x.rows; ++j)
      out[static_cast<std::size_t>(layer.weight_offset + j)] += b * x(j, i) * x(j, i);
    if (layer.bias_offset >= 0) out[static_cast<std::size_t>(layer.bias_offset)] += b;
  }
  return out;
}

template <class T>
Index ExactElbo::bytes(const Model<T>& model, const Posterior<double>& q, Index examples,
                       const RowsUse& use) {
  const MemoryPlan plan;
  ExactElbo(model, examples).reserve(q, use);
  return plan.bytes();
}

template Index ExactElbo::bytes(const Model<float>&, const Posterior<double>&, Index, const RowsUse&);
template Index ExactElbo::bytes(const Model<double>&, const Posterior<double>&, Index, const RowsUse&);
template ExactElbo::ExactElbo(const Model<float>&, Prior<double>, DataSet&);
template ExactElbo::ExactElbo(const Model<double>&, Prior<double>, DataSet&);

}  // namespace bdl
