// "vogn-golden-1", what stands at the mean: outputs, losses, gradients, squares, running statistics, Fisher
// diagonals and the penalty of EWC; and the predictive distribution.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "evidence/evidence.hpp"
#include "posterior/diagonal/diagonal_step.hpp"
#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "prior/prior.hpp"
#include "vogn_problem.hpp"

namespace golden {
namespace {

using bdl::Index;

class AtMean {
 public:
  AtMean(const Json& file, const VognProblem& problem)
      : problem_(problem),
        hyperparameters_(file.at("hyperparameters").at("vogn")),
        q_(bdl::create_posterior<double>({bdl::Family::low_rank,
                                          problem.parameters(),
                                          0,
                                          {},
                                          {},
                                          bdl::point_parameters_of(*problem.model)})),
        estimator_(*problem.model) {
    const auto mean = problem.json.at("mean").get<Vector>();
    std::ranges::copy(mean, q_->mean().begin());
    q_->reset_statistics();
    q_->set_blank(false);
  }

  double largest_error() {
    compare_first();
    if (json().contains("running")) compare_running();
    compare_predictive();
    if (json().contains("continual")) compare_continual();
    return worst_;
  }

 private:
  const Json& json() const { return problem_.json; }
  void compare(const char* name, const Vector& got, const Json& expected) {
    const double error = golden::error(got, flatten_all(expected));
    if (!(error <= tolerance)) std::printf("    at the mean, %s: %.3g\n", name, error);
    worst_ = std::max(worst_, error);
  }

  bdl::Evidence<double> assess(bdl::ConstMatrixView<double> x, bdl::ConstMatrixView<double> y,
                               bdl::EstimateKind kind) {
    bdl::Options options;
    options.curvature = kind;
    options.rule = bdl::Rule::blr;  // which also sums the squares of point parameters
    bdl::Evidence<double> evidence = estimator_.estimate(*q_, {x, y}, options, draws_, scratch_);
    evidence.gradient = bdl::gradient_of(evidence, scratch_);
    return evidence;
  }
  Vector squares(const bdl::Evidence<double>& evidence, double count) {
    Vector out(bdl::at(q_->dimension()));
    bdl::curvature_diagonal<double>(evidence.curvature, out);
    std::size_t k = 0;
    for (const auto& [offset, size] : q_->point_parameters().ranges)
      for (Index i = offset; i < offset + size; ++i) out[bdl::at(i)] = evidence.point_squares[k++];
    for (double& value : out) value /= count;
    return out;
  }

  void compare_first() {
    const Json& expected = json().at("at_mean");
    const auto n = static_cast<double>(problem_.batch);
    const bdl::Evidence<double> evidence =
        assess(problem_.inputs(0), problem_.targets(0), bdl::EstimateKind::lin_ef);
    const auto f = evidence.outputs;
    Vector outputs;
    for (Index i = 0; i < f.cols; ++i) outputs.insert(outputs.end(), f.column(i).begin(), f.column(i).end());
    compare("outputs", outputs, expected.at("outputs"));
    Vector gradient(evidence.gradient.begin(), evidence.gradient.end());
    for (double& value : gradient) value /= n;
    compare("gradient", gradient, expected.at("gradient"));
    compare("squares", squares(evidence, n), expected.at("squares"));
    double loss = 0;
    for (const double value : expected.at("losses").get<Vector>()) loss += value;
    compare("losses", {-evidence.expected_log_likelihood - constant()}, loss);
  }
  /// Returns the constant in minus the log densities of a minibatch, which the file leaves out.
  double constant() const {
    const Json& density = json().at("likelihood");
    if (density.at("type") != "gaussian") return 0;
    const auto outputs = static_cast<double>(problem_.batch * problem_.model->outputs());
    return outputs / 2 * std::log(2 * std::numbers::pi / density.at("precision").get<double>());
  }

  void compare_running() {
    q_->reset_statistics();
    for (Index t = 0; t < 3; ++t) {
      const auto evidence = assess(problem_.inputs(t), problem_.targets(t), bdl::EstimateKind::lin_ef);
      std::ranges::copy(evidence.statistics, q_->statistics().begin());
    }
    Vector expected;
    for (const char* of : {"mean", "variance"})
      for (const Json& layer : json().at("running")) {
        const auto values = layer.at(of).get<Vector>();
        expected.insert(expected.end(), values.begin(), values.end());
      }
    compare("running", {q_->statistics().begin(), q_->statistics().end()}, expected);
  }

  /// With the running statistics that compare_running() has left.
  void compare_predictive() {
    const double n = hyperparameters_.at("N"), gamma = hyperparameters_.at("gamma"),
                 reg = hyperparameters_.at("delta").get<double>() / n;
    const auto s0 = json().at("s0").get<Vector>();
    const auto x = problem_.inputs(0);
    const Index outputs = problem_.model->outputs();
    Vector mean(bdl::at(outputs * x.cols));
    bdl::Buffer<double> f(outputs * x.cols), w(std::ssize(s0));
    bdl::Scratch scratch;
    for (const std::size_t k : {0, 1}) {
      const auto eps = json().at("eps")[0][k].get<Vector>();
      for (std::size_t i = 0; i < s0.size(); ++i)
        w.data()[i] = q_->mean()[i] + eps[i] / std::sqrt(n * (s0[i] + reg + gamma));
      problem_.model->forward(w.first(std::ssize(s0)), x, f.matrix(outputs, x.cols), scratch,
                              q_->statistics());
      for (Index i = 0; i < x.cols; ++i) add_mean(f.data() + i * outputs, mean.data() + i * outputs);
    }
    compare("predictive", mean, json().at("predictive"));
  }
  void add_mean(const double* f, double* to) const {
    const Index outputs = problem_.model->outputs();
    const bool is_gaussian = json().at("likelihood").at("type") == "gaussian";
    const double top = *std::max_element(f, f + outputs);
    double sum = 0;
    for (Index c = 0; c < outputs; ++c) sum += std::exp(f[c] - top);
    for (Index c = 0; c < outputs; ++c) to[c] += (is_gaussian ? f[c] : std::exp(f[c] - top) / sum) / 2;
  }

  void compare_continual() {
    const Json& expected = json().at("continual");
    const Index n = problem_.examples();
    const auto x = problem_.x.matrix(problem_.model->inputs(), n),
               y = problem_.y.matrix(problem_.model->likelihood.targets(), n);
    const Vector empirical = squares(assess(x, y, bdl::EstimateKind::lin_ef), static_cast<double>(n));
    compare("fisher_empirical", empirical, expected.at("fisher_empirical"));
    compare("fisher_exact", squares(assess(x, y, bdl::EstimateKind::lin_hess), static_cast<double>(n)),
            expected.at("fisher_exact"));
    compare_penalty(empirical, expected);
  }
  /// EWC is a prior: N(mean, 1 / (lambda F)).
  void compare_penalty(const Vector& fisher, const Json& expected) {
    Vector precision = fisher;
    for (double& value : precision) value *= expected.at("lambda").get<double>();
    auto belief = q_->clone();
    belief->set_diagonal(precision, {});
    bdl::Prior<double> prior(problem_.model->blocks(), {});
    prior.fix(std::move(belief), q_->kind());
    const auto at = json().at("mu0").get<Vector>();
    Vector slope(at.size());
    prior.add_slope(at, slope, scratch_);
    compare("penalty_gradient", slope, expected.at("penalty_gradient"));
    double penalty = 0;
    for (std::size_t i = 0; i < at.size(); ++i) penalty += slope[i] * (at[i] - q_->mean()[i]) / 2;
    compare("penalty", {penalty}, expected.at("penalty"));
  }

  const VognProblem& problem_;
  const Json& hyperparameters_;
  std::unique_ptr<bdl::Posterior<double>> q_;
  bdl::EvidenceEstimator<double> estimator_;
  bdl::StreamDraws<double> draws_;
  bdl::Scratch scratch_;
  double worst_ = 0;
};

}  // namespace

double compare_vogn_mean(const Json& file, const VognProblem& problem) {
  return AtMean(file, problem).largest_error();
}

}  // namespace golden
