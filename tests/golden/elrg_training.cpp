// "elrg-golden-1", what training makes of a problem: outputs and gradients with the file's own noise, steps
// of Adam, predictive probabilities.
#include "elrg_training.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "curvature/seeds.hpp"
#include "inference/batch/first_order.hpp"
#include "inference/noise/noisy_estimator.hpp"
#include "model/network.hpp"
#include "network/repacking.hpp"
#include "posterior/families.hpp"
#include "posterior/low_rank_moment/kl_gradient.hpp"
#include "prior/prior.hpp"

namespace golden {
namespace {

using bdl::Index;
using bdl::MatrixView;

/// Noise of the file: one list of layers a sample.
class GivenNoise final : public bdl::NoiseSource<double> {
 public:
  GivenNoise(const Json& samples, std::vector<bdl::Shape> outputs)
      : samples_(samples), outputs_(std::move(outputs)) {}
  void factors(Index block, Index s, MatrixView<double> eps) const override {
    const Json& rows = of(block, s).at("eps");
    for (Index i = 0; i < eps.rows; ++i)
      for (Index k = 0; k < eps.cols; ++k)
        eps(i, k) = (rows.front().is_array() ? rows.at(size(i)) : rows).at(size(k)).get<double>();
  }
  void outputs(Index layer, Index s, MatrixView<double> xi) const override {
    const bdl::Shape& shape = outputs_[size(layer)];
    const Index positions = shape.rows * shape.columns, lanes = xi.rows == shape.channels ? 1 : 16;
    const bdl::PacketMap map{shape};
    std::fill_n(xi.data, xi.size(), 0.0);
    const Json& examples = of(layer, s).at("xi");
    for (Index i = 0; i < std::ssize(examples); ++i)
      for (Index p = 0; p < positions; ++p)
        for (Index c = 0; c < shape.channels; ++c)
          (lanes == 1 ? xi(c, i) : xi((c * map.stride() + p) * 16 + i % 16, i / 16)) =
              examples[size(i)][size(p)][size(c)].get<double>();
  }
  void parameters(Index layer, Index s, std::span<double> zeta) const override {
    std::ranges::copy(of(layer, s).at("zeta").get<Vector>(), zeta.begin());
  }
  void own_parameters(Index layer, Index s, Index packet, Index first, Index count,
                      double* zeta) const noexcept override {
    const Json& examples = of(layer, s).at("zeta");
    for (Index p = 0; p < count; ++p)
      for (Index lane = 0; lane < 16; ++lane) {
        const Index i = packet * 16 + lane;
        zeta[p * 16 + lane] =
            i < std::ssize(examples) ? examples[size(i)][size(first + p)].get<double>() : 0.0;
      }
  }
  void check_own_parameters(Index, Index) const override {}
  void signs(Index layer, Index s, MatrixView<double> in, MatrixView<double> out) const override {
    fill_signs(of(layer, s).at("sign_in"), in);
    fill_signs(of(layer, s).at("sign_out"), out);
  }

 private:
  static std::size_t size(Index i) { return static_cast<std::size_t>(i); }
  const Json& of(Index layer, Index s) const { return samples_[size(s)][size(layer)]; }
  static void fill_signs(const Json& examples, MatrixView<double> out) {
    const Index channels = std::ssize(examples.front()), lanes = out.rows / channels;
    std::fill_n(out.data, out.size(), 1.0);
    for (Index i = 0; i < std::ssize(examples); ++i)
      for (Index c = 0; c < channels; ++c)
        out(c * lanes + i % lanes, i / lanes) = examples[size(i)][size(c)].get<double>();
  }
  Json samples_;
  std::vector<bdl::Shape> outputs_;
};

/// Keeps what layers make.
class Recorded final : public bdl::Weights<double> {
 public:
  Recorded(const bdl::Weights<double>& weights, Index examples) : weights_(weights), examples_(examples) {}
  const double* points(Index offset, Index s) const override { return weights_.points(offset, s); }
  void apply(const bdl::DenseShape& shape, Index s, bdl::ConstMatrixView<double> a,
             MatrixView<double> z) const override {
    weights_.apply(shape, s, a, z);
    values.insert(values.end(), z.data, z.data + z.size());
  }
  void pull(const bdl::DenseShape& shape, Index s, bdl::ConstMatrixView<double> e, bool add,
            MatrixView<double> to) const override {
    weights_.pull(shape, s, e, add, to);
  }
  void apply(const bdl::ConvShape& shape, Index s, bdl::ConstMatrixView<double> a,
             MatrixView<double> z) const override {
    weights_.apply(shape, s, a, z);
    bdl::Buffer<double> columns(shape.output.size() * examples_);
    bdl::to_columns<double>({shape.output}, z, false, columns.matrix(shape.output.size(), examples_));
    values.insert(values.end(), columns.data(), columns.data() + shape.output.size() * examples_);
  }
  void pull(const bdl::ConvShape& shape, Index s, bdl::ConstMatrixView<double> e, bool add,
            MatrixView<double> to) const override {
    weights_.pull(shape, s, e, add, to);
  }
  mutable Vector values;

 private:
  const bdl::Weights<double>& weights_;
  Index examples_;
};

class Training {
 public:
  explicit Training(const Json& problem)
      : json_(problem),
        graph_(std::make_shared<const bdl::Graph<double>>(problem.at("description").get<std::string>())),
        model_(graph_, bdl::Likelihood(has_classes() ? BDL_CATEGORICAL : BDL_GAUSSIAN, graph_->outputs())),
        examples_(std::ssize(problem.at("X"))),
        data_size_(problem.at("data_size").get<double>()) {
    if (!has_classes()) {
      const double precision = problem.at("noise_precision").get<double>();
      model_.likelihood.set_noise_precision({&precision, 1});
    }
    set_options();
    create_posterior();
    x_ = flatten_all(problem.at("X"));
    y_ = flatten_all(problem.at("Y"));
  }

  double largest_error() {
    compare_forward();
    for (int step = 1; step <= 3; ++step) {
      const bdl::NoisyEstimate<double> estimate = assess();
      if (step == 1) compare_gradients(estimate);
      move(estimate);
      if (step == 1) compare_parameters("adam1");
      if (step == 3 && expected().contains("adam3")) compare_parameters("adam3");
    }
    if (json_.contains("draws")) compare_predictions();
    return worst_;
  }

 private:
  using Estimate = bdl::NoisyEstimate<double>;
  static std::size_t size(Index i) { return static_cast<std::size_t>(i); }
  bool has_classes() const { return json_.at("likelihood") == "categorical"; }
  bool is_point() const { return json_.at("family") == "map"; }
  const Json& expected() const { return json_.at("expected"); }
  const Json& parameters(std::size_t layer) const { return json_.at("parameters")[layer]; }
  bdl::ConstMatrixView<double> x() const { return {x_.data(), graph_->inputs(), examples_}; }
  bdl::ConstMatrixView<double> y() const { return {y_.data(), std::ssize(y_) / examples_, examples_}; }
  bdl::Statistics statistics() const { return {{}, {}}; }
  void compare(const std::string& name, const Vector& got, const Json& values) {
    const double error = golden::error(got, flatten_all(values));
    if (!(error <= tolerance)) std::printf("    %s: %.3g\n", name.c_str(), error);
    worst_ = std::max(worst_, error);
  }

  void set_options() {
    const std::string family = json_.at("family");
    options_.samples = 1;
    options_.descent = bdl::DescentOption::adam;
    options_.momentum = 0.9;
    options_.tied_rank = json_.at("rank").get<Index>();
    options_.low_rank_scale = json_.at("a").get<double>();
    options_.diagonal_part = family == "k-tied"                     ? bdl::DiagonalPart::tied
                             : family == "elrg-d" || family == "mf" ? bdl::DiagonalPart::free
                                                                    : bdl::DiagonalPart::fixed;
    rank_ = family == "k-tied" ? 0 : json_.at("rank").get<Index>();
    if (options_.diagonal_part == bdl::DiagonalPart::tied)
      first_order_.tied().reserve(graph_->blocks(), options_.tied_rank);
  }

  void create_posterior() {
    std::vector<Index> sizes;
    for (const auto& learned : graph_->learned())
      sizes.push_back(graph_->nodes()[size(learned.node)].layer->parameters());
    const bdl::PosteriorKind kind{
        bdl::Family::layerwise_low_rank_moment, graph_->parameters(), rank_, sizes, {}};
    q_ = bdl::create_posterior<double>(kind);
    next_ = bdl::create_posterior<double>(kind);
    if (options_.diagonal_part == bdl::DiagonalPart::tied) restore_tied();
    const double root = std::sqrt(json_.at("a").get<double>());
    bdl::Buffer<double> s(graph_->parameters());
    if (options_.diagonal_part == bdl::DiagonalPart::tied)
      first_order_.tied().spread_now(s.first(graph_->parameters()));
    std::size_t layer = 0;
    bdl::for_each_low_rank_moment(*q_, [&](bdl::LowRankMomentPosterior<double>& member, Index offset) {
      const Json& of = parameters(layer);
      const auto mean = of.at("mean").get<Vector>();
      std::copy(mean.begin(), mean.end(), q_->mean().begin() + offset);
      for (Index k = 0; k < rank_; ++k)
        for (Index i = 0; i < member.dimension(); ++i)
          member.w()(i, k) = root * of.at("V")[size(i)][size(k)].get<double>();
      for (Index i = 0; i < member.dimension(); ++i)
        member.s()[size(i)] = of.contains("log_sigma") && !is_point()
                                  ? std::exp(2 * of.at("log_sigma")[size(i)].get<double>())
                              : is_point() ? 1
                                           : s.data()[offset + i];
      bdl::TallScratch scratch;
      member.factorize(scratch);
      const auto gamma = json_.at("prior_variance")[layer++].get<Vector>();
      for (Index i = 0; i < member.dimension(); ++i)
        prior_.push_back(1 / gamma[i < weights_of(layer - 1) ? 0 : 1]);
    });
  }

  Index weights_of(std::size_t layer) const {
    const auto& node = graph_->nodes()[size(graph_->learned()[layer].node)];
    return node.layer->dense() ? node.layer->dense()->weights() : node.layer->convolution()->weights();
  }

  void restore_tied() {
    Vector values;
    for (std::size_t layer = 0; layer < json_.at("parameters").size(); ++layer) {
      const Vector of_layer = tied_of(parameters(layer));
      values.insert(values.end(), of_layer.begin(), of_layer.end());
    }
    first_order_.tied().restore(values);
  }
  /// Factor by factor, rows before columns, then biases.
  Vector tied_of(const Json& of) const {
    Vector values;
    for (const char* name : {"log_u", "log_v"})
      for (Index l = 0; l < options_.tied_rank; ++l)
        for (const Json& row : of.at(name)) values.push_back(row[size(l)].get<double>());
    if (of.contains("log_sigma_bias")) {
      const auto biases = of.at("log_sigma_bias").get<Vector>();
      values.insert(values.end(), biases.begin(), biases.end());
    }
    return values;
  }

  std::unique_ptr<GivenNoise> noise(const Json& samples) const {
    std::vector<bdl::Shape> shapes;
    for (const auto& learned : graph_->learned())
      shapes.push_back(graph_->nodes()[size(learned.node)].layer->output());
    return std::make_unique<GivenNoise>(samples, std::move(shapes));
  }

  static std::vector<bdl::LayerNoise> kinds(const Json& layers) {
    std::vector<bdl::LayerNoise> kinds;
    for (const Json& layer : layers) {
      const std::string word = layer.at("estimator");
      kinds.push_back(word == "local"     ? bdl::LayerNoise::local
                      : word == "weights" ? bdl::LayerNoise::weights
                      : word == "flipout" ? bdl::LayerNoise::flipout
                                          : bdl::LayerNoise::shared);
    }
    return kinds;
  }

  void begin(bdl::NoisyNetwork<double>& network, const GivenNoise& source, Index samples) {
    blocks_.clear();
    bdl::for_each_low_rank_moment(
        std::as_const(*q_), [&](const bdl::LowRankMomentPosterior<double>& member, Index offset) {
          blocks_.push_back({offset, member.dimension(), member.w(), member.s().data(), false});
        });
    network.begin(std::as_const(*q_).mean(), blocks_, examples_, samples, source);
  }

  /// With samples of the file's noise, or at the mean.
  Vector outputs(const Json& samples, Vector& made) {
    const Index count = is_point() ? 1 : std::ssize(samples);
    bdl::Tape<double> tape;
    graph_->reserve(tape, examples_, count, 1);
    Vector f(size(graph_->outputs() * examples_ * count));
    const MatrixView<double> out(f.data(), graph_->outputs(), examples_ * count);
    bdl::NoisyNetwork<double> network(*graph_);
    const auto source = noise(samples);
    const bdl::SampledWeights<double> mean({std::as_const(*q_).mean().data(), graph_->parameters(), 1});
    network.choose(kinds(samples.front()));
    if (!is_point()) begin(network, *source, count);
    const bdl::Weights<double>& noisy = network;
    const Recorded recorded(is_point() ? mean : noisy, examples_);
    graph_->forward(recorded, count, x(), tape, out, nullptr, statistics());
    made = recorded.values;
    return f;
  }

  void compare_forward() {
    Vector made;
    const Vector f = outputs(Json::array({json_.at("noise")}), made);
    Vector nll, layers;
    for (Index i = 0; i < examples_; ++i)
      nll.push_back(-model_.likelihood.log_density(f.data() + i * graph_->outputs(), y().column_data(i)));
    compare("outputs", f, expected().at("outputs"));
    compare("preactivations", made, expected().at("preactivations"));
    compare("nll", nll, expected().at("nll"));
    double loss = 0;
    for (const double value : nll) loss += value / static_cast<double>(examples_);
    for (const Json& kl : expected().at(is_point() ? "penalty" : "kl")) loss += kl.get<double>() / data_size_;
    compare("loss", {loss}, expected().at("loss"));
  }

  /// Of data_size times the loss per example.
  Estimate assess() {
    const double weight = data_size_ / static_cast<double>(examples_);
    if (is_point()) return assess_mean(weight);
    if (!estimator_) estimator_ = std::make_unique<bdl::NoisyEstimator<double>>(model_);
    estimator_->choose(kinds(json_.at("noise")));
    source_ = noise(Json::array({json_.at("noise")}));
    return estimator_->estimate(*q_, x(), y(), options_, weight, *source_, {}, statistics());
  }
  Estimate assess_mean(double weight) {
    if (!plain_) plain_ = bdl::make_estimator<double>(model_);
    const bdl::ConstMatrixView<double> theta(std::as_const(*q_).mean().data(), graph_->parameters(), 1);
    const auto estimate = plain_->estimate(
        theta, x(), y(), {bdl::CurvatureKind::empirical_fisher, weight, 0, nullptr, true, {}});
    mean_gradient_.resize(size(graph_->parameters()));
    estimate.rows->sum(estimate.c, mean_gradient_);
    return {{mean_gradient_, {}, {}}, 0};
  }

  Vector penalized(const Estimate& estimate) const {
    Vector slope(estimate.gradient.mean.begin(), estimate.gradient.mean.end());
    for (std::size_t i = 0; i < slope.size(); ++i) slope[i] += prior_[i] * std::as_const(*q_).mean()[i];
    return slope;
  }

  void compare_gradients(const Estimate& estimate) {
    const Vector slope = penalized(estimate);
    const double root = std::sqrt(json_.at("a").get<double>());
    const auto each = [&](double value) { return value / data_size_; };
    bdl::TallScratch scratch;
    std::size_t layer = 0;
    bdl::for_each_low_rank_moment(std::as_const(*q_), [&](const bdl::LowRankMomentPosterior<double>& member,
                                                          Index offset) {
      const Json& of = expected().at("gradient")[layer++];
      const Index d = member.dimension();
      Vector mean, v, log_sigma, by_w(size(d * rank_)), by_log_sigma(size(d));
      if (!is_point())
        bdl::kl_gradient<double>(member, {}, std::span(prior_).subspan(size(offset), size(d)),
                                 {{}, {by_w.data(), d, rank_}, by_log_sigma}, scratch);
      for (Index i = 0; i < d; ++i) {
        mean.push_back(each(slope[size(offset + i)]));
        for (Index k = 0; k < rank_; ++k)
          v.push_back(root *
                      each(estimate.gradient.w[size(offset * rank_ + k * d + i)] + by_w[size(k * d + i)]));
        if (!estimate.gradient.log_sigma.empty())
          log_sigma.push_back(each(estimate.gradient.log_sigma[size(offset + i)] + by_log_sigma[size(i)]));
      }
      compare("gradient.mean", mean, of.at("mean"));
      if (of.contains("V")) compare("gradient.V", v, of.at("V"));
      if (of.contains("log_sigma")) compare("gradient.log_sigma", log_sigma, of.at("log_sigma"));
      all_log_sigma_.insert(all_log_sigma_.end(), log_sigma.begin(), log_sigma.end());
    });
    if (options_.diagonal_part == bdl::DiagonalPart::tied) compare_tied_gradient();
    if (!is_point()) compare_input_gradient();
  }

  void compare_tied_gradient() {
    Vector s(size(graph_->parameters()));
    first_order_.tied().spread_now(s);
    const auto gradient = first_order_.tied().gradient(all_log_sigma_, s);
    Vector values;
    for (const Json& of : expected().at("gradient")) {
      const Vector of_layer = tied_of(of);
      values.insert(values.end(), of_layer.begin(), of_layer.end());
    }
    compare("gradient.tied", {gradient.begin(), gradient.end()}, values);
  }

  /// Through the first layer, whose inputs are data that training asks no gradient of.
  void compare_input_gradient() {
    const auto& node = graph_->nodes()[size(graph_->learned().front().node)];
    const bdl::NoisyNetwork<double>& network = estimator_->network();
    const auto e = graph_->sensitivities(estimator_->tape(), node.out, 1);
    Vector gradient(size(graph_->inputs() * examples_));
    const MatrixView<double> columns(gradient.data(), graph_->inputs(), examples_);
    if (node.layer->dense()) {
      network.pull(*node.layer->dense(), 0, e, false, columns);
    } else {
      const bdl::PacketMap map{node.layer->input()};
      bdl::Buffer<double> packets(map.packet_numbers() * bdl::packets_of(examples_));
      const auto to = packets.matrix(map.packet_numbers(), bdl::packets_of(examples_));
      network.pull(*node.layer->convolution(), 0, e, false, to);
      bdl::to_columns<double>(map, to, false, columns);
    }
    for (double& value : gradient) value /= static_cast<double>(examples_);
    compare("input_gradient", gradient, expected().at("input_gradient"));
  }

  void move(const Estimate& estimate) {
    const Vector slope = penalized(estimate);
    const bdl::DescentStep<double> step{*q_, slope, prior_, data_size_, 0.01, 1, 1, 1};
    if (is_point()) {
      const auto mean = first_order_.move_mean(step, options_);
      std::ranges::copy(mean, q_->mean().begin());
    } else {
      first_order_.move_low_rank(step, estimate.gradient, options_, *next_);
      q_->swap(*next_);
    }
    first_order_.commit();
  }

  void compare_parameters(const char* name) {
    const double root = std::sqrt(json_.at("a").get<double>());
    std::size_t layer = 0;
    bdl::for_each_low_rank_moment(std::as_const(*q_),
                                  [&](const bdl::LowRankMomentPosterior<double>& member, Index offset) {
                                    const Json& of = expected().at(name)[layer++];
                                    Vector mean, v, log_sigma;
                                    for (Index i = 0; i < member.dimension(); ++i) {
                                      mean.push_back(std::as_const(*q_).mean()[size(offset + i)]);
                                      for (Index k = 0; k < rank_; ++k) v.push_back(member.w()(i, k) / root);
                                      log_sigma.push_back(std::log(member.s()[size(i)]) / 2);
                                    }
                                    const std::string prefix = std::string(name) + ".";
                                    compare(prefix + "mean", mean, of.at("mean"));
                                    if (of.contains("V")) compare(prefix + "V", v, of.at("V"));
                                    if (of.contains("log_sigma"))
                                      compare(prefix + "log_sigma", log_sigma, of.at("log_sigma"));
                                  });
    if (options_.diagonal_part != bdl::DiagonalPart::tied) return;
    Vector values;
    for (const Json& of : expected().at(name)) {
      const Vector of_layer = tied_of(of);
      values.insert(values.end(), of_layer.begin(), of_layer.end());
    }
    const auto got = first_order_.tied().values();
    compare(std::string(name) + ".tied", {got.begin(), got.end()}, values);
  }

  /// With the parameters that the file began with.
  void compare_predictions() {
    create_posterior();
    Vector unused;
    const Vector f = outputs(json_.at("draws"), unused);
    const Index classes = graph_->outputs(), draws = std::ssize(json_.at("draws"));
    Vector probabilities(size(classes * examples_)), log_density;
    for (Index s = 0; s < draws; ++s)
      for (Index i = 0; i < examples_; ++i) {
        const double* logits = f.data() + (s * examples_ + i) * classes;
        double sum = 0;
        for (Index c = 0; c < classes; ++c) sum += std::exp(logits[c]);
        for (Index c = 0; c < classes; ++c)
          probabilities[size(i * classes + c)] += std::exp(logits[c]) / sum / static_cast<double>(draws);
      }
    for (Index i = 0; i < examples_; ++i)
      log_density.push_back(std::log(probabilities[size(i * classes + static_cast<Index>(y_[size(i)]))]));
    compare("probabilities", probabilities, expected().at("probabilities"));
    compare("log_density", log_density, expected().at("log_density"));
  }

  const Json& json_;
  std::shared_ptr<const bdl::Graph<double>> graph_;
  bdl::Network<double> model_;
  Index examples_, rank_ = 0;
  double data_size_, worst_ = 0;
  bdl::Options options_;
  bdl::FirstOrder<double> first_order_;
  std::unique_ptr<bdl::Posterior<double>> q_, next_;
  std::unique_ptr<bdl::NoisyEstimator<double>> estimator_;
  std::unique_ptr<bdl::Estimator<double>> plain_;
  std::unique_ptr<GivenNoise> source_;
  std::vector<bdl::BlockBelief<double>> blocks_;
  Vector x_, y_, prior_, mean_gradient_, all_log_sigma_;
};

}  // namespace

double replay_training(const Json& problem) {
  return Training(problem).largest_error();
}

}  // namespace golden
