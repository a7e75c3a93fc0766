#include "search/proposal.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimize/minimize.hpp"
#include "rng/philox.hpp"
#include "search/gaussian_process.hpp"

namespace bdl {
namespace {

constexpr Index candidates = 1000;
constexpr Index ascents = 4;
constexpr int acquisition_evaluations = 200;
constexpr double untouchable = 1e300;  // loss of a point that was tried
constexpr double lowest = -1e100;      // lowest score whose square is finite

/// Random streams of one trial.
enum : std::uint32_t { point_stream = 0, candidate_stream = 1 };

bool is_tried(ConstSpan<Trial> trials, ConstSpan<double> point) {
  return std::ranges::any_of(trials, [&](const Trial& t) { return std::ranges::equal(t.point, point); });
}

/// Minus the log expected improvement over the best mean of the process at its own points: noise raises the
/// best value, but not the best mean.
class Loss {
 public:
  Loss(const Space& space, ConstSpan<Trial> trials, ConstSpan<Trial> pending, const GaussianProcess& process)
      : space_(space), trials_(trials), pending_(pending), process_(process) {
    const Observations& data = process.observations();
    std::vector<double> mean(data.values.size()), variance(data.values.size());
    process.predict(data.matrix(), mean, variance);
    const auto top = std::ranges::max_element(mean);
    const auto point = data.matrix().column(top - mean.begin());
    best_ = *top;
    best_point_.assign(point.begin(), point.end());
  }
  const std::vector<double>& best_point() const { return best_point_; }

  /// Computes the loss of each column, a snapped point.
  void evaluate(ConstMatrixView<double> points, std::span<double> losses) const {
    std::vector<double> variance(losses.size());
    process_.predict(points, losses, variance);
    for (std::size_t i = 0; i < losses.size(); ++i) {
      const auto point = points.column(static_cast<Index>(i));
      losses[i] = is_tried(trials_, point) || is_tried(pending_, point)
                      ? untouchable
                      : -log_expected_improvement(losses[i], variance[i], best_);
    }
  }
  double operator()(ConstSpan<double> x) const {
    std::vector<double> point(x.begin(), x.end());
    space_.snap(point);
    double loss;
    evaluate({point.data(), space_.size(), 1}, {&loss, 1});
    return loss;
  }

 private:
  const Space& space_;
  ConstSpan<Trial> trials_, pending_;
  const GaussianProcess& process_;
  double best_;
  std::vector<double> best_point_;
};

struct Candidates {
  std::vector<double> points, losses;
  std::vector<std::size_t> order;  // sorted, best first
};

Candidates draw_candidates(const Space& space, const Loss& loss, const StreamKey& key) {
  const Index size = space.size();
  Candidates out{std::vector<double>(static_cast<std::size_t>(size * candidates)),
                 std::vector<double>(candidates), std::vector<std::size_t>(candidates)};
  const MatrixView<double> points(out.points.data(), size, candidates);
  fill_uniform<double>(key, 0, out.points, 0, 1);
  for (Index j = 0; j < candidates; ++j) space.snap(points.column(j));
  loss.evaluate(points, out.losses);
  std::iota(out.order.begin(), out.order.end(), std::size_t{0});
  std::ranges::stable_sort(out.order, {}, [&](std::size_t i) { return out.losses[i]; });
  return out;
}

/// Returns the process of all trials; pending ones have the scores that it expects of them.
GaussianProcess process_of(const Space& space, ConstSpan<Trial> trials, ConstSpan<Trial> pending) {
  GaussianProcess process(observations_of(space, trials));
  const LogScales scales = fit_scales(process);
  Observations all = process.observations();
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const std::vector<double>& point = pending[i].point;
    if (is_tried(trials, point) || is_tried(pending.first(i), point)) continue;
    double mean, variance;
    process.predict({point.data(), space.size(), 1}, {&mean, 1}, {&variance, 1});
    all.points.insert(all.points.end(), point.begin(), point.end());
    all.values.push_back(mean);
  }
  if (all.size() == process.observations().size()) return process;
  GaussianProcess completed(std::move(all));
  completed.condition(scales);
  return completed;
}

}  // namespace

std::vector<double> random_point(const Space& space, std::uint64_t seed, Index number) {
  std::vector<double> point(static_cast<std::size_t>(space.size()));
  fill_uniform<double>({seed, Stream::search, static_cast<std::uint64_t>(number), point_stream}, 0, point, 0,
                       1);
  space.snap(point);
  return point;
}

Observations observations_of(const Space& space, ConstSpan<Trial> trials) {
  std::vector<double> scores;
  for (const Trial& trial : trials)
    if (trial.has_score()) scores.push_back(std::max(trial.score, lowest));
  std::ranges::sort(scores);
  const double best = scores.back(), median = scores[scores.size() / 2];
  const double worst =
      best > median ? std::max(scores.front(), median - 2 * (best - median)) : scores.front();

  Observations out;
  out.coordinates = space.size();
  for (Index k = 0; k < space.size(); ++k) out.is_choice.push_back(space.is_choice(k));
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const Trial& trial = trials[i];
    if (is_tried(trials.first(i), trial.point)) continue;  // the same number, not another measurement
    out.points.insert(out.points.end(), trial.point.begin(), trial.point.end());
    out.values.push_back(trial.has_score() ? std::max(trial.score, worst) : worst);
  }
  const auto n = static_cast<double>(out.values.size());
  double mean = 0, square = 0;
  for (const double value : out.values) mean += value / n;
  for (const double value : out.values) square += (value - mean) * (value - mean) / n;
  const double deviation = square > 0 ? std::sqrt(square) : 1;
  for (double& value : out.values) value = (value - mean) / deviation;
  return out;
}

/// Draws many random points, and climbs from the best few of them and from the best trial.
std::vector<double> promising_point(const Space& space, ConstSpan<Trial> trials, ConstSpan<Trial> pending,
                                    std::uint64_t seed) {
  const auto number = static_cast<Index>(trials.size() + pending.size());
  if (std::ranges::count_if(trials, &Trial::has_score) < 2) return random_point(space, seed, number);
  const GaussianProcess process = process_of(space, trials, pending);
  const Loss loss(space, trials, pending, process);
  const Candidates drawn = draw_candidates(
      space, loss, {seed, Stream::search, static_cast<std::uint64_t>(number), candidate_stream});

  const auto size = static_cast<std::size_t>(space.size());
  const std::vector<double> low(size, 0.0), high(size, 1.0);
  std::vector<double> best;
  double least = untouchable;
  for (Index k = 0; k <= ascents; ++k) {
    std::vector<double> x = loss.best_point();
    if (k < ascents) {
      const auto first =
          drawn.points.begin() + static_cast<Index>(drawn.order[static_cast<std::size_t>(k)] * size);
      x.assign(first, first + space.size());
    }
    const double value = minimize_within_bounds(
        Minimiser::subplex, {low, high, 0.05}, acquisition_evaluations,
        [&](ConstSpan<double> at, std::span<double>) { return loss(at); }, x);
    if (value < least) least = value, best = x;
  }
  if (best.empty()) return random_point(space, seed, number);
  space.snap(best);
  return best;
}

}  // namespace bdl
