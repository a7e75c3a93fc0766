#include "train/answers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "data/robust.hpp"
#include "methods/suggestion.hpp"
#include "train/scales/by_evidence.hpp"

namespace bdl {
namespace {

constexpr Index least_rows = 10, most_rows = 100;
constexpr std::uint32_t draws = 20;
constexpr double unknown_spread = std::numeric_limits<double>::infinity();

/// Returns the standard deviation of value(i), i < rows, without missing numbers; 0 if there are none.
template <class Value>
double deviation(Index rows, Value&& value) {
  double count = 0, mean = 0, squares = 0;
  for (Index i = 0; i < rows; ++i) {
    const double number = value(i);
    if (std::isnan(number)) continue;
    const double gap = number - mean;
    mean += gap / ++count;
    squares += gap * (number - mean);
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

/// Some rows of the data, and what the network answers for them.
template <class T>
class Asked {
 public:
  Asked(const Model<T>& model, DataSet& data)
      : model_(model), likelihood_(model.likelihood), rows_(std::min(data.rows(), most_rows)) {
    std::vector<Index> list(static_cast<std::size_t>(rows_));
    for (Index i = 0; i < rows_; ++i) list[static_cast<std::size_t>(i)] = i * data.rows() / rows_;
    x_.reserve(model.inputs() * rows_);
    y_.reserve(data.targets() * rows_);
    f_.reserve(model.outputs() * rows_);
    data.fetch(RowNumbers(ConstSpan<Index>(list)), model.standardization, x_.matrix(model.inputs(), rows_),
               y_.matrix(data.targets(), rows_));
    for (Index c = 0; c < likelihood_.targets(); ++c)
      targets_.push_back(deviation(
          rows_, [&](Index i) { return static_cast<double>(y_.matrix(data.targets(), rows_)(c, i)); }));
    if (likelihood_.kind() == BDL_STUDENT_T) measure_without_outliers(data);
  }

  /// True if some target differs between rows, so that there may be something to learn.
  bool varies() const {
    return std::ranges::any_of(targets_, [](double target) { return target > 0; });
  }
  void forget() { answers_.assign(static_cast<std::size_t>(model_.outputs() * rows_), 0.0); }
  /// Adds the answers with these parameters: the means of y, and log noise precisions.
  void add(ConstSpan<T> theta, double weight, const Posterior<T>& q) {
    const auto f = f_.matrix(model_.outputs(), rows_);
    model_.forward(theta, std::as_const(x_).matrix(model_.inputs(), rows_), f, scratch_, q.statistics());
    const Index means = likelihood_.means();
    std::vector<double> mean(static_cast<std::size_t>(likelihood_.moment_count())), variance(mean.size());
    for (Index i = 0; i < rows_; ++i) {
      likelihood_.moments(f.column_data(i), mean.data(), variance.data());
      for (Index c = 0; c < model_.outputs(); ++c)
        answers_[at(c, i)] +=
            weight * (c < means ? mean[static_cast<std::size_t>(c)] : static_cast<double>(f(c, i)));
    }
  }
  /// Returns the largest standard deviation of an answer, of numbers in units of their target's.
  double spread(bool has_classes) const {
    double spread = 0;
    for (Index c = 0; c < model_.outputs(); ++c) {
      const bool is_number = !has_classes && c < likelihood_.means();
      const double unit = is_number ? targets_[static_cast<std::size_t>(c)] : 1;
      if (unit > 0)
        spread = std::max(spread, deviation(rows_, [&](Index i) { return answers_[at(c, i)]; }) / unit);
    }
    return spread;
  }

 private:
  void measure_without_outliers(DataSet& data) {
    const ColumnMoments robust = robust_moments_of_targets(data, model_.standardization, model_.extras());
    for (std::size_t c = 0; c < targets_.size(); ++c)
      if (robust.scale[c] > 0) targets_[c] = robust.scale[c];
  }
  std::size_t at(Index c, Index row) const { return static_cast<std::size_t>(row * model_.outputs() + c); }

  const Model<T>& model_;
  const Likelihood& likelihood_;
  Index rows_;
  Buffer<T> x_, y_, f_;
  Scratch scratch_;
  std::vector<double> targets_, answers_;
};

}  // namespace

template <class T>
double spread_of_answers(const Optimizer<T>& optimizer, DataSet& data) {
  const MethodContext& context = optimizer.context();
  if (!context.has_hidden || data.rows() < least_rows) return unknown_spread;
  const Posterior<T>& q = *optimizer.posterior();
  Asked<T> asked(*optimizer.model(), data);
  if (!asked.varies()) return unknown_spread;
  asked.forget();
  asked.add(q.mean(), 1, q);
  double spread = asked.spread(context.has_classes());
  if (spread < least_spread && suggested_prediction(context, optimizer.method()) == BDL_MONTE_CARLO) {
    Buffer<T> theta(q.dimension());
    Scratch scratch;
    asked.forget();
    for (std::uint32_t k = 0; k < draws; ++k) {
      const StreamKey key{static_cast<std::uint64_t>(optimizer.options().seed), Stream::prediction, 0, k};
      sample(q, key, theta.matrix(q.dimension(), 1), scratch);
      asked.add(std::as_const(theta).first(q.dimension()), 1.0 / draws, q);
    }
    spread = std::max(spread, asked.spread(context.has_classes()));
  }
  return std::isfinite(spread) ? spread : unknown_spread;
}

template <class T>
const char* answers_advice(const Optimizer<T>& optimizer, double spread) {
  if (spread >= least_spread) return "";
  if (learns_by_evidence(optimizer) || optimizer.options().evidence != EvidenceUse::none)
    return "the network answers the same for every row, because a constant model explains the targets better "
           "(higher evidence): if the inputs should help, train with fewer layers, or on more rows";
  return "the network answers the same for every row: unless there is nothing to learn, train with fewer "
         "layers, for more epochs, or from larger initial weights (initialization = he)";
}

#define BDL_INSTANTIATE(T)                                          \
  template double spread_of_answers(const Optimizer<T>&, DataSet&); \
  template const char* answers_advice(const Optimizer<T>&, double);
BDL_INSTANTIATE(float)
BDL_INSTANTIATE(double)
#undef BDL_INSTANTIATE

}  // namespace bdl
