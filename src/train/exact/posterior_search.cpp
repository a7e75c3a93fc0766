#include "train/exact/posterior_search.hpp"

#include "methods/schedule.hpp"
#include "train/exact/accelerated.hpp"
#include "train/exact/descent_search.hpp"
#include "train/exact/full_coordinates.hpp"
#include "train/exact/low_rank/coordinates.hpp"

namespace bdl {
namespace {

/// Largest number of projected natural-gradient steps before the search over low-rank posteriors, the gain
/// (in nats) that makes one more worth taking, and the smallest fraction of one.
constexpr int most_first_steps = 30;
constexpr double worthwhile = 1e-3, least_part = 1.0 / 64;

/// Takes natural-gradient steps, from a start that suits the likelihood, until they gain no more.
SearchEnd step_naturally(ExactElbo& elbo, Posterior<double>& q, const Options& options,
                         const Iterated& iterated, bool is_near) {
  FixedPoint point(elbo, q, projection_options(options));
  if (is_near || !elbo.has_quadratic())
    point.begin();
  else if (point.begin_by_quadratic() && iterated(q, point.value()))
    return SearchEnd::stopped;
  if (q.takes_matrix() || elbo.fits_rank(q.rank())) return converge(point, options.tolerance, q, iterated);
  for (double part = 1, steps = 0; steps < most_first_steps && part >= least_part;) {
    if (!point.step(part, worthwhile)) {
      part /= 2;
      continue;
    }
    ++steps;
    if (iterated(q, point.value())) return SearchEnd::stopped;
  }
  return SearchEnd::stuck;
}

/// Calls search(descent) with the descent for this family.
template <class Search>
auto by_descent(ExactElbo& elbo, Posterior<double>& q, double tolerance, const Iterated& iterated,
                Search&& search) {
  if (q.takes_matrix()) {
    FullCoordinates coordinates(elbo, q);
    DescentSearch descent(coordinates, q, tolerance, iterated, DescentSearch::pairs_for(coordinates.size()));
    return search(descent);
  }
  LowRankCoordinates coordinates(elbo, dynamic_cast<LowRankPosterior<double>&>(q));
  DescentSearch descent(coordinates, q, tolerance, iterated);
  return search(descent);
}

}  // namespace

SearchEnd search_posterior(ExactElbo& elbo, Posterior<double>& q, const Options& options,
                           const Iterated& iterated, bool is_near) {
  const SearchEnd end = step_naturally(elbo, q, options, iterated, is_near);
  if (end != SearchEnd::stuck) return end;
  if (elbo.has_approximate_integrals() && has_whole_covariance(q))
    return Accelerated(elbo, q).run(options.tolerance, iterated);
  return by_descent(elbo, q, options.tolerance, iterated,
                    [](DescentSearch& descent) { return descent.run(); });
}

double distance_of_posterior(ExactElbo& elbo, Posterior<double>& q) {
  const auto ignored = [](const auto&, const auto&) { return true; };
  return by_descent(elbo, q, 0, ignored, [](DescentSearch& descent) { return descent.length(); });
}

}  // namespace bdl
