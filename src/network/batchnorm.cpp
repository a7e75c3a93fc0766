// batchnorm [momentum 0.1] [eps 1e-5] [noaffine]: each channel minus its mean, over its standard deviation,
// times a scale, plus a shift. Training uses the minibatch's mean and variance over examples and positions,
// predictions the running ones (Ioffe and Szegedy 2015).
#include <algorithm>
#include <cmath>

#include "network/layers.hpp"

namespace bdl {
namespace {

constexpr double usual_momentum = 0.1, usual_epsilon = 1e-5;

/// Runs of a channel's numbers without a gap. In columns there is a run for each example; in packets one for
/// each full packet, and one for each position of a last packet that has fewer examples.
struct ChannelRuns {
  Index positions;
  Index examples;
  bool is_packed;
  Index count;  ///< number of runs
  Index full = 0, rest = 0, channel_numbers = 0;

  /// `column_numbers` is the height of the matrix that holds the maps.
  ChannelRuns(const Shape& shape, Index number_of_examples, Index column_numbers)
      : positions(shape.rows * shape.columns),
        examples(number_of_examples),
        is_packed(column_numbers != shape.size()),
        count(number_of_examples) {
    channel_numbers = is_packed ? PacketMap{shape}.channel_numbers() : positions;
    if (!is_packed) return;
    full = examples / packet_size;
    rest = examples % packet_size;
    count = full + (rest > 0 ? positions : 0);
  }
  template <class View>
  BDL_ALWAYS_INLINE auto* begin(const View& columns, Index channel, Index run) const {
    auto* const of_channel =
        columns.column_data(is_packed ? std::min(run, full) : run) + channel * channel_numbers;
    return is_packed && run > full ? of_channel + (run - full) * packet_size : of_channel;
  }
  Index length(Index run) const {
    if (!is_packed) return positions;
    return run < full ? positions * packet_size : rest;
  }
  /// Number of values in a channel.
  Index values() const { return positions * examples; }
};

/// Calls visit(channel) for all channels, each on one thread.
template <class Visit>
void for_each_channel(const Shape& shape, Index examples, Visit&& visit) {
  parallel_blocks(shape.channels, task_grain(shape.size() / shape.channels * examples),
                  [&](Index first, Index count) noexcept {
                    with_simd([&](auto) BDL_INLINE_LAMBDA {
                      for (Index c = first; c < first + count; ++c) visit(c);
                    });
                  });
}

/// Returns the sum over k < count of term(k), in an order that suits vectors.
template <class Term>
BDL_ALWAYS_INLINE double sum_of(Index count, Term&& term) {
  constexpr Index lanes = 8;
  double sums[lanes] = {}, sum = 0;
  Index k = 0;
  for (; k + lanes <= count; k += lanes)
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] += term(k + lane);
  for (; k < count; ++k) sum += term(k);
  for (const double of_lane : sums) sum += of_lane;
  return sum;
}

/// Returns sum_k a_k b_k over the numbers of a channel.
template <class T>
BDL_ALWAYS_INLINE double dot_of_channel(const ChannelRuns& runs, Index channel, ConstMatrixView<T> a,
                                        ConstMatrixView<T> b) {
  double sum = 0;
  for (Index run = 0; run < runs.count; ++run) {
    const T *x = runs.begin(a, channel, run), *y = runs.begin(b, channel, run);
    sum += sum_of(runs.length(run), [=](Index k) BDL_INLINE_LAMBDA {
      return static_cast<double>(x[k]) * static_cast<double>(y[k]);
    });
  }
  return sum;
}

template <class T>
BDL_ALWAYS_INLINE double sum_of_channel(const ChannelRuns& runs, Index channel, ConstMatrixView<T> a) {
  double sum = 0;
  for (Index run = 0; run < runs.count; ++run) {
    const T* x = runs.begin(a, channel, run);
    sum += sum_of(runs.length(run), [=](Index k) BDL_INLINE_LAMBDA { return static_cast<double>(x[k]); });
  }
  return sum;
}

/// Rows b_r = (sum over positions of d xhat, sum of d) for scale and shift; d are the sensitivities.
template <class T>
class BatchNormRows final : public PointRows<T> {
 public:
  explicit BatchNormRows(const Shape& shape) : shape_(shape) {}
  Index parameters() const override { return 2 * shape_.channels; }
  void view(ConstMatrixView<T> kept, ConstMatrixView<T> sensitivities, Index examples) override {
    normalized_ = kept;
    sensitivities_ = sensitivities;
    examples_ = examples;
  }
  void sum(Index first, ConstSpan<T> c, std::span<T> out) const override {
    add_up(first, c, out, [](double value) BDL_INLINE_LAMBDA { return value; });
  }
  void sum_squares(ConstSpan<T> w, std::span<T> out) const override {
    add_up(0, w, out, [](double value) BDL_INLINE_LAMBDA { return value * value; });
  }

 private:
  /// out = sum_r factor_r map(b_r) over rows from `first` on, which are whole sections of the examples.
  template <class Map>
  void add_up(Index first, ConstSpan<T> factors, std::span<T> out, Map map) const {
    const auto count = static_cast<Index>(factors.size());
    const bool is_packed = sensitivities_.rows != shape_.size();
    const Index section = is_packed ? packets_of(examples_) : examples_;
    for_each_channel(shape_, count, [&](Index channel) BDL_INLINE_LAMBDA {
      double sums[2] = {};
      for (Index j = 0; j < count / examples_ * section; ++j) {
        const Index column = first / examples_ * section + j;
        if (is_packed)
          add_packet(column, factors.data() + j / section * examples_ + j % section * packet_size,
                     std::min(packet_size, examples_ - j % section * packet_size), channel, map, sums);
        else
          add_column(column, factors[at(j)], channel, map, sums);
      }
      out[at(channel)] = static_cast<T>(sums[0]);
      out[at(shape_.channels + channel)] = static_cast<T>(sums[1]);
    });
  }

  template <class Map>
  BDL_ALWAYS_INLINE void add_column(Index column, T factor, Index channel, Map map, double* sums) const {
    const ChannelRuns runs(shape_, 1, shape_.size());
    const auto d = sensitivities_.columns(column, 1),
               xhat = normalized_.columns(column % normalized_.cols, 1);
    sums[0] += static_cast<double>(factor) * map(dot_of_channel<T>(runs, channel, d, xhat));
    sums[1] += static_cast<double>(factor) * map(sum_of_channel<T>(runs, channel, d));
  }

  /// Adds up to 16 rows, those of a packet.
  template <class Map>
  BDL_ALWAYS_INLINE void add_packet(Index packet, const T* factors, Index examples, Index channel, Map map,
                                    double* sums) const {
    const Index at = channel * PacketMap{shape_}.channel_numbers(),
                count = shape_.rows * shape_.columns * packet_size;
    const T *d = sensitivities_.column_data(packet) + at,
            *xhat = normalized_.column_data(packet % normalized_.cols) + at;
    double scale[packet_size] = {}, shift[packet_size] = {};
    for (Index p = 0; p < count; p += packet_size)
      for (Index lane = 0; lane < packet_size; ++lane) {
        scale[lane] += static_cast<double>(d[p + lane]) * static_cast<double>(xhat[p + lane]);
        shift[lane] += static_cast<double>(d[p + lane]);
      }
    for (Index lane = 0; lane < examples; ++lane) {
      sums[0] += static_cast<double>(factors[lane]) * map(scale[lane]);
      sums[1] += static_cast<double>(factors[lane]) * map(shift[lane]);
    }
  }

  Shape shape_;
  Index examples_ = 0;
  ConstMatrixView<T> normalized_, sensitivities_;
};

/// The statistics of one layer, whose first channel has number `first`.
template <class Values>
struct ChannelStatistics {
  Values mean, variance;
  ChannelStatistics(Values all, Index first)
      : mean(all.subspan(at(first))), variance(all.subspan(all.size() / 2 + at(first))) {}
};

template <class T>
class BatchNormLayer final : public Layer<T> {
 public:
  struct Settings {
    double momentum, epsilon;
    bool affine;
  };
  BatchNormLayer(const Shape& shape, const Settings& settings, const Placement& at)
      : Layer<T>(shape, shape), settings_(settings), at_(at) {}
  std::string text() const override {
    std::string text = "batchnorm";
    if (settings_.momentum != usual_momentum) text += " momentum " + number_text(settings_.momentum);
    if (settings_.epsilon != usual_epsilon) text += " eps " + number_text(settings_.epsilon);
    return text + (settings_.affine ? "" : " noaffine");
  }
  Index parameters() const override { return settings_.affine ? 2 * channels() : 0; }
  std::vector<ParameterBlock> blocks() const override {
    if (!settings_.affine) return {};
    return {{"scale", at_.parameters, channels(), 1, 0, false, 1, true},
            {"shift", at_.parameters + channels(), channels(), 1, 0, true, 1, true}};
  }
  std::unique_ptr<PointRows<T>> point_rows() const override {
    if (!settings_.affine) return nullptr;
    return std::make_unique<BatchNormRows<T>>(this->input());
  }
  void initialize(bdl_initialization, const StreamKey&, std::span<T> theta) const override {
    const auto values = theta.subspan(at(at_.parameters), at(parameters()));
    std::ranges::fill(values.first(values.size() / 2), T(1));
    std::ranges::fill(values.subspan(values.size() / 2), T(0));
  }
  std::optional<Layout> layout() const override { return std::nullopt; }
  Index normalized_channels() const override { return channels(); }
  Index fewest_examples() const override { return this->input().size() == channels() ? 2 : 1; }
  bool can(Need) const override { return false; }
  /// Rows of the parameters read the sensitivities of the outputs, which must not be overwritten then.
  bool is_elementwise() const override { return !settings_.affine; }
  /// Keeps the normalised inputs and, for each channel, 1 over the standard deviation.
  Index kept(Index outputs) const override { return outputs; }
  Index kept_of_sample() const override { return channels(); }

  void forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
               const Kept<T>& kept) const override {
    const ChannelRuns runs(this->input(), pass.examples, in.rows);
    const T* affine = scale_and_shift(pass);
    for_each_channel(this->input(), pass.examples, [&](Index channel) BDL_INLINE_LAMBDA {
      const Moments of = moments(pass, channel, in);
      const double inverse = 1 / std::sqrt(of.variance + settings_.epsilon);
      const T center = static_cast<T>(of.mean), factor = static_cast<T>(inverse);
      const T scale = affine ? affine[channel] : T(1), shift = affine ? affine[channels() + channel] : T(0);
      if (kept.is_wanted()) kept.of_sample[channel] = inverse;
      for (Index run = 0; run < runs.count; ++run) {
        const T* x = runs.begin(in, channel, run);
        T* to = runs.begin(out, channel, run);
        T* xhat = kept.is_wanted() ? runs.begin(kept.slopes, channel, run) : to;
        for (Index k = 0; k < runs.length(run); ++k) xhat[k] = (x[k] - center) * factor;
        for (Index k = 0; k < runs.length(run); ++k) to[k] = scale * xhat[k] + shift;
      }
    });
    if (runs.is_packed) clear_rest(PacketMap{this->input()}, pass.examples, out);
  }

  /// to = (scale / deviation) (d - mean(d) - xhat mean(d xhat)); the means are 0 unless the minibatch's own
  /// statistics normalise, through which each example moves the outputs of all.
  void backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                MatrixView<T> to) const override {
    const ChannelRuns runs(this->input(), pass.examples, e.rows);
    const T* affine = scale_and_shift(pass);
    const bool trains = pass.statistics.trains();
    const auto count = static_cast<double>(runs.values());
    for_each_channel(this->input(), pass.examples, [&](Index channel) BDL_INLINE_LAMBDA {
      const T factor =
          static_cast<T>(kept.of_sample[channel] * static_cast<double>(affine ? affine[channel] : T(1)));
      const T mean = static_cast<T>(trains ? sum_of_channel<T>(runs, channel, e) / count : 0),
              slope = static_cast<T>(trains ? dot_of_channel<T>(runs, channel, e, kept.slopes) / count : 0);
      for (Index run = 0; run < runs.count; ++run) {
        const T *d = runs.begin(e, channel, run), *xhat = runs.begin(kept.slopes, channel, run);
        T* out = runs.begin(to, channel, run);
        for (Index k = 0; k < runs.length(run); ++k) {
          const T value = factor * (d[k] - mean - xhat[k] * slope);
          out[k] = add ? out[k] + value : value;
        }
      }
    });
    if (runs.is_packed && !add) clear_rest(PacketMap{this->input()}, pass.examples, to);
  }

 private:
  struct Moments {
    double mean, variance;
  };
  Index channels() const { return this->input().channels; }
  /// Returns the scales of all channels, with the shifts behind them; null without parameters.
  const T* scale_and_shift(const Pass<T>& pass) const {
    return settings_.affine ? pass.weights.point_parameters(at_.parameters, pass.sample) : nullptr;
  }

  /// Returns the mean and variance that normalise a channel. In training they are the minibatch's, and update
  /// the running ones; the running variance is the unbiased one.
  BDL_ALWAYS_INLINE Moments moments(const Pass<T>& pass, Index channel, ConstMatrixView<T> in) const {
    const std::size_t c = at(channel);
    if (!pass.statistics.trains()) {
      const ChannelStatistics running(pass.statistics.running, at_.channels);
      return {running.mean[c], running.variance[c]};
    }
    const ChannelRuns runs(this->input(), pass.examples, in.rows);
    const auto count = static_cast<double>(runs.values());
    const double mean = sum_of_channel<T>(runs, channel, in) / count;
    double squares = 0;
    for (Index run = 0; run < runs.count; ++run) {
      const T* x = runs.begin(in, channel, run);
      squares += sum_of(runs.length(run), [=](Index k) BDL_INLINE_LAMBDA {
        const double deviation = static_cast<double>(x[k]) - mean;
        return deviation * deviation;
      });
    }
    const ChannelStatistics learned(pass.statistics.learned, at_.channels);
    const double keep = 1 - settings_.momentum;
    learned.mean[c] = keep * learned.mean[c] + settings_.momentum * mean;
    learned.variance[c] = keep * learned.variance[c] + settings_.momentum * (squares / (count - 1));
    return {mean, squares / count};
  }

  Settings settings_;
  Placement at_;
};

}  // namespace

template <class T>
LayerPointer<T> make_batchnorm(LineReader& line, const Shape& input, const Placement& at) {
  const double momentum = line.named_number("momentum", 0, 1, usual_momentum),
               epsilon = line.named_number("eps", 0, 1, usual_epsilon);
  const bool affine = !line.flag("noaffine");
  return std::make_shared<BatchNormLayer<T>>(
      input, typename BatchNormLayer<T>::Settings{momentum, epsilon, affine}, at);
}

template LayerPointer<float> make_batchnorm(LineReader&, const Shape&, const Placement&);
template LayerPointer<double> make_batchnorm(LineReader&, const Shape&, const Placement&);

}  // namespace bdl
