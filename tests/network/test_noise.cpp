// Layers that make noise: the law of their outputs, found exactly from the linear map of the normals, and
// gradients by mean, W and log standard deviations.
#include <map>
#include <string>
#include <tuple>

#include "network/noise/noisy_network.hpp"
#include "posterior/point_parameters.hpp"
#include "support/noisy_networks.hpp"

// This header is the last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;
using enum LayerNoise;

/// A normal of a pass: its purpose, its block or layer, its sample and its place.
enum class Purpose { factors, outputs, parameters, example_parameters };
using Place = std::tuple<Purpose, Index, Index, Index>;

/// Normals as pure functions of their place: like those of a generator, or 0 but for one.
class ChosenNoise final : public NoiseSource<double> {
 public:
  explicit ChosenNoise(std::vector<Index> parameters) : parameters_(std::move(parameters)) {}
  void choose_none() { is_random_ = has_one_ = false; }
  void choose(const Place& one) {
    is_random_ = false;
    has_one_ = true;
    one_ = one;
  }
  void choose_random() { is_random_ = true; }
  /// Number of the first sample of a pass.
  Index first_sample = 0;
  /// Number of the example whose outputs' signs are changed; -1: none.
  Index turned = -1;
  bool is_antithetic = false;

  double value(const Place& place) const {
    if (!is_random_) return has_one_ && place == one_ ? 1 : 0;
    const auto [purpose, number, sample, i] = place;
    const Index of = is_antithetic ? sample / 2 : sample;
    const double normal = Random(static_cast<std::uint64_t>(
                                     ((static_cast<Index>(purpose) * 31 + number) * 17 + of) * 100003 + i))
                              .normal();
    return is_antithetic && sample % 2 == 1 ? -normal : normal;
  }
  /// Returns the normals that were asked for.
  std::vector<Place> places() const {
    std::vector<Place> all;
    for (const auto& [of, count] : counts_)
      for (Index i = 0; i < count; ++i)
        all.emplace_back(std::get<0>(of), std::get<1>(of), std::get<2>(of), i);
    return all;
  }

  void factors(Index block, Index sample, MatrixView<double> eps) const override {
    fill(Purpose::factors, block, sample, eps.rows * eps.cols,
         [&](Index i) -> double& { return eps(i % eps.rows, i / eps.rows); });
  }
  void outputs(Index layer, Index sample, MatrixView<double> xi) const override {
    fill(Purpose::outputs, layer, sample, xi.size(), [&](Index i) -> double& { return xi.data[i]; });
  }
  void parameters(Index layer, Index sample, std::span<double> zeta) const override {
    fill(Purpose::parameters, layer, sample, std::ssize(zeta),
         [&](Index i) -> double& { return zeta[at(i)]; });
  }
  void example_parameters(Index layer, Index sample, Index packet, Index first, Index count,
                          double* zeta) const noexcept override {
    for (Index i = 0; i < count * packet_size; ++i)
      zeta[i] = value({Purpose::example_parameters, layer, first_sample + sample,
                       (packet * parameters_[at(layer)] + first) * packet_size + i});
  }
  void check_example_parameters(Index layer, Index packets) const override {
    counts_[{Purpose::example_parameters, layer, first_sample}] =
        packets * packet_size * parameters_[at(layer)];
  }
  void signs(Index layer, Index sample, MatrixView<double> in, MatrixView<double> out) const override {
    const Index of = is_antithetic ? (first_sample + sample) / 2 : first_sample + sample;
    Random random(static_cast<std::uint64_t>(900 + 10 * of + layer));
    for (MatrixView<double> m : {in, out})
      for (Index i = 0; i < m.size(); ++i) m.data[i] = random.uniform() < 0.5 ? -1 : 1;
    for (Index i = 0; turned >= 0 && i < out.rows; ++i) {
      const bool is_packed = out.rows % packet_size == 0 && in.rows % packet_size == 0;
      if (!is_packed || i % packet_size == turned) out(i, is_packed ? 0 : turned) *= -1;
    }
  }

 private:
  template <class At>
  void fill(Purpose purpose, Index number, Index sample, Index count, At&& at_place) const {
    counts_[{purpose, number, first_sample + sample}] = count;
    for (Index i = 0; i < count; ++i) at_place(i) = value({purpose, number, first_sample + sample, i});
  }
  std::vector<Index> parameters_;
  mutable std::map<std::tuple<Purpose, Index, Index>, Index> counts_;
  bool is_random_ = true, has_one_ = false;
  Place one_;
};

/// Returns the columns of a matrix below one another.
Dense stacked(Dense a) {
  a.rows *= a.cols;
  a.cols = 1;
  return a;
}

/// A network with a posterior of each layer, and passes through it.
class Pass {
 public:
  Pass(const char* description, Index rank, Index examples, Index samples, std::uint64_t seed = 1)
      : graph_(description),
        sizes_(layer_sizes_of(graph_.blocks())),
        network_(graph_),
        source(noisy_sizes()),
        rank_(rank),
        examples_(examples),
        samples_(samples) {
    Random random(seed);
    const Index dimension = graph_.parameters();
    mean = random.normal(dimension, 1, 0.5);
    log_sigma = random.uniform(dimension, 1, -1.5, -0.5);
    for (const Index size : sizes_) w.push_back(random.normal(size, rank, 0.3));
    x = random.normal(graph_.inputs(), examples);
    running_.assign(at(graph_.statistics_size()), 0.1);
    for (std::size_t i = running_.size() / 2; i < running_.size(); ++i) running_[i] = 1.5;
    learned_.resize(running_.size());
  }

  void choose(LayerNoise noise) { network_.choose(std::vector<LayerNoise>(noisy_sizes().size(), noise)); }
  const Graph<double>& graph() const { return graph_; }
  const NoisyNetwork<double>& network() const { return network_; }
  Index dimension() const { return graph_.parameters(); }
  Index outputs() const { return graph_.outputs(); }
  Index examples() const { return examples_; }

  /// Returns the outputs: a column for each example and sample.
  Dense forward(Index first_sample = 0, Index samples = 0) {
    if (samples == 0) samples = samples_;
    s_.resize(log_sigma.values.size());
    std::transform(log_sigma.values.begin(), log_sigma.values.end(), s_.begin(),
                   [](double rho) { return std::exp(2 * rho); });
    blocks_.clear();
    Index offset = 0;
    for (std::size_t b = 0; b < sizes_.size(); ++b) {
      blocks_.push_back(
          {offset, sizes_[b], {w[b].values.data(), sizes_[b], rank_}, s_.data() + offset, common});
      offset += sizes_[b];
    }
    Dense f = poison(outputs(), examples_ * samples);
    source.first_sample = first_sample;
    network_.begin(mean.values, blocks_, examples_, samples, source);
    std::ranges::copy(running_, learned_.begin());
    const Statistics statistics{running_, learned_};
    graph_.forward(network_, samples, {x.values.data(), graph_.inputs(), examples_}, tape_,
                   {f.values.data(), outputs(), f.cols}, &layer_noise_, statistics);
    return f;
  }

  struct Gradient {
    std::vector<double> mean, w, log_sigma;
  };
  /// Returns the gradient of sum_r c_r seeds_r . f_r.
  Gradient gradient(const Dense& seeds, const std::vector<double>& c) {
    const Dense f = forward();
    const auto to = graph_.seeds(tape_, f.cols);
    for (Index j = 0; j < f.cols; ++j)
      for (Index i = 0; i < f.rows; ++i) to(i, j) = seeds(i, j);
    graph_.backward(network_, tape_, 1);
    Gradient out{std::vector<double>(at(dimension()), not_a_number),
                 std::vector<double>(at(dimension() * rank_), not_a_number),
                 std::vector<double>(at(dimension()), not_a_number)};
    network_.gradient(tape_, c, {out.mean, out.w, out.log_sigma});
    return out;
  }

  /// Returns the derivatives of an example's outputs by theta, in which they are linear: outputs x
  /// parameters.
  Dense jacobian(Index example) {
    Dense out(outputs(), dimension());
    Scratch scratch;
    Dense f(outputs(), examples_);
    for (Index p = 0; p < dimension(); ++p) {
      std::vector<double> theta(at(dimension()), 0.0);
      theta[at(p)] = 1;
      graph_.forward(theta, {x.values.data(), graph_.inputs(), examples_},
                     {f.values.data(), outputs(), examples_}, scratch);
      std::copy_n(f.column(example), outputs(), out.column(p));
    }
    return out;
  }

 private:
  /// Returns the numbers of parameters of the layers that have no point parameters.
  std::vector<Index> noisy_sizes() const {
    std::vector<Index> sizes;
    for (const auto& learned : graph_.learned()) {
      const auto& layer = *graph_.nodes()[at(learned.node)].layer;
      if (!layer.point_rows()) sizes.push_back(layer.parameters());
    }
    return sizes;
  }
  Graph<double> graph_;
  std::vector<Index> sizes_;
  NoisyNetwork<double> network_;
  Tape<double> tape_;
  std::vector<BlockPosterior<double>> blocks_;
  std::vector<double> s_, running_, learned_;
  StreamKey layer_noise_{3, Stream::layer_noise, 0, 0};

 public:
  ChosenNoise source;
  Dense mean, log_sigma, x;
  std::vector<Dense> w;
  bool common = false;

 private:
  Index rank_, examples_, samples_;
};

const char* const one_layers[] = {
    "input 5; dense 4",
    "input 5; dense 4 nobias",
    "input 2 5 4; conv 3 3 pad 1",
    "input 4 5 6; conv 4 3 stride 2 pad 1 groups 2",
    "input 2 4 4; conv 3 2 stride 2 nobias",
    "input 3 3 3; conv 5 3",
};
constexpr LayerNoise all_noise[] = {local, weights, flipout, shared};

/// Returns z(normals) - z(0) for each normal alone, with all examples' outputs below one another.
Dense map_of(Pass& pass) {
  pass.source.choose_none();
  const Dense zero = pass.forward();
  Dense map(zero.rows * zero.cols, 0);
  for (const Place& place : pass.source.places()) {
    pass.source.choose(place);
    map = beside(map, stacked(pass.forward() - zero));
  }
  return map;
}

Dense block_of(const Dense& a, Index row, Index col, Index rows, Index cols) {
  Dense out(rows, cols);
  for (Index j = 0; j < cols; ++j)
    for (Index i = 0; i < rows; ++i) out(i, j) = a(row + i, col + j);
  return out;
}

/// Returns J diag(s) J^T for the Jacobians of two examples.
Dense diagonal_part(const Pass& pass, const Dense& first, const Dense& second) {
  Dense s(pass.dimension(), 1);
  for (Index i = 0; i < pass.dimension(); ++i) s(i, 0) = std::exp(2 * pass.log_sigma(i, 0));
  return first * diagonal_matrix(s) * transposed(second);
}

Dense low_rank_part(const Pass& pass, const Dense& first, const Dense& second) {
  return (first * pass.w[0]) * transposed(second * pass.w[0]);
}

/// One example's law is that of z = f(x; theta) with theta from N(mean, diag(s) + W W^T). Local noise has it
/// in dense layers; in convolutions only its variances are those of the diagonal term.
void each_example_has_the_law_of_a_draw(void**) {
  constexpr Index examples = 3;
  for (const char* const text : one_layers)
    for (const LayerNoise noise : all_noise) {
      Pass pass(text, 2, examples, 1);
      pass.choose(noise);
      const Dense map = map_of(pass), covariance = map * transposed(map);
      const Index n = pass.outputs();
      for (Index i = 0; i < examples; ++i) {
        const Dense j = pass.jacobian(i);
        Dense diagonal = diagonal_part(pass, j, j);
        if (noise == local && !pass.network().is_exact()) diagonal = diagonal_matrix(diagonal_of(diagonal));
        assert_close(text, block_of(covariance, i * n, i * n, n, n), diagonal + low_rank_part(pass, j, j),
                     1e-12);
      }
    }
}

/// Outputs are affine in the normals, so random normals give the outputs that the map says.
void outputs_are_affine_in_the_normals(void**) {
  for (const char* const text : one_layers)
    for (const LayerNoise noise : all_noise) {
      Pass pass(text, 2, 3, 1);
      pass.choose(noise);
      const Dense map = map_of(pass);
      pass.source.choose_none();
      const Dense zero = pass.forward();
      pass.source.choose_random();
      Dense normals(map.cols, 1);
      const std::vector<Place> places = pass.source.places();
      for (std::size_t k = 0; k < places.size(); ++k) normals.values[k] = pass.source.value(places[k]);
      assert_close(text, stacked(pass.forward() - zero), map * normals, 1e-12);
    }
}

/// Two examples are independent, or with one draw for all, have the same theta. By flipout the covariance of
/// the diagonal term changes its sign with the signs of one of them, so that on average over signs there is
/// none.
void examples_are_independent_or_share_a_draw(void**) {
  for (const char* const text : one_layers)
    for (const LayerNoise noise : all_noise) {
      Pass pass(text, 2, 3, 1);
      pass.choose(noise);
      const Index n = pass.outputs();
      const auto across = [&] {
        const Dense map = map_of(pass);
        return block_of(map * transposed(map), 0, n, n, n);
      };
      const Dense got = across(), first = pass.jacobian(0), second = pass.jacobian(1);
      const double scale = max_abs(diagonal_part(pass, first, first));
      if (noise == shared) {
        assert_close(text, got, diagonal_part(pass, first, second) + low_rank_part(pass, first, second),
                     1e-12);
      } else if (noise == flipout) {
        assert_true(max_abs(got) > 1e-3 * scale);
        pass.source.turned = 1;
        assert_true(max_abs(got + across()) <= 1e-13 * scale);
      } else {
        assert_true(max_abs(got) == 0);
      }
    }
}

std::vector<double> ones(Index count) {
  return std::vector<double>(at(count), 1.0);
}

const char* const two_layers[] = {
    "input 4; dense 6; tanh; dense 3",
    "input 4 5 5; conv 6 3 pad 1 groups 2; tanh; conv 4 3 stride 2 groups 2 nobias; tanh; dense 3",
};

struct Results {
  Dense f;
  Pass::Gradient gradient;
};

Results results_of(Pass& pass) {
  Random random(5);
  Results out{pass.forward(), {}};
  out.gradient = pass.gradient(random.normal(out.f.rows, out.f.cols), ones(out.f.cols));
  return out;
}

/// Sums the gradient over each layer, since only the sums have a meaning where s is one number.
Dense layer_sums(const Pass& pass, const std::vector<double>& values) {
  const std::vector<Index> sizes = layer_sizes_of(pass.graph().blocks());
  Dense sums(std::ssize(sizes), 1);
  std::size_t first = 0;
  for (std::size_t b = 0; b < sizes.size(); first += at(sizes[b++]))
    for (std::size_t i = first; i < first + at(sizes[b]); ++i) sums.values[b] += values[i];
  return sums;
}

void assert_same_results(const char* text, const Pass& pass, const Results& got, const Results& expected,
                         double tolerance) {
  assert_close(text, got.f, expected.f, tolerance);
  assert_close(text, column_of(got.gradient.mean), column_of(expected.gradient.mean), tolerance);
  assert_close(text, column_of(got.gradient.w), column_of(expected.gradient.w), tolerance);
  assert_close(text, layer_sums(pass, got.gradient.log_sigma), layer_sums(pass, expected.gradient.log_sigma),
               tolerance);
}

/// A common s gives the results of as many equal numbers.
void a_common_s_is_a_vector_of_equal_ones(void**) {
  for (const char* const text : two_layers)
    for (const LayerNoise noise : all_noise) {
      Pass pass(text, 2, 18, 2);
      pass.choose(noise);
      std::ranges::fill(pass.log_sigma.values, -0.7);
      const Results expected = results_of(pass);
      pass.common = true;
      assert_same_results(text, pass, results_of(pass), expected, 1e-13);
    }
}

/// If s is almost 0, local noise, weights of each example and flipout all do the same with W's normals.
void without_a_diagonal_part_all_are_one(void**) {
  for (const char* const text : two_layers) {
    Pass pass(text, 3, 18, 2);
    std::ranges::fill(pass.log_sigma.values, -80);
    pass.choose(local);
    const Results expected = results_of(pass);
    for (const LayerNoise noise : {weights, flipout}) {
      pass.choose(noise);
      Results got = results_of(pass);
      got.gradient.log_sigma = expected.gradient.log_sigma;  // both next to nothing
      assert_same_results(text, pass, got, expected, 1e-13);
    }
  }
}

void rank_0_is_w_of_0(void**) {
  for (const char* const text : two_layers)
    for (const LayerNoise noise : all_noise) {
      Pass none(text, 0, 18, 2), zero(text, 2, 18, 2);
      for (Dense& w : zero.w) std::ranges::fill(w.values, 0.0);
      for (Pass* pass : {&none, &zero}) pass->choose(noise);
      zero.x = none.x;
      Results got = results_of(none);
      const Results expected = results_of(zero);
      assert_true(got.gradient.w.empty());
      got.gradient.w = expected.gradient.w;
      assert_same_results(text, none, got, expected, 1e-13);
    }
}

/// Each sample equals a pass by itself, also where all have the same data.
void samples_are_passes_of_their_own(void**) {
  for (const char* const text : two_layers)
    for (const LayerNoise noise : all_noise) {
      Pass together(text, 2, 17, 3), alone(text, 2, 17, 1);
      for (Pass* pass : {&together, &alone}) pass->choose(noise);
      const Dense f = together.forward();
      for (Index s = 0; s < 3; ++s) assert_close(text, alone.forward(s), columns_of(f, s * 17, 17), 1e-14);
      assert_true(max_abs(columns_of(f, 0, 17) - columns_of(f, 17, 17)) > 0.01);
    }
}

/// The mean of a pair of opposite passes of a linear network is the pass at the mean, up to rounding.
void opposite_normals_cancel(void**) {
  for (const char* const text : one_layers)
    for (const LayerNoise noise : all_noise) {
      Pass pass(text, 2, 5, 2);
      pass.choose(noise);
      pass.source.is_antithetic = true;
      const Dense f = pass.forward();
      pass.source.choose_none();
      const Dense at_mean = pass.forward(0, 1);
      assert_close(text, 0.5 * (columns_of(f, 0, 5) + columns_of(f, 5, 5)), at_mean, 1e-14);
      assert_true(max_abs(columns_of(f, 0, 5) - at_mean) > 0.01);
    }
}

const char* const differentiable[] = {
    "input 4; dense 5; tanh; dense 3",
    "input 3; dense 4; residual; dense 4 nobias; tanh; dense 4; end; tanh; dense 2",
    "input 2 5 5; conv 4 3 pad 1 groups 2; tanh; conv 3 3 stride 2; tanh; dense 2",
    "input 2 4 4; residual; conv 4 3 pad 1 nobias; batchnorm; shortcut; conv 4 1 nobias; end; tanh; dense 2",
    "input 3; dense 4; batchnorm; tanh; dropout 0.3; dense 2",
};

/// Returns sum_r c_r seeds_r . f_r.
double loss_of(Pass& pass, const Dense& seeds, const std::vector<double>& c) {
  const Dense f = pass.forward();
  double sum = 0;
  for (Index r = 0; r < f.cols; ++r) sum += c[at(r)] * dot(columns_of(f, r, 1), columns_of(seeds, r, 1));
  return sum;
}

/// Returns central differences by each of the values.
Dense differences(Pass& pass, const Dense& seeds, const std::vector<double>& c, std::vector<double>& values) {
  constexpr double h = 1e-5;
  Dense out(std::ssize(values), 1);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    values[i] = value + h;
    const double up = loss_of(pass, seeds, c);
    values[i] = value - h;
    out.values[i] = (up - loss_of(pass, seeds, c)) / (2 * h);
    values[i] = value;
  }
  return out;
}

void gradients_are_those_of_differences(void**) {
  for (const char* const text : differentiable)
    for (const LayerNoise noise : all_noise) {
      Pass pass(text, 2, 5, 3);
      pass.choose(noise);
      Random random(8);
      const bool has_batches = pass.graph().statistics_size() > 0;  // examples then weigh the same
      const Dense seeds = random.normal(pass.outputs(), 15);
      std::vector<double> c = ones(15);
      for (double& weight : c) weight = has_batches ? 0.7 : 0.5 + random.uniform();
      const Pass::Gradient got = pass.gradient(seeds, c);
      assert_close(text, column_of(got.mean), differences(pass, seeds, c, pass.mean.values), 1e-6);
      assert_close(text, column_of(got.log_sigma), differences(pass, seeds, c, pass.log_sigma.values), 1e-6);
      std::vector<double> by_w;
      for (Dense& w : pass.w) {
        const Dense of_block = differences(pass, seeds, c, w.values);
        by_w.insert(by_w.end(), of_block.values.begin(), of_block.values.end());
      }
      assert_close(text, column_of(got.w), column_of(by_w), 1e-6);
    }
}

void assert_text(const char* got, const char* expected) {
  if (std::strcmp(got, expected) != 0) fail_msg("got\n%s\nexpected\n%s", got, expected);
}

/// The layers have 64, 4 and 1 positions, and one is dense.
void the_estimator_says_what_it_does(void**) {
  const Graph<double> graph(
      "input 1 8 8; conv 2 3 pad 1; batchnorm; tanh; conv 3 4 stride 4; tanh; conv 4 2; tanh; dense 2");
  NoisyNetwork<double> network(graph);
  const auto text_of = [&](NoiseEstimator estimator) {
    network.choose(estimator);
    return network.text();
  };
  const auto expected = [](const char* first, const char* second, const char* third, const char* fourth) {
    return std::string("conv 2 3 pad 1: ") + first + "\nconv 3 4 stride 4: " + second +
           "\nconv 4 2: " + third + "\ndense 2: " + fourth + "\n";
  };
  assert_text(text_of(NoiseEstimator::local).c_str(),
              expected("local, approximate", "local, approximate", "local, exact", "local, exact").c_str());
  assert_true(!network.is_exact());
  for (const auto& [estimator, word] : {std::pair{NoiseEstimator::weights, "weights, exact"},
                                        std::pair{NoiseEstimator::flipout, "flipout, exact"},
                                        std::pair{NoiseEstimator::shared, "shared, exact"}}) {
    assert_text(text_of(estimator).c_str(), expected(word, word, word, word).c_str());
    assert_true(network.is_exact());
  }
  assert_text(text_of(NoiseEstimator::automatic).c_str(),
              expected("weights, exact", "flipout, exact", "local, exact", "local, exact").c_str());
  assert_true(network.is_exact());
}

/// Layers of 30 positions and more draw weights for each example.
void example_weights_begin_at_30_positions(void**) {
  for (const auto& [text, word] : {std::pair{"input 1 5 6; conv 1 1", "conv 1 1: weights, exact\n"},
                                   std::pair{"input 1 1 29; conv 1 1", "conv 1 1: flipout, exact\n"},
                                   std::pair{"input 3 1 1; conv 1 1", "conv 1 1: local, exact\n"}}) {
    const Graph<double> graph(text);
    NoisyNetwork<double> network(graph);
    network.choose(NoiseEstimator::automatic);
    assert_text(network.text().c_str(), word);
  }
}

}  // namespace

int test_noise() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(each_example_has_the_law_of_a_draw),
      cmocka_unit_test(outputs_are_affine_in_the_normals),
      cmocka_unit_test(examples_are_independent_or_share_a_draw),
      cmocka_unit_test(a_common_s_is_a_vector_of_equal_ones),
      cmocka_unit_test(without_a_diagonal_part_all_are_one),
      cmocka_unit_test(rank_0_is_w_of_0),
      cmocka_unit_test(samples_are_passes_of_their_own),
      cmocka_unit_test(opposite_normals_cancel),
      cmocka_unit_test(gradients_are_those_of_differences),
      cmocka_unit_test(the_estimator_says_what_it_does),
      cmocka_unit_test(example_weights_begin_at_30_positions),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
