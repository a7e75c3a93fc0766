#include "network/batchnorm.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "network/channels.hpp"
#include "parallel/parallel.hpp"

namespace bdl {
namespace {

constexpr double usual_momentum = 0.1, usual_epsilon = 1e-5;

/// visit(channel), each by one thread.
template <class Visit>
void for_each_channel(const Shape& shape, Index examples, Visit&& visit) {
  parallel_blocks(shape.channels, task_grain(shape.size() / shape.channels * examples),
                  [&](Index first, Index count) noexcept {
                    with_simd([&](auto) BDL_INLINE_LAMBDA {
                      for (Index c = first; c < first + count; ++c) visit(c);
                    });
                  });
}

/// sum_k a_k b_k over the numbers of a channel.
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

/// b_r = (sum over positions of d xhat, of d): of scale and shift.
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
  /// Rows from `first` on, whole sections of the examples.
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

  /// 16 rows at a time.
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

}  // namespace

template <class T>
std::string BatchNormLayer<T>::text() const {
  std::string text = "batchnorm";
  if (settings_.momentum != usual_momentum) text += " momentum " + number_text(settings_.momentum);
  if (settings_.epsilon != usual_epsilon) text += " eps " + number_text(settings_.epsilon);
  return text + (settings_.affine ? "" : " noaffine");
}

template <class T>
std::unique_ptr<PointRows<T>> BatchNormLayer<T>::point_rows() const {
  if (!settings_.affine) return nullptr;
  return std::make_unique<BatchNormRows<T>>(this->input());
}

template <class T>
std::vector<ParameterBlock> BatchNormLayer<T>::blocks() const {
  if (!settings_.affine) return {};
  return {{"scale", at_.parameters, channels(), 1, 0, false, 1, true},
          {"shift", at_.parameters + channels(), channels(), 1, 0, true, 1, true}};
}

template <class T>
void BatchNormLayer<T>::initialize(bdl_initialization, const StreamKey&, std::span<T> theta) const {
  const auto points = theta.subspan(at(at_.parameters), at(parameters()));
  std::ranges::fill(points.first(points.size() / 2), T(1));
  std::ranges::fill(points.subspan(points.size() / 2), T(0));
}

/// By which a channel is normalised. The minibatch's own enter the running ones, the variance without bias.
template <class T>
BDL_ALWAYS_INLINE auto BatchNormLayer<T>::moments(const Pass<T>& pass, Index channel,
                                                  ConstMatrixView<T> in) const -> Moments {
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

template <class T>
void BatchNormLayer<T>::forward(const Pass<T>& pass, ConstMatrixView<T> in, MatrixView<T> out,
                                const Kept<T>& kept) const {
  const ChannelRuns runs(this->input(), pass.examples, in.rows);
  const T* points = settings_.affine ? pass.weights.points(at_.parameters, pass.sample) : nullptr;
  for_each_channel(this->input(), pass.examples, [&](Index channel) BDL_INLINE_LAMBDA {
    const Moments of = moments(pass, channel, in);
    const double inverse = 1 / std::sqrt(of.variance + settings_.epsilon);
    const T center = static_cast<T>(of.mean), factor = static_cast<T>(inverse);
    const T scale = points ? points[channel] : T(1), shift = points ? points[channels() + channel] : T(0);
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

/// With the minibatch's statistics, all its examples move each one's outputs.
template <class T>
void BatchNormLayer<T>::backward(const Pass<T>& pass, const Kept<T>& kept, ConstMatrixView<T> e, bool add,
                                 MatrixView<T> to) const {
  const ChannelRuns runs(this->input(), pass.examples, e.rows);
  const T* points = settings_.affine ? pass.weights.points(at_.parameters, pass.sample) : nullptr;
  const bool trains = pass.statistics.trains();
  const auto count = static_cast<double>(runs.values());
  for_each_channel(this->input(), pass.examples, [&](Index channel) BDL_INLINE_LAMBDA {
    const T factor =
        static_cast<T>(kept.of_sample[channel] * static_cast<double>(points ? points[channel] : T(1)));
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

template <class T>
std::shared_ptr<const Layer<T>> make_batchnorm(LineReader& line, const Shape& input, const Placement& at) {
  const double momentum = line.named_number("momentum", 0, 1, usual_momentum),
               epsilon = line.named_number("eps", 0, 1, usual_epsilon);
  const bool affine = !line.flag("noaffine");
  return std::make_shared<BatchNormLayer<T>>(
      input, typename BatchNormLayer<T>::Settings{momentum, epsilon, affine}, at);
}

template class BatchNormLayer<float>;
template class BatchNormLayer<double>;
template std::shared_ptr<const Layer<float>> make_batchnorm(LineReader&, const Shape&, const Placement&);
template std::shared_ptr<const Layer<double>> make_batchnorm(LineReader&, const Shape&, const Placement&);

}  // namespace bdl
