// "vogn-golden-1", Kronecker factors: factors by all three rules of labels, preconditioned gradients, the two
// posteriors made of them, and three steps of the cases kfac and noisy-kfac.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "curvature/blocked_rows.hpp"
#include "posterior/families.hpp"
#include "posterior/kronecker/factors.hpp"
#include "posterior/kronecker/kronecker.hpp"
#include "posterior/point_parameters.hpp"
#include "train/step.hpp"
#include "vogn_problem.hpp"

namespace golden {
namespace {

using bdl::Index;
using bdl::KroneckerPosterior;
using bdl::MatrixShape;
using bdl::MatrixView;

double number_of(const Json& json, const char* key) {
  return json.at(key).get<double>();
}

/// Row by row, o x q, of a matrix that stands as q x o.
Vector rows_of(bdl::ConstMatrixView<double> transposed) {
  return {transposed.data, transposed.data + transposed.size()};
}

/// Both triangles, by the lower one.
Vector symmetric(MatrixView<double> a) {
  for (Index j = 0; j < a.cols; ++j)
    for (Index i = 0; i < j; ++i) a(i, j) = a(j, i);
  return {a.data, a.data + a.size()};
}

/// W = mean + scale^-1/2 Lg^-T E Lo^-1: X with Lg^T X Lo = E.
void solve_by_factors(const bdl::Buffer<double>& omega, const bdl::Buffer<double>& gamma, Index q, Index o,
                      double scale, MatrixView<double> x) {
  const auto lower = [](const bdl::Buffer<double>& a, Index n) {
    Vector l(a.data(), a.data() + n * n);
    for (Index j = 0; j < n; ++j) {
      for (Index k = 0; k < j; ++k)
        for (Index i = j; i < n; ++i) l[bdl::at(i + j * n)] -= l[bdl::at(i + k * n)] * l[bdl::at(j + k * n)];
      const double root = std::sqrt(l[bdl::at(j + j * n)]);
      for (Index i = j; i < n; ++i) l[bdl::at(i + j * n)] /= root;
    }
    return l;
  };
  const Vector lo = lower(omega, q), lg = lower(gamma, o);
  // X^T (q x o): Lo^T X^T = Y with Y Lg = E^T.
  for (Index r = 0; r < q; ++r)
    for (Index j = o - 1; j >= 0; --j) {
      for (Index k = j + 1; k < o; ++k) x(r, j) -= x(r, k) * lg[bdl::at(k + j * o)];
      x(r, j) /= lg[bdl::at(j + j * o)];
    }
  for (Index c = 0; c < o; ++c)
    for (Index j = q - 1; j >= 0; --j) {
      for (Index k = j + 1; k < q; ++k) x(j, c) -= x(k, c) * lo[bdl::at(k + j * q)];
      x(j, c) /= lo[bdl::at(j + j * q)];
    }
  for (Index c = 0; c < o; ++c)
    for (Index j = 0; j < q; ++j) x(j, c) /= std::sqrt(scale);
}

/// The entry of one layer.
class Layer {
 public:
  Layer(const VognProblem& problem, const Json& json, const MatrixShape& shape)
      : problem_(problem),
        json_(json),
        shape_(shape),
        q_(shape.columns()),
        o_(shape.outputs),
        offset_(json.at("offset").get<Index>()) {}

  double compare(bdl::KroneckerFactors& of_data, bdl::KroneckerFactors& exact, bdl::KroneckerFactors& sampled,
                 std::size_t k) {
    check("omega", symmetric(of_data.omega(k)), json_.at("omega"));
    check("gamma_empirical", symmetric(of_data.gamma(k)), json_.at("gamma_empirical"));
    check("gamma_exact", symmetric(exact.gamma(k)), json_.at("gamma_exact"));
    if (sampled.size() > 0) check("gamma_sampled", symmetric(sampled.gamma(k)), json_.at("gamma_sampled"));
    bdl::Scratch scratch;
    omega_.compute(of_data.omega(k), scratch);
    gamma_.compute(of_data.gamma(k), scratch);
    const double damping = number_of(json_, "damping");
    const bdl::SplitDamping split = bdl::split_damping(omega_.values(), gamma_.values(), damping);
    check("pi", {std::sqrt(split.omega / split.gamma)}, json_.at("pi"));
    compare_posterior("factored", number_of(json_, "scale"), split, 0);
    compare_posterior("exact", number_of(json_, "scale"), {0, 0}, number_of(json_, "delta"));
    compare_preconditioned(split);
    compare_cholesky(of_data, k, split);
    return worst_;
  }

 private:
  void check(const char* name, const Vector& got, const Json& expected) {
    const double error = golden::error(got, flatten_all(expected));
    if (!(error <= tolerance))
      std::printf("    layer %s, %s: %.3g\n", json_.at("layer").get<std::string>().c_str(), name, error);
    worst_ = std::max(worst_, error);
  }
  /// Along the pairs of eigenvectors: scale (lo + a) (lg + b) + added.
  void set_posterior(double scale, const bdl::SplitDamping& split, double added,
                     KroneckerPosterior<double>& q) const {
    std::copy_n(omega_.vectors().data, q_ * q_, q.input_vectors().data);
    std::copy_n(gamma_.vectors().data, o_ * o_, q.output_vectors().data);
    for (Index o = 0; o < o_; ++o)
      for (Index j = 0; j < q_; ++j)
        q.precision()(j, o) = scale * (omega_.values()[bdl::at(j)] + split.omega) *
                                  (gamma_.values()[bdl::at(o)] + split.gamma) +
                              added;
    q.finish();
    const auto mean = problem_.json.at("mean").get<Vector>();
    std::copy_n(mean.begin() + offset_, q.dimension(), q.mean().begin());
  }
  /// As the file has matrices: the parameters' part as o x q, row by row.
  Vector as_rows(bdl::ConstSpan<double> parameters) const {
    bdl::Buffer<double> out(q_ * o_);
    bdl::gather_matrix(shape_, parameters.data(), out.matrix(q_, o_));
    return rows_of(out.matrix(q_, o_));
  }
  /// E = eps[0][0] as a matrix; as parameters of the layer.
  Vector eps() const {
    const auto all = problem_.json.at("eps")[0][0].get<Vector>();
    return {all.begin() + offset_, all.begin() + offset_ + shape_.parameters()};
  }

  void compare_posterior(const char* name, double scale, const bdl::SplitDamping& split, double added) {
    const Json& expected = json_.at(name);
    KroneckerPosterior<double> q(shape_);
    set_posterior(scale, split, added, q);
    bdl::Scratch scratch;
    Vector draw = eps(), variance(draw.size()), prior(draw.size(), number_of(json_, "prior"));
    q.color(std::as_const(q).mean(), {draw.data(), std::ssize(draw), 1}, {}, scratch);
    q.marginal_variance(variance, scratch);
    check("sample_sym", as_rows(draw), expected.at("sample_sym"));
    check("variances", as_rows(variance), expected.at("variances"));
    check("log_det_covariance", {q.log_det_covariance()}, expected.at("log_det_covariance"));
    check("kl", {bdl::kl_to_prior<double>(q, prior, scratch)}, expected.at("kl"));
  }
  void compare_preconditioned(const bdl::SplitDamping& split) {
    KroneckerPosterior<double> q(shape_);
    set_posterior(1, split, 0, q);
    bdl::Scratch scratch;
    const auto gradient = problem_.json.at("at_mean").at("gradient").get<Vector>();
    Vector step(gradient.begin() + offset_, gradient.begin() + offset_ + shape_.parameters());
    q.solve({step.data(), std::ssize(step), 1}, scratch);
    check("preconditioned", as_rows(step), json_.at("preconditioned"));
  }
  void compare_cholesky(bdl::KroneckerFactors& factors, std::size_t k, const bdl::SplitDamping& split) {
    bdl::Buffer<double> omega(q_ * q_), gamma(o_ * o_), e(q_ * o_);
    std::copy_n(factors.omega(k).data, q_ * q_, omega.data());
    std::copy_n(factors.gamma(k).data, o_ * o_, gamma.data());
    for (Index i = 0; i < q_; ++i) omega.data()[i + i * q_] += split.omega;
    for (Index i = 0; i < o_; ++i) gamma.data()[i + i * o_] += split.gamma;
    const Vector draw = eps(), mean = problem_.json.at("mean").get<Vector>();
    bdl::Buffer<double> centre(q_ * o_);
    bdl::gather_matrix(shape_, draw.data(), e.matrix(q_, o_));
    bdl::gather_matrix(shape_, mean.data() + offset_, centre.matrix(q_, o_));
    solve_by_factors(omega, gamma, q_, o_, number_of(json_, "scale"), e.matrix(q_, o_));
    for (Index i = 0; i < q_ * o_; ++i) e.data()[i] += centre.data()[i];
    check("sample_chol", rows_of(e.matrix(q_, o_)), json_.at("sample_chol"));
  }

  const VognProblem& problem_;
  const Json& json_;
  MatrixShape shape_;
  Index q_, o_, offset_;
  bdl::FactorEigen omega_, gamma_;
  double worst_ = 0;
};

/// Factors at the mean of the first minibatch; Gamma from the last `seeds` of each example's seeds.
class AtMean {
 public:
  explicit AtMean(const VognProblem& problem)
      : problem_(problem),
        shapes_(bdl::matrices_of(*problem.model)),
        mean_(problem.json.at("mean").get<Vector>()) {}

  double largest_error() {
    bdl::KroneckerFactors of_data, exact, sampled;
    const auto y = problem_.targets(0);
    add(bdl::CurvatureKind::empirical_fisher, y, 1, of_data);
    add(bdl::CurvatureKind::gradient_and_all_labels, y, 1, exact);
    const Json labels = problem_.json.value("labels", Json::array());  // of classes
    for (const Json& drawn : labels) {
      const Vector values = flatten_all(drawn);
      add(bdl::CurvatureKind::empirical_fisher, {values.data(), y.rows, y.cols},
          1 / static_cast<double>(labels.size()), sampled);
    }
    double worst = 0;
    for (const Json& layer : problem_.json.at("kfac")) {
      const std::size_t k = matrix_at(layer.at("offset").get<Index>());
      worst = std::max(worst, Layer(problem_, layer, shapes_[k]).compare(of_data, exact, sampled, k));
    }
    return worst;
  }

 private:
  std::size_t matrix_at(Index offset) const {
    Index first = 0;
    std::size_t k = 0;
    while (first < offset) first += shapes_[k++].parameters();
    return k;
  }
  void add(bdl::CurvatureKind kind, bdl::ConstMatrixView<double> y, double weight,
           bdl::KroneckerFactors& to) {
    const auto estimator = bdl::make_estimator<double>(*problem_.model);
    Vector statistics(bdl::at(problem_.model->graph()->statistics_size()), 1), learned = statistics;
    bdl::SeedSpec seeds{kind, weight / static_cast<double>(problem_.batch)};
    seeds.apart = true;
    seeds.statistics = {statistics, learned};
    const bool is_new = to.size() == 0;
    to.reserve(shapes_);
    if (is_new) std::ranges::fill(to.values(), 0.0);
    const auto estimate =
        estimator->estimate({mean_.data(), std::ssize(mean_), 1}, problem_.inputs(0), y, seeds);
    bdl::Scratch scratch;
    bdl::add_factors(*estimator->blocks(), weight, 1, estimate.w, to, scratch);
  }

  const VognProblem& problem_;
  std::vector<MatrixShape> shapes_;
  Vector mean_;
};

/// Draws W = mean + sqrt(tau/N) Lg^-T E Lo^-1, which are other draws of the same Gaussian: by the optimizer's
/// averages as they stand.
class CholeskyDraws final : public bdl::DrawSource<double> {
 public:
  CholeskyDraws(const Json& eps, const bdl::Optimizer<double>*& optimizer, double damping)
      : eps_(eps.get<std::vector<std::vector<Vector>>>()), optimizer_(optimizer), damping_(damping) {}
  void parameters(const bdl::Posterior<double>& q, bdl::DrawPlace place, MatrixView<double> thetas,
                  bdl::Scratch&) override {
    const auto& averages = optimizer_->averages.kfac.now();
    bdl::KroneckerFactors factors;
    factors.reserve(averages.factors.shapes());
    std::ranges::copy(averages.factors.values(), factors.values().begin());
    for (Index s = 0; s < thetas.cols; ++s) {
      const Vector& eps = eps_[bdl::at(place.step)][bdl::at(s)];
      Index offset = 0;
      for (std::size_t k = 0; k < factors.shapes().size(); ++k) {
        const MatrixShape& shape = factors.shapes()[k];
        if (shape.is_matrix()) draw(q, factors, k, offset, eps, thetas.column_data(s) + offset);
        offset += shape.parameters();
      }
    }
    bdl::place_point_parameters(q, thetas);
    if (first_.empty()) first_ = {thetas.column_data(0), thetas.column_data(0) + thetas.rows};
  }
  void probes(const bdl::Posterior<double>&, bdl::DrawPlace, MatrixView<double>) override {
    throw std::runtime_error("no case has probes");
  }

 private:
  void draw(const bdl::Posterior<double>& q, bdl::KroneckerFactors& factors, std::size_t k, Index offset,
            const Vector& eps, double* to) {
    const MatrixShape& shape = factors.shapes()[k];
    const Index columns = shape.columns(), outputs = shape.outputs;
    bdl::Buffer<double> omega(columns * columns), gamma(outputs * outputs), e(shape.parameters());
    const Vector both = symmetric(factors.omega(k)), of_outputs = symmetric(factors.gamma(k));
    std::ranges::copy(both, omega.data());
    std::ranges::copy(of_outputs, gamma.data());
    bdl::FactorEigen omega_values, gamma_values;
    bdl::Scratch scratch;
    omega_values.compute(factors.omega(k), scratch);
    gamma_values.compute(factors.gamma(k), scratch);
    const bdl::SplitDamping split =
        bdl::split_damping(omega_values.values(), gamma_values.values(), damping_);
    for (Index i = 0; i < columns; ++i) omega.data()[i + i * columns] += split.omega;
    for (Index i = 0; i < outputs; ++i) gamma.data()[i + i * outputs] += split.gamma;
    const auto x = e.matrix(columns, outputs);
    bdl::gather_matrix(shape, eps.data() + offset, x);
    const double tau = optimizer_->options().kl_weight;
    solve_by_factors(omega, gamma, columns, outputs, static_cast<double>(optimizer_->data_size()) / tau, x);
    bdl::scatter_matrix<double>(shape, x, to);
    for (Index i = 0; i < shape.parameters(); ++i) to[i] += q.mean()[bdl::at(offset + i)];
  }
  std::vector<std::vector<Vector>> eps_;
  const bdl::Optimizer<double>*& optimizer_;
  double damping_;

 public:
  Vector first_;
};

double compare_case(const Json& file, const VognProblem& problem, const std::string& name) {
  const Json &json = problem.json.at("cases").at(name), &h = file.at("hyperparameters").at(name);
  const bool is_noisy = name == "noisy-kfac";
  std::shared_ptr<bdl::Posterior<double>> q =
      bdl::create_posterior<double>({bdl::Family::kronecker,
                                     problem.parameters(),
                                     0,
                                     {},
                                     {},
                                     bdl::point_parameters_of(*problem.model),
                                     bdl::matrices_of(*problem.model)});
  const auto mean = problem.json.at("mean").get<Vector>();
  std::ranges::copy(mean, q->mean().begin());
  q->set_blank(false);
  bdl::Optimizer<double> optimizer(problem.model, q, bdl::find_method(name.c_str()),
                                   static_cast<Index>(number_of(h, "N")));
  bdl::Options o = optimizer.options();
  o.schedule = bdl::ScheduleKind::power;
  o.decay = 0;
  o.learn_prior = o.learn_noise = 0;
  o.learning_rate = number_of(h, "alpha");
  o.momentum = number_of(h, "beta1");
  o.curvature_rate = number_of(h, "beta2");
  o.damping = o.point_damping = number_of(h, "gamma");
  o.kl_weight = number_of(h, "tau");
  o.kl_warmup = 0;
  o.kl_clip = is_noisy ? 0 : 1e-3;
  o.initial_curvature = 0;
  o.eigen_interval = 1;
  o.damping_form = bdl::DampingForm::split;
  o.damping_in = bdl::DampingIn::both;
  o.samples = 2;
  o.fisher = bdl::FisherLabels::empirical;
  optimizer.set_options(o);
  optimizer.prior().fix(Vector(bdl::at(problem.parameters()), number_of(h, "delta")));
  optimizer.state.is_fresh = true;
  const bdl::Optimizer<double>* pointer = &optimizer;
  const double reg = number_of(h, "tau") * number_of(h, "delta") / number_of(h, "N");
  const auto draws = std::make_shared<CholeskyDraws>(problem.json.at("eps"), pointer, o.damping + reg);
  if (is_noisy) optimizer.set_draws(draws);
  double worst = 0;
  const auto check = [&](const char* key, const Vector& got, const Json& expected) {
    const double error = golden::error(got, flatten_all(expected));
    if (!(error <= tolerance)) std::printf("    %s %s: %.3g\n", name.c_str(), key, error);
    worst = std::max(worst, error);
  };
  Vector nu;
  for (Index t = 0; t < 3; ++t) {
    const auto x = problem.inputs(t), y = problem.targets(t);
    std::copy_n(x.data, x.size(), optimizer.batch_x(x.cols).data);
    std::copy_n(y.data, y.size(), optimizer.batch_y(y.cols).data);
    bdl::train_step(optimizer, x.cols);
    nu.push_back(optimizer.averages.kfac.shortening());
  }
  check("mean", {q->mean().begin(), q->mean().end()}, json.at("after_3").at("mean"));
  if (json.contains("draw")) check("draw", draws->first_, json.at("draw"));
  if (json.contains("nu")) check("nu", nu, json.at("nu"));
  return worst;
}

}  // namespace

double compare_vogn_kronecker(const Json& file, const VognProblem& problem) {
  return std::max({AtMean(problem).largest_error(), compare_case(file, problem, "kfac"),
                   compare_case(file, problem, "noisy-kfac")});
}

}  // namespace golden
