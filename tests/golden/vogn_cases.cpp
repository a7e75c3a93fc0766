// "vogn-golden-1", the recursions: three steps of each case from the file's own draws.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "posterior/families.hpp"
#include "posterior/point_parameters.hpp"
#include "train/step.hpp"
#include "vogn_problem.hpp"

namespace golden {
namespace {

using bdl::Index;
using bdl::MatrixView;

/// Draws of the file: eps[step][group * K + k].
class GivenDraws final : public bdl::DrawSource<double> {
 public:
  explicit GivenDraws(const Json& eps) : eps_(eps.get<std::vector<std::vector<Vector>>>()) {}
  void parameters(const bdl::Posterior<double>& q, bdl::DrawPlace place, MatrixView<double> thetas,
                  bdl::Scratch&) override {
    Vector precision(bdl::at(q.dimension()));
    q.precision_diagonal(precision);
    for (Index k = 0; k < thetas.cols; ++k) {
      const Vector& eps = eps_[bdl::at(place.step)][bdl::at(place.iteration * thetas.cols + k)];
      for (Index i = 0; i < q.dimension(); ++i)
        thetas(i, k) = q.mean()[bdl::at(i)] + eps[bdl::at(i)] / std::sqrt(precision[bdl::at(i)]);
    }
  }
  void probes(const bdl::Posterior<double>&, bdl::DrawPlace, MatrixView<double>) override {
    throw std::runtime_error("no case has probes");
  }

 private:
  std::vector<std::vector<Vector>> eps_;
};

class Case {
 public:
  Case(const Json& file, const VognProblem& problem, const std::string& name)
      : problem_(problem),
        json_(problem.json.at("cases").at(name)),
        h_(file.at("hyperparameters").at(name)),
        name_(name),
        mean_(problem.json.at("mean").get<Vector>()),
        s0_(problem.json.at("s0").get<Vector>()),
        posterior_(bdl::create_posterior<double>({bdl::Family::low_rank,
                                                  problem.parameters(),
                                                  0,
                                                  {},
                                                  {},
                                                  bdl::point_parameters_of(*problem.model)})),
        optimizer_(problem.model, posterior_, bdl::find_method(is_newton() ? "vogn" : "map"),
                   static_cast<Index>(data_size())) {
    set_options();
    set_prior();
    start();
    optimizer_.set_draws(std::make_shared<GivenDraws>(problem.json.at("eps")));
  }

  double largest_error() {
    for (Index t = 0; t < 3; ++t) {
      const auto x = problem_.inputs(t), y = problem_.targets(t);
      std::copy_n(x.data, x.size(), optimizer_.batch_x(x.cols).data);
      std::copy_n(y.data, y.size(), optimizer_.batch_y(y.cols).data);
      bdl::train_step(optimizer_, x.cols);
      if (t > 0) continue;
      if (json_.contains("after_1")) compare("after_1", "mean", mean());
      if (json_.contains("first")) compare_first();
    }
    const bdl::Moments<double>& moments = optimizer_.averages.moments.now();
    for (const auto& [key, expected] : json_.at("after_3").items())
      compare("after_3", key,
              key == "mean" ? mean()
              : key == "m"  ? copy(moments.first)
                            : copy(moments.second));
    return worst_;
  }

 private:
  bool is(const char* start) const { return name_.starts_with(start); }
  bool is_newton() const { return is("vogn") || is("ogn") || is("ivon"); }
  double data_size() const { return h_.value("N", h_.value("ess", 200.0)); }
  double number(const char* key, double otherwise = 0) const { return h_.value(key, otherwise); }
  Vector mean() const { return {posterior_->mean().begin(), posterior_->mean().end()}; }
  Vector copy(const bdl::Buffer<double>& values) const {
    return {values.data(), values.data() + problem_.parameters()};
  }
  void compare(const char* at, const std::string& key, const Vector& got) {
    const double error = golden::error(got, json_.at(at).at(key).get<Vector>());
    if (!(error <= tolerance)) std::printf("    %s %s %s: %.3g\n", name_.c_str(), at, key.c_str(), error);
    worst_ = std::max(worst_, error);
  }

  void set_options() {
    bdl::Options o = optimizer_.options();
    o.schedule = bdl::ScheduleKind::power;
    o.decay = 0;
    o.guard = 0;
    o.learn_prior = o.learn_noise = 0;
    o.learning_rate = number("alpha");
    o.momentum = number("beta1");
    o.momentum_form = bdl::MomentumForm::heavy_ball;
    o.curvature_rate = number("beta2");
    o.damping = number("gamma");
    o.point_damping = std::max(1e-12, number("gamma"));
    o.damping_in = bdl::DampingIn::both;
    o.kl_weight = number("tau", 1);
    o.kl_warmup = 0;
    o.samples = 2;
    o.sample_groups = is("vogn-groups") ? 2 : 1;
    if (is("vogn-literal")) o.tempering = bdl::Tempering::printed;
    if (is("vogn-warmup")) {  // two of four planned steps
      o.kl_start = number("tau_start");
      o.kl_warmup = number("tau_steps") / 4;
    }
    if (is("ogn")) o.curvature = bdl::EstimateKind::lin_ef;
    if (is("ivon")) {
      o.curvature = bdl::EstimateKind::mc_reparam;
      o.descent = bdl::DescentOption::ivon;
      o.curvature_rate = 1 - number("beta2");
      o.initial_curvature = number("h0");
      o.rescale_rate = h_.at("rescale").get<bool>();
      o.clip = std::min(number("clip"), 1e30);
      o.momentum_form =
          h_.at("debias").get<bool>() ? bdl::MomentumForm::corrected : bdl::MomentumForm::average;
    }
    if (is("adam")) {
      o.momentum_form = bdl::MomentumForm::corrected;
      o.adam_beta2 = number("beta2");
      o.adam_epsilon = number("epsilon");
    }
    if (!is_newton()) o.point_decay = number("l2");
    if (is("sgd")) o.descent = bdl::DescentOption::sgd;
    optimizer_.set_options(o);
    optimizer_.state.plan = {0, 4};
  }

  void set_prior() {
    const auto& json = problem_.json;
    const std::size_t size = mean_.size();
    const double precision = is("ivon")    ? data_size() * number("delta")
                             : is_newton() ? number("delta")
                                           : data_size() * number("l2");
    prior_precision_ = Vector(size, precision);
    prior_mean_ = Vector(size);
    if (is("vogn-prior")) {
      prior_precision_ = json.at("delta_vector").get<Vector>();
      prior_mean_ = json.at("mu0").get<Vector>();
    }
    auto belief = bdl::create_posterior<double>(posterior_->kind());
    belief->adopt(posterior_->point_parameters());
    std::ranges::copy(prior_mean_, belief->mean().begin());
    bdl::fill_point_parameters(posterior_->point_parameters(), 1.0, std::span(prior_precision_));
    belief->set_diagonal(prior_precision_, {});
    belief->set_blank(false);
    if (is("vogn-prior"))
      optimizer_.set_prior(std::move(belief));
    else
      optimizer_.prior().fix(prior_precision_);
    bdl::fill_point_parameters(posterior_->point_parameters(), 0.0, std::span(prior_precision_));
  }

  /// VOGN goes on from s0 without momentum; IVON begins.
  void start() {
    const Index size = problem_.parameters();
    std::ranges::copy(mean_, posterior_->mean().begin());
    posterior_->set_blank(false);
    optimizer_.state.is_fresh = is("ivon");
    if (is("ivon")) std::ranges::fill(s0_, number("h0"));
    if (!is_newton() || is("ivon")) return;
    const double tau = number("tau_start", number("tau"));
    Vector precision = s0_;
    for (std::size_t i = 0; i < precision.size(); ++i)
      precision[i] =
          data_size() / (is("vogn-literal") ? 1 : tau) * (s0_[i] + share(i, tau) + number("gamma"));
    bdl::fill_point_parameters(posterior_->point_parameters(), 1.0, std::span(precision));
    posterior_->set_diagonal(precision, {});
    bdl::Moments<double> moments;
    moments.first.reserve(size);
    moments.second.reserve(size);
    std::fill_n(moments.first.data(), size, 0.0);
    std::ranges::copy(s0_, moments.second.data());
    moments.size = size;
    moments.kind = bdl::DescentOption::vogn;
    moments.steps = 1;
    optimizer_.averages.moments.restore(std::move(moments));
  }
  double share(std::size_t i, double tau) const { return tau * prior_precision_[i] / data_size(); }

  /// Compares the averages of g and h after the first step.
  void compare_first() {
    const double tau = number("tau", 1), b = optimizer_.options().curvature_rate;
    const auto h = json_.at("first").at("h").get<Vector>();
    Vector g = copy(optimizer_.averages.moments.now().first), s(h.size());
    for (std::size_t i = 0; i < g.size(); ++i) {
      g[i] = is("ivon") ? g[i] / (1 - number("beta1")) : g[i] - share(i, tau) * (mean_[i] - prior_mean_[i]);
      const double change = b * (h[i] - s0_[i]);
      s[i] = s0_[i] + change + (is("ivon") ? change * change / (2 * (s0_[i] + share(i, tau))) : 0);
    }
    compare("first", "g", g);
    const double error = golden::error(copy(optimizer_.averages.moments.now().second), s);
    if (!(error <= tolerance)) std::printf("    %s first h: %.3g\n", name_.c_str(), error);
    worst_ = std::max(worst_, error);
  }

  const VognProblem& problem_;
  const Json &json_, &h_;
  std::string name_;
  Vector mean_, s0_, prior_precision_, prior_mean_;
  std::shared_ptr<bdl::Posterior<double>> posterior_;
  bdl::Optimizer<double> optimizer_;
  double worst_ = 0;
};

}  // namespace

double compare_vogn_cases(const Json& file, const VognProblem& problem) {
  double worst = 0;
  for (const auto& [name, expected] : problem.json.at("cases").items())
    if (name.find("kfac") == name.npos) worst = std::max(worst, Case(file, problem, name).largest_error());
  return worst;
}

}  // namespace golden
