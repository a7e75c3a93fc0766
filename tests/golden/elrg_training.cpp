// "elrg-golden-1", what training makes of a problem: outputs and gradients with the file's own noise, steps
// of Adam, predictive probabilities.
#include "elrg_training.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "curvature/seeds.hpp"
#include "elrg_forward.hpp"
#include "posterior/low_rank_moment/low_rank_moment.hpp"

namespace golden {
namespace {

using bdl::Index;
using bdl::MatrixView;

class Training {
 public:
  explicit Training(const Json& problem) : p_(problem) {}

  double largest_error() {
    compare_forward();
    for (int step = 1; step <= 3; ++step) {
      const bdl::NoisyEstimate<double> estimate = assess();
      if (step == 1) compare_gradients(estimate);
      move(estimate);
      if (step == 1) compare_parameters("adam1");
      if (step == 3 && p_.expected().contains("adam3")) compare_parameters("adam3");
    }
    if (p_.json.contains("draws")) compare_predictions();
    return worst_;
  }

 private:
  using Estimate = bdl::NoisyEstimate<double>;

  void compare(const std::string& name, const Vector& got, const Json& values) {
    const double error = golden::error(got, flatten_all(values));
    if (!(error <= tolerance)) std::printf("    %s: %.3g\n", name.c_str(), error);
    worst_ = std::max(worst_, error);
  }

  void compare_forward() {
    const auto [f, made] = outputs_of(p_, Json::array({p_.json.at("noise")}));
    Vector nll;
    for (Index i = 0; i < p_.examples; ++i)
      nll.push_back(
          -p_.model.likelihood.log_density(f.data() + i * p_.graph->outputs(), p_.y().column_data(i)));
    compare("outputs", f, p_.expected().at("outputs"));
    compare("preactivations", made, p_.expected().at("preactivations"));
    compare("nll", nll, p_.expected().at("nll"));
    double loss = 0;
    for (const double value : nll) loss += value / static_cast<double>(p_.examples);
    for (const Json& kl : p_.expected().at(p_.is_point() ? "penalty" : "kl"))
      loss += kl.get<double>() / p_.data_size;
    compare("loss", {loss}, p_.expected().at("loss"));
  }

  /// Estimates data_size times the loss per example.
  Estimate assess() {
    const double weight = p_.data_size / static_cast<double>(p_.examples);
    if (p_.is_point()) return assess_mean(weight);
    if (!estimator_) estimator_ = std::make_unique<bdl::NoisyEstimator<double>>(p_.model);
    estimator_->choose(estimators_of(p_.json.at("noise")));
    source_ = p_.noise(Json::array({p_.json.at("noise")}));
    return estimator_->estimate(*p_.q, p_.x(), p_.y(), p_.options, weight, *source_, {}, {{}, {}});
  }
  Estimate assess_mean(double weight) {
    if (!plain_) plain_ = bdl::make_estimator<double>(p_.model);
    const bdl::ConstMatrixView<double> theta(std::as_const(*p_.q).mean().data(), p_.graph->parameters(), 1);
    const auto estimate = plain_->estimate(theta, p_.x(), p_.y(),
                                           {bdl::CurvatureKind::empirical_fisher, weight, nullptr, true, {}});
    mean_gradient_.resize(size(p_.graph->parameters()));
    estimate.rows->sum(estimate.c, mean_gradient_);
    return {{mean_gradient_, {}, {}}, 0};
  }

  Vector penalized(const Estimate& estimate) const {
    Vector slope(estimate.gradient.mean.begin(), estimate.gradient.mean.end());
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] += p_.prior[i] * std::as_const(*p_.q).mean()[i];
    return slope;
  }

  void compare_gradients(const Estimate& estimate) {
    const Vector slope = penalized(estimate);
    const double root = p_.root();
    const auto each = [&](double value) { return value / p_.data_size; };
    bdl::Scratch scratch;
    std::size_t layer = 0;
    bdl::for_each_low_rank_moment(std::as_const(*p_.q), [&](const bdl::LowRankMomentPosterior<double>& member,
                                                            Index offset) {
      const Json& of = p_.expected().at("gradient")[layer++];
      const Index d = member.dimension();
      Vector mean, v, log_sigma, by_w(size(d * p_.rank)), by_log_sigma(size(d));
      if (!p_.is_point())
        bdl::kl_gradient<double>(member, {}, std::span(p_.prior).subspan(size(offset), size(d)),
                                 {{}, {by_w.data(), d, p_.rank}, by_log_sigma}, scratch);
      for (Index i = 0; i < d; ++i) {
        mean.push_back(each(slope[size(offset + i)]));
        for (Index k = 0; k < p_.rank; ++k)
          v.push_back(root *
                      each(estimate.gradient.w[size(offset * p_.rank + k * d + i)] + by_w[size(k * d + i)]));
        if (!estimate.gradient.log_sigma.empty())
          log_sigma.push_back(each(estimate.gradient.log_sigma[size(offset + i)] + by_log_sigma[size(i)]));
      }
      compare("gradient.mean", mean, of.at("mean"));
      if (of.contains("V")) compare("gradient.V", v, of.at("V"));
      if (of.contains("log_sigma")) compare("gradient.log_sigma", log_sigma, of.at("log_sigma"));
      all_log_sigma_.insert(all_log_sigma_.end(), log_sigma.begin(), log_sigma.end());
    });
    if (p_.is_tied()) compare_tied_gradient();
    if (!p_.is_point()) compare_input_gradient();
  }

  void compare_tied_gradient() {
    Vector s(size(p_.graph->parameters()));
    p_.averages.tied.write_now(s);
    const auto gradient = p_.averages.tied.gradient(all_log_sigma_, s);
    compare("gradient.tied", {gradient.begin(), gradient.end()}, p_.tied_of(p_.expected().at("gradient")));
  }

  /// Through the first layer, whose inputs are data that training asks no gradient of.
  void compare_input_gradient() {
    const auto& node = p_.graph->nodes()[size(p_.graph->learned().front().node)];
    const bdl::NoisyNetwork<double>& network = estimator_->network();
    const auto e = p_.graph->sensitivities(estimator_->tape(), node.out, 1);
    Vector gradient(size(p_.graph->inputs() * p_.examples));
    const MatrixView<double> columns(gradient.data(), p_.graph->inputs(), p_.examples);
    if (node.layer->dense()) {
      network.pull(*node.layer->dense(), 0, e, false, columns);
    } else {
      const bdl::PacketMap map{node.layer->input()};
      bdl::Buffer<double> packets(map.packet_numbers() * bdl::packets_of(p_.examples));
      const auto to = packets.matrix(map.packet_numbers(), bdl::packets_of(p_.examples));
      network.pull(*node.layer->convolution(), 0, e, false, to);
      bdl::to_columns<double>(map, to, false, columns);
    }
    for (double& value : gradient) value /= static_cast<double>(p_.examples);
    compare("input_gradient", gradient, p_.expected().at("input_gradient"));
  }

  void move(const Estimate& estimate) {
    auto prior = bdl::Prior<double>::fixed(p_.prior);
    bdl::Scratch scratch;
    bdl::Evidence<double> evidence;
    evidence.gradient = estimate.gradient.mean;
    evidence.noise = &estimate.gradient;
    const bdl::StepInput<double> in{*p_.q,        prior, nullptr, p_.options, {0.01, 0, 1, 1},
                                    p_.data_size, 1,     false,   scratch};
    const auto kind = p_.is_point() ? bdl::StepKind::mean : bdl::StepKind::low_rank_moment;
    bdl::take_step(kind, in, evidence, p_.averages, p_.next.get());
    if (p_.is_point())
      std::ranges::copy(p_.averages.mean.first(p_.q->dimension()), p_.q->mean().begin());
    else
      p_.q->swap(*p_.next);
    p_.averages.commit(kind, false);
  }

  void compare_parameters(const std::string& name) {
    const Json& layers = p_.expected().at(name);
    std::size_t layer = 0;
    bdl::for_each_low_rank_moment(std::as_const(*p_.q),
                                  [&](const bdl::LowRankMomentPosterior<double>& member, Index offset) {
                                    compare_block(name + ".", member, offset, layers[layer++]);
                                  });
    if (!p_.is_tied()) return;
    const auto got = p_.averages.tied.values();
    compare(name + ".tied", {got.begin(), got.end()}, p_.tied_of(layers));
  }

  void compare_block(const std::string& prefix, const bdl::LowRankMomentPosterior<double>& member,
                     Index offset, const Json& of) {
    Vector mean, v, log_sigma;
    for (Index i = 0; i < member.dimension(); ++i) {
      mean.push_back(std::as_const(*p_.q).mean()[size(offset + i)]);
      for (Index k = 0; k < p_.rank; ++k) v.push_back(member.w()(i, k) / p_.root());
      log_sigma.push_back(std::log(member.s()[size(i)]) / 2);
    }
    compare(prefix + "mean", mean, of.at("mean"));
    if (of.contains("V")) compare(prefix + "V", v, of.at("V"));
    if (of.contains("log_sigma")) compare(prefix + "log_sigma", log_sigma, of.at("log_sigma"));
  }

  /// With the parameters that the file began with.
  void compare_predictions() {
    p_.restart();
    const Vector f = outputs_of(p_, p_.json.at("draws")).outputs;
    const Index classes = p_.graph->outputs(), draws = std::ssize(p_.json.at("draws"));
    Vector probabilities(size(classes * p_.examples)), log_density;
    for (Index s = 0; s < draws; ++s)
      for (Index i = 0; i < p_.examples; ++i) {
        const double* logits = f.data() + (s * p_.examples + i) * classes;
        double sum = 0;
        for (Index c = 0; c < classes; ++c) sum += std::exp(logits[c]);
        for (Index c = 0; c < classes; ++c)
          probabilities[size(i * classes + c)] += std::exp(logits[c]) / sum / static_cast<double>(draws);
      }
    for (Index i = 0; i < p_.examples; ++i)
      log_density.push_back(std::log(probabilities[size(i * classes + static_cast<Index>(p_.y()(0, i)))]));
    compare("probabilities", probabilities, p_.expected().at("probabilities"));
    compare("log_density", log_density, p_.expected().at("log_density"));
  }

  ElrgProblem p_;
  double worst_ = 0;
  std::unique_ptr<bdl::NoisyEstimator<double>> estimator_;
  std::unique_ptr<bdl::Estimator<double>> plain_;
  std::unique_ptr<GivenNoise> source_;
  Vector mean_gradient_, all_log_sigma_;
};

}  // namespace

double replay_training(const Json& problem) {
  return Training(problem).largest_error();
}

}  // namespace golden
