// Networks of convolutions, pools, batch norm and sums: gradients against finite differences, passes against
// each other; pools against plain loops; descriptions, their errors and the parameters of published networks;
// masks of dropout, which no layout changes.
#include "curvature/estimator.hpp"
#include "fuzz/describe_any.hpp"
#include "model/network.hpp"
#include "support/naive_convolution.hpp"

// This header is the last: it includes cmocka.h.
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

constexpr const char* descriptions[] = {
    "input 2 5 4; conv 3 3 pad 1; tanh; maxpool 2; conv 4 2 nobias; sigmoid; dense 2",
    "input 1 6 6; conv 4 3 stride 2 pad 1; softplus; avgpool 2 stride 1 pad 1; conv 4 3 pad 2 groups 2; "
    "swish; "
    "globalavgpool; dense 2",
    "input 4 3 3; residual; conv 4 3 pad 1; tanh; conv 4 1 groups 4; end; tanh; residual; residual; conv 4 3 "
    "pad "
    "1 nobias; end; gelu; shortcut; conv 4 1; end; flatten; dense 3; tanh; dense 2",
    "input 2 4 4; maxpool 3 stride 2 pad 1; conv 2 2",
    "input 2 3 3; conv 4 2; batchnorm; relu; residual; conv 4 3 pad 1 nobias; batchnorm; tanh; conv 4 1; "
    "end; "
    "avgpool 2; dense 2",
    "input 5 1 1; conv 6 3 pad 1; tanh; conv 3 1; elu; dense 2",
    "input 2 3 3; conv 2 2; flatten; conv 3 1; tanh; dense 2",
    "input 2 4 3; residual; flatten; dense 24; shortcut; conv 2 3 pad 1; flatten; end; tanh; dense 2",
    "input 2 5 4; crop 4 3; conv 3 2; tanh; crop 1 2; dense 2",
    "input 2 3 4; dropout 0.3; conv 3 2; dropout 0.2; tanh; globalavgpool; dense 2",
};

/// A network with parameters and data; batch norm uses the statistics of the minibatch.
struct Problem {
  Network<double> network;
  Random random;
  Dense thetas, x, y;
  std::vector<double> statistics;
  StreamKey noise{5, Stream::layer_noise, 2, 0};

  Problem(const char* description, Index examples, Index samples)
      : network(std::make_shared<const Graph<double>>(description), Likelihood(BDL_CATEGORICAL, 2)),
        random(static_cast<std::uint64_t>(network.parameters())),
        thetas(random.normal(network.parameters(), samples, 0.6)),
        x(random.normal(network.inputs(), examples)),
        y(1, examples),
        statistics(static_cast<std::size_t>(network.graph()->statistics_size())) {
    for (Index i = 0; i < examples; i += 2) y(0, i) = 1;
    std::fill(statistics.begin() + static_cast<std::ptrdiff_t>(statistics.size() / 2), statistics.end(), 1.0);
  }
  /// Calls visit(estimate, outputs) for a training pass or a prediction's.
  template <class Visit>
  void with_estimate(const Dense& at, CurvatureKind kind, bool trains, Visit&& visit) const {
    const auto estimator = make_estimator<double>(network);
    const Padded<double> theta(at), inputs(x), targets(y);
    std::vector<double> learned = statistics;
    SeedSpec seeds;
    seeds.kind = kind;
    seeds.statistics = {statistics, trains ? std::span<double>(learned) : std::span<double>()};
    if (trains) seeds.noise = &noise;
    const auto estimate = estimator->estimate(theta.get(), inputs.get(), targets.get(), seeds);
    visit(estimate, estimator->outputs());
  }
  double loss(const Dense& at) const {
    double out = 0;
    with_estimate(at, CurvatureKind::empirical_fisher, true,
                  [&](const auto& estimate, const auto&) { out = -estimate.expected_log_likelihood; });
    return out;
  }
  Dense gradient(const Dense& at, CurvatureKind kind, bool trains) const {
    Padded<double> out(poison(network.parameters(), 1));
    with_estimate(at, kind, trains,
                  [&](const auto& estimate, const auto&) { estimate.rows->sum(estimate.c, out.column()); });
    return out.dense();
  }
};

void gradients_are_finite_differences(void**) {
  constexpr double h = 1e-5;
  for (const char* description : descriptions)
    for (const Index examples : {3, 17}) {
      const Problem problem(description, examples, 1);
      Dense expected(problem.thetas.rows, 1);
      for (Index p = 0; p < expected.rows; ++p) {
        Dense up = problem.thetas, down = problem.thetas;
        up(p, 0) += h;
        down(p, 0) -= h;
        expected(p, 0) = (problem.loss(up) - problem.loss(down)) / (2 * h);
      }
      assert_close(description, problem.gradient(problem.thetas, CurvatureKind::empirical_fisher, true),
                   expected, 1e-7);
    }
}

/// Passes agree with a tape and without, for all samples at once and one by one, and for many examples and
/// one; so do gradients by both kinds of seeds.
void passes_agree(void**) {
  for (const char* description : descriptions) {
    const Problem problem(description, 18, 3);
    Dense sum(problem.thetas.rows, 1), f;
    problem.with_estimate(problem.thetas, CurvatureKind::gauss_newton, false,
                          [&](const auto&, ConstMatrixView<double> outputs) { f = dense_of(outputs); });
    for (Index s = 0; s < 3; ++s) {
      const Dense theta = columns_of(problem.thetas, s, 1);
      sum = sum + problem.gradient(theta, CurvatureKind::empirical_fisher, false);
      Scratch scratch;
      Padded<double> alone(poison(2, 18)), first(poison(2, 1));
      const Padded<double> at(theta), x(problem.x);
      problem.network.forward(at.column(), x.get(), alone.view(), scratch, problem.statistics);
      assert_same(description, alone.dense(), columns_of(f, 18 * s, 18));
      problem.network.forward(at.column(), x.get().columns(17, 1), first.view(), scratch, problem.statistics);
      assert_close(description, first.dense(), columns_of(alone.dense(), 17, 1), 1e-13);
    }
    assert_close(description, problem.gradient(problem.thetas, CurvatureKind::gauss_newton, false), sum,
                 1e-12);
  }
}

/// Compares point parameters too, whose squares are not part of the curvature.
void sums_in_one_pass_are_those_apart(void**) {
  for (const char* description : descriptions) {
    const Problem problem(description, 18, 2);
    problem.with_estimate(
        problem.thetas, CurvatureKind::empirical_fisher, true, [&](const auto& estimate, const auto&) {
          Padded<double> sum(poison(problem.thetas.rows, 1)), squares(sum), both_sum(sum), both_squares(sum);
          estimate.rows->sum(estimate.c, sum.column());
          estimate.rows->sum_squares(estimate.w, squares.column());
          estimate.rows->sum_and_squares(estimate.c, both_sum.column(), estimate.w, both_squares.column());
          assert_close(description, both_sum.dense(), sum.dense(), 1e-13);
          assert_close(description, both_squares.dense(), squares.dense(), 1e-13);
        });
  }
}

/// Returns the layer that is node n of a network, after conv 1x1 filters that change nothing.
template <class T>
struct Layered {
  Graph<T> graph;
  Index examples;
  Dense x;
  Packets<T> in, out, e, to;
  Buffer<T> slopes;
  const Layer<T>& layer;
  SampledWeights<T> weights{ConstMatrixView<T>{}};

  Layered(const std::string& description, const Dense& inputs, const Dense& seeds)
      : graph(description + "; dense 1"),
        examples(inputs.rows),
        x(inputs),
        in(graph.input(), examples, inputs, 7, 8),
        out(graph.nodes()[1].layer->output(), examples, 1, not_a_number),
        e(graph.nodes()[1].layer->output(), examples, seeds, 0, 0),
        to(graph.input(), examples, 1, not_a_number),
        slopes(out.view().size()),
        layer(*graph.nodes()[1].layer) {
    const Pass<T> pass{weights, examples};
    const Kept<T> kept{slopes.matrix(out.view().rows, out.view().cols)};
    layer.forward(pass, in.view(), out.view(), kept);
    layer.backward(pass, kept, e.view(), false, to.view());
  }
};

struct NaivePool {
  ConvShape window;
  bool is_max;

  template <class Visit>
  void for_each_tap(Index c, Index y, Index x, Visit&& visit) const {
    for (Index a = 0; a < window.kernel; ++a)
      for (Index b = 0; b < window.kernel; ++b) {
        const Index row = y * window.stride + a - window.pad, column = x * window.stride + b - window.pad;
        if (row < 0 || row >= window.input.rows || column < 0 || column >= window.input.columns) continue;
        visit((c * window.input.rows + row) * window.input.columns + column);
      }
  }
  void run(const Dense& in, const Dense& e, Dense& out, Dense& to) const {
    const Shape& shape = window.output;
    out = Dense(in.rows, shape.size());
    to = Dense(in.rows, in.cols);
    for (Index i = 0; i < in.rows; ++i)
      for (Index c = 0; c < shape.channels; ++c)
        for (Index y = 0; y < shape.rows; ++y)
          for (Index x = 0; x < shape.columns; ++x) {
            const Index at = (c * shape.rows + y) * shape.columns + x;
            Index winner = -1;
            for_each_tap(c, y, x, [&](Index from) {
              if (!is_max) {
                out(i, at) += in(i, from) / static_cast<double>(window.kernel * window.kernel);
                to(i, from) += e(i, at) / static_cast<double>(window.kernel * window.kernel);
              } else if (winner < 0 || in(i, from) > in(i, winner)) {
                winner = from;
              }
            });
            if (!is_max) continue;
            out(i, at) = in(i, winner);
            to(i, winner) += e(i, at);
          }
  }
};

/// Draws few different numbers, so that there are ties everywhere: the first of a window's largest numbers
/// gets the gradient.
template <class T>
void pools_are_plain_loops(void**) {
  Index i = 0;
  for (Index kernel = 1; kernel <= 4; ++kernel)
    for (Index stride = 1; stride <= 3; ++stride)
      for (Index pad = 0; 2 * pad <= kernel; ++pad)
        for (const bool is_max : {true, false}) {
          const Index examples = ++i % 3 == 0 ? 1 : i % 3 == 1 ? 17 : 32;
          const Shape input{1 + i % 3, std::max<Index>(1, kernel - 2 * pad) + i % 4,
                            std::max<Index>(1, kernel - 2 * pad) + i % 5};
          ConvShape window = window_of(input, input.channels, kernel, stride, pad);
          Random random(static_cast<std::uint64_t>(i));
          Dense x = random.normal(examples, input.size());
          for (double& value : x.values) value = std::round(2 * value) / 2;
          const Dense e = rounded<T>(random.normal(examples, window.output.size()));
          Dense out, to;
          NaivePool{window, is_max}.run(x, e, out, to);
          const std::string text = "input " + std::to_string(input.channels) + " " +
                                   std::to_string(input.rows) + " " + std::to_string(input.columns) +
                                   (is_max ? "; maxpool " : "; avgpool ") + std::to_string(kernel) +
                                   " stride " + std::to_string(stride) + " pad " + std::to_string(pad);
          Layered<T> got(text, x, e);
          assert_close(text.c_str(), got.out.rows(), out, is_max ? 0 : accuracy<T>);
          assert_close(text.c_str(), got.to.rows(), to, accuracy<T>);
          assert_true(got.out.has_clear_gaps() && got.to.has_clear_gaps());
        }
}

template <class T>
void a_global_pool_is_the_mean(void**) {
  for (const Shape& input : {Shape{3, 4, 5}, Shape{2, 1, 6}, Shape{4, 1, 1}, Shape{1, 7, 7}}) {
    Random random(2);
    const Dense x = rounded<T>(random.normal(17, input.size())),
                e = rounded<T>(random.normal(17, input.channels));
    Dense out(17, input.channels), to(17, input.size());
    const Index positions = input.rows * input.columns;
    for (Index i = 0; i < 17; ++i)
      for (Index j = 0; j < input.size(); ++j) {
        out(i, j / positions) += x(i, j) / static_cast<double>(positions);
        to(i, j) = e(i, j / positions) / static_cast<double>(positions);
      }
    Layered<T> got("input " + std::to_string(input.channels) + " " + std::to_string(input.rows) + " " +
                       std::to_string(input.columns) + "; globalavgpool",
                   x, e);
    assert_close("mean", got.out.rows(), out, accuracy<T>);
    assert_close("backward", got.to.rows(), to, accuracy<T>);
  }
}

/// A NaN anywhere in a window is its maximum, and so is -inf where nothing else is: padding is no number.
template <class T>
void max_pools_pass_on_nan(void**) {
  for (Index at = 0; at < 4; ++at) {
    Dense x(17, 8, 3);
    for (Index i = 0; i < 17; i += 2) x(i, at) = not_a_number;
    for (Index j = 4; j < 8; ++j) x(1, j) = -infinity;
    Layered<T> got("input 2 2 2; maxpool 2", x, Dense(17, 2, 5));
    const Dense out = got.out.rows(), to = got.to.rows();
    for (Index i = 0; i < 17; ++i) {
      assert_true(i % 2 == 0 ? std::isnan(out(i, 0)) : out(i, 0) == 3);
      assert_true(out(i, 1) == (i == 1 ? -infinity : 3));
      for (Index j = 0; j < 8; ++j)
        assert_true(to(i, j) == (j == (i % 2 == 0 ? at : 0) || j == 4 ? 5.0 : 0.0));
    }
  }
  Layered<T> padded("input 1 1 1; maxpool 3 stride 1 pad 1", Dense(2, 1, -infinity), Dense(2, 1, 5));
  assert_true(padded.out.rows()(1, 0) == -infinity && padded.to.rows()(1, 0) == 5);
}

/// Every mask is the random number of its example and feature, wherever the layer stands and however many
/// layers there are.
template <class T>
void masks_do_not_depend_on_the_layout(void**) {
  constexpr Index examples = 35, samples = 2;
  const Graph<T> graph(
      "input 3 5 4; dropout 0.3; conv 7 2 nobias; dropout 0.4; maxpool 2; dropout 0.2; flatten; dropout 0.5; "
      "dense 1");
  Tape<T> tape;
  const Padded<T> thetas(Random(1).normal(graph.parameters(), samples)),
      x(Random(2).normal(graph.inputs(), examples));
  Padded<T> f(poison(1, examples * samples));
  const StreamKey noise{3, Stream::layer_noise, 9, 4};
  graph.forward(thetas.get(), x.get(), tape, f.view(), &noise);
  Index before = 0, layers = 0;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    const auto& node = graph.nodes()[n];
    if (node.layer->random_numbers() == 0) continue;
    const double rate = std::stod(node.layer->text().substr(8));
    const Shape shape = node.layer->output();
    const bool is_packed = graph.wire(node.out).layout == Layout::packets;
    layers += is_packed ? 1 : 0;
    for (Index s = 0; s < samples; ++s) {
      StreamKey key = noise;
      key.sample += static_cast<std::uint32_t>(s);
      std::vector<T> numbers(static_cast<std::size_t>(shape.size() * examples));
      fill_uniform(key, before * examples, std::span<T>(numbers), T(0), T(1));
      const MatrixView<T> slopes = graph.kept(tape, n, s).slopes;
      Index kept = 0;
      for (Index i = 0; i < examples; ++i)
        for (Index j = 0; j < shape.size(); ++j) {
          const bool is_kept =
              !(numbers[static_cast<std::size_t>(i * shape.size() + j)] < static_cast<T>(rate));
          const Index positions = shape.rows * shape.columns,
                      number = is_packed ? (j / positions * PacketMap{shape}.stride() + j % positions) *
                                                   packet_size +
                                               i % packet_size
                                         : j;
          const T slope = slopes(number, is_packed ? i / packet_size : i);
          assert_true(slope == (is_kept ? static_cast<T>(1 / (1 - rate)) : T(0)));
          kept += is_kept ? 1 : 0;
        }
      Index all = 0;  // nothing is kept where no example and no position is
      for (Index k = 0; k < slopes.size(); ++k) all += slopes.data[k] != 0 ? 1 : 0;
      assert_int_equal(all, kept);
    }
    before += shape.size();
  }
  assert_int_equal(layers, 2);
}

void published_networks_have_their_parameters(void**) {
  const std::string lenet =
      "; conv 6 5; relu; maxpool 2; conv 16 5; relu; maxpool 2; dense 120; relu; dense 84; "
      "relu; dense 10";
  const auto block = [](Index filters, bool is_first) {
    const std::string size = std::to_string(filters), stride = is_first ? " stride 2" : "";
    return "; residual; conv " + size + " 3" + stride + " pad 1 nobias; batchnorm; relu; conv " + size +
           " 3 pad 1 nobias; batchnorm" +
           (is_first ? "; shortcut; conv " + size + " 1 stride 2 nobias; batchnorm" : "") + "; end; relu";
  };
  std::string stages = block(64, false) + block(64, false);
  for (const Index filters : {128, 256, 512}) stages += block(filters, true) + block(filters, false);
  stages += "; globalavgpool; dense 10";
  const std::pair<std::string, Index> cases[] = {
      {"input 1 28 28" + lenet, 44'426},
      {"input 3 32 32" + lenet, 62'006},
      {"input 3 32 32; conv 64 11 stride 4 pad 5; relu; maxpool 2; conv 192 5 pad 2; relu; maxpool 2; conv "
       "384 3 "
       "pad 1; relu; conv 256 3 pad 1; relu; conv 256 3 pad 1; relu; maxpool 2; dense 10",
       2'472'266},
      {"input 3 32 32; conv 64 7 stride 2 pad 3 nobias; batchnorm; relu; maxpool 3 stride 2 pad 1" + stages,
       11'181'642},
      {"input 3 32 32; conv 64 3 pad 1 nobias; batchnorm; relu" + stages, 11'173'962},
  };
  for (const auto& [text, parameters] : cases) {
    const Graph<float> graph(text);
    assert_int_equal(graph.parameters(), parameters);
    assert_int_equal(graph.outputs(), 10);
    assert_string_equal(Graph<double>(graph.description()).description().c_str(),
                        graph.description().c_str());
  }
}

void texts_have_a_canonical_form(void**) {
  const Graph<double> graph(
      "input 4 09 9\nconv 8 3 nobias groups 4 pad 1 stride 1 # a comment\n maxpool 2 stride 2 pad 0;avgpool "
      "2 pad 1 "
      "stride 1\nconv 4 1 pad 0 stride 2 groups 1; globalavgpool; flatten; dense 2");
  const char* const expected =
      "input 4 9 9\nconv 8 3 pad 1 groups 4 nobias\nmaxpool 2\navgpool 2 stride 1 pad 1\nconv 4 1 stride "
      "2\nglobalavgpool\nflatten\ndense 2\n";
  assert_string_equal(graph.description().c_str(), expected);
  for (const char* description : descriptions) {
    const Graph<float> once(description);
    assert_string_equal(Graph<double>(once.description()).description().c_str(), once.description().c_str());
  }
}

void wrong_lines_are_named(void**) {
  const std::pair<const char*, const char*> lines[] = {
      {"conv", "line 2 of the description: conv: FILTERS is missing"},
      {"conv 4", "conv 4: KERNEL is missing"},
      {"conv 0 3", "FILTERS is \"0\""},
      {"conv x 3", "FILTERS is \"x\""},
      {"conv 4 0", "KERNEL is \"0\""},
      {"conv 4 -1", "KERNEL is \"-1\""},
      {"conv 4 3 stride", "the number after stride is missing"},
      {"conv 4 3 stride 0", "stride is \"0\", expected 1 to"},
      {"conv 4 3 stride two", "stride is \"two\""},
      {"conv 4 3 pad", "the number after pad is missing"},
      {"conv 4 3 pad -1", "pad is \"-1\", expected 0 to"},
      {"conv 4 3 pad 4", "pad is 4, expected at most the kernel, 3"},
      {"conv 4 3 groups 0", "groups is \"0\""},
      {"conv 4 3 groups 3",
       "groups is 3, expected a divisor of the 4 channels of its input and of its 4 filters"},
      {"conv 6 3 groups 4",
       "groups is 4, expected a divisor of the 4 channels of its input and of its 6 filters"},
      {"conv 4 3 bias", "\"bias\" is not expected here"},
      {"conv 4 3 pad 1 pad 1", "\"pad\" is not expected here"},
      {"conv 4 3 nobias nobias", "\"nobias\" is not expected here"},
      {"conv 4 3 1", "\"1\" is not expected here"},
      {"conv 4 7", "its input is 4 x 5 x 6, too small for a kernel of 7"},
      {"conv 4 6", "its input is 4 x 5 x 6, too small for a kernel of 6"},
      {"conv 50000 300 pad 300", "more than 2147483647 weights"},
      {"maxpool", "maxpool: K is missing"},
      {"maxpool 0", "K is \"0\""},
      {"maxpool 2 stride 0", "stride is \"0\""},
      {"maxpool 2 pad 2", "pad is 2, expected at most half of the window, 1"},
      {"maxpool 3 pad 2", "pad is 2, expected at most half of the window, 1"},
      {"maxpool 3 groups 1", "\"groups\" is not expected here"},
      {"maxpool 6", "too small for a kernel of 6"},
      {"avgpool", "avgpool: K is missing"},
      {"avgpool 2 pad 2", "pad is 2, expected at most half of the window, 1"},
      {"avgpool 2 nobias", "\"nobias\" is not expected here"},
      {"avgpool 7", "too small for a kernel of 7"},
      {"globalavgpool 2", "\"2\" is not expected here"},
      {"flatten 2", "\"2\" is not expected here"},
      {"crop", "crop: ROWS is missing"},
      {"crop 0", "ROWS is \"0\""},
      {"crop 6", "its input is 4 x 5 x 6, too small for a crop of 6 x 6"},
      {"crop 5 7", "its input is 4 x 5 x 6, too small for a crop of 5 x 7"},
      {"crop 4 4 4", "\"4\" is not expected here"},
      {"batchnorm momentum", "the number after momentum is missing"},
      {"batchnorm momentum 2", "momentum is \"2\""},
      {"batchnorm eps -1", "eps is \"-1\""},
      {"batchnorm affine", "\"affine\" is not expected here"},
      {"residual; conv 4 3; end", "the main branch has outputs 4 x 3 x 4, the shortcut has 4 x 5 x 6"},
      {"residual; conv 4 3; shortcut; maxpool 2; end",
       "the main branch has outputs 4 x 3 x 4, the shortcut has 4 x 2 x 3"},
      {"convolution 4 3",
       "expected one of dense, conv, maxpool, avgpool, globalavgpool, crop, flatten, dropout"},
  };
  for (const auto& item : lines)
    expect_error(Status::ERROR_INVALID_ARGUMENT, item.second,
                 [&] { Graph<float> graph("input 4 5 6; " + std::string(item.first) + "; dense 2"); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "more than 268435456 numbers",
               [] { Graph<float> graph("input 1 2000 2000; conv 100 3 pad 1; dense 1"); });
  expect_error(Status::ERROR_INVALID_ARGUMENT, "no layer with parameters",
               [] { Graph<float> graph("input 1 4 4; maxpool 2; flatten"); });
}

/// Scaling by fan-out gives convolutions its variance within 5 standard errors; dense layers start as
/// without.
void fan_out_is_for_convolutions(void**) {
  const Graph<double> graph("input 16 4 4; conv 64 3; relu; dense 3");
  const auto initial = [&](bdl_initialization scheme) {
    std::vector<double> theta(static_cast<std::size_t>(graph.parameters()));
    graph.initialize(scheme, 7, theta);
    return theta;
  };
  const auto by_fan_out = initial(BDL_INIT_HE_FAN_OUT), uniform = initial(BDL_INIT_UNIFORM_FAN_IN);
  constexpr std::size_t weights = 64 * 16 * 9;
  double square = 0;
  for (std::size_t i = 0; i < weights; ++i) square += by_fan_out[i] * by_fan_out[i] / weights;
  assert_true(std::abs(square / (2.0 / (64 * 9)) - 1) < 5 * std::sqrt(2.0 / weights));
  for (std::size_t i = weights; i < weights + 64; ++i) assert_true(by_fan_out[i] == 0);
  for (std::size_t i = weights + 64; i < uniform.size(); ++i) assert_true(by_fan_out[i] == uniform[i]);
}

/// A crop leaves the middle; if one more line must go, it goes below or to the right.
void crops_take_the_middle(void**) {
  const Graph<double> whole("input 2 5 6; crop 2 3; dense 1 nobias"), all("input 2 5 6; dense 1 nobias");
  assert_string_equal(whole.description().c_str(), "input 2 5 6\ncrop 2 3\ndense 1 nobias\n");
  assert_string_equal(Graph<double>("input 1 4 5; crop 3; dense 1").description().c_str(),
                      "input 1 4 5\ncrop 3\ndense 1\n");
  Random random(3);
  const Dense x = random.normal(60, 17), weights = random.normal(12, 1);
  Dense spread(60, 1);
  for (Index c = 0; c < 2; ++c)
    for (Index row = 0; row < 2; ++row)
      for (Index column = 0; column < 3; ++column)
        spread(c * 30 + (row + 1) * 6 + column + 1, 0) = weights(c * 6 + row * 3 + column, 0);
  const auto outputs = [&](const Graph<double>& graph, const Dense& theta) {
    const Padded<double> at(theta), in(x);
    Padded<double> f(poison(1, 17));
    Scratch scratch;
    graph.forward(at.column(), in.get(), f.view(), scratch);
    return f.dense();
  };
  assert_close("outputs", outputs(whole, weights), outputs(all, spread), 1e-15);
}

/// Texts made of known words and small numbers, in any order, are descriptions or refused.
void lines_of_any_words_are_descriptions_or_refused(void**) {
  constexpr const char* words[] = {"conv",     "maxpool", "avgpool",   "globalavgpool",
                                   "crop",     "flatten", "dense",     "dropout",
                                   "relu",     "tanh",    "stride",    "pad",
                                   "groups",   "nobias",  "batchnorm", "residual",
                                   "shortcut", "end",     "1",         "2",
                                   "3",        "4",       "0.5",       ";",
                                   ";",        ";",       "\n"};
  constexpr const char* lines[] = {"conv 4 3 pad 1",
                                   "conv 2 2",
                                   "conv 6 1 groups 2",
                                   "maxpool 2",
                                   "avgpool 3 stride 1 pad 1",
                                   "dense 4",
                                   "residual; conv 4 3 pad 1; end",
                                   "batchnorm",
                                   "relu",
                                   "dropout 0.5",
                                   "flatten"};
  Random random(8);
  const auto pick = [&]<std::size_t n>(const char* const(&from)[n]) {
    return std::string(from[static_cast<std::size_t>(random.uniform() * static_cast<double>(n))]);
  };
  int described = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = "input 4 5 6";
    for (int line = 0; line < 4; ++line) text += "; " + pick(lines);
    for (int word = 0; i % 2 == 1 && word < 3; ++word) text += " " + pick(words);
    if (!fuzz::description_is_right(text)) fail_msg("%s", text.c_str());
    try {
      described += Graph<float>(text).parameters() > 0 ? 1 : 0;
    } catch (const Error&) {
    }
  }
  print_message("%d descriptions of 3000 texts\n", described);
  assert_true(described > 300 && described < 2700);
}

/// Log noise precisions start at 0, also where they come straight from a convolution.
void log_precisions_start_at_zero(void**) {
  for (const char* text :
       {"input 2 3 3; conv 4 2; tanh; conv 2 2", "input 2 3 3; conv 4 2; tanh; conv 2 2 nobias; flatten",
        "input 2 1 1; residual; conv 2 1; shortcut; conv 2 1 groups 2; end"}) {
    const Network<double> network(std::make_shared<const Graph<double>>(text),
                                  Likelihood(BDL_HETEROSCEDASTIC, 2));
    Padded<double> theta(poison(network.parameters(), 1)), f(poison(2, 4));
    network.initialize(BDL_INIT_UNIFORM_FAN_IN, 3, theta.column());
    Scratch scratch;
    network.forward(theta.get().column(0), Padded<double>(Random(3).normal(network.inputs(), 4)).get(),
                    f.view(), scratch);
    for (Index i = 0; i < 4; ++i) assert_true(f.dense()(1, i) == 0 && f.dense()(0, i) != 0);
  }
}

}  // namespace

#define BOTH(test) cmocka_unit_test(test<float>), cmocka_unit_test(test<double>)

int test_convolution_networks() {
  const CMUnitTest tests[] = {
      cmocka_unit_test(gradients_are_finite_differences),
      cmocka_unit_test(passes_agree),
      cmocka_unit_test(sums_in_one_pass_are_those_apart),
      BOTH(pools_are_plain_loops),
      BOTH(a_global_pool_is_the_mean),
      BOTH(max_pools_pass_on_nan),
      BOTH(masks_do_not_depend_on_the_layout),
      cmocka_unit_test(published_networks_have_their_parameters),
      cmocka_unit_test(texts_have_a_canonical_form),
      cmocka_unit_test(fan_out_is_for_convolutions),
      cmocka_unit_test(crops_take_the_middle),
      cmocka_unit_test(wrong_lines_are_named),
      cmocka_unit_test(lines_of_any_words_are_descriptions_or_refused),
      cmocka_unit_test(log_precisions_start_at_zero),
  };
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
