#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

/// The arguments that all of these functions begin with.
struct Query {
  Slot<bdl_model>& m;
  Slot<bdl_posterior>& q;
  std::int64_t n;
  bdl_matrix x;
  bdl_predict_method method;
  std::int64_t samples;
  std::uint64_t seed;
  std::int64_t columns;  ///< of means: targets, or outputs

  explicit Query(Session& s)
      : m(s.model()),
        q(s.posterior_for(m.shape)),
        n(s.bytes.below(5)),
        x(s.x(m.shape, n)),
        method(s.choice<bdl_predict_method>(6)),
        samples(s.faulty() ? -s.bytes.below(2) : 1 + s.bytes.below(4)),
        seed(s.seed()),
        columns(m.shape.likelihood == BDL_CATEGORICAL ? m.shape.outputs : m.shape.targets) {}
};

std::int64_t entropies(const Shape& shape) {
  return shape.likelihood == BDL_CATEGORICAL ? 1 : shape.outputs;
}

/// The answers of a predictor depend on what it was made for.
struct Question {
  Slot<bdl_predictor>& p;
  std::int64_t n, columns, samples;
  bdl_matrix x;

  explicit Question(Session& s)
      : p(s.predictor()),
        n(s.bytes.below(5)),
        columns(p.shape.likelihood == BDL_CATEGORICAL ? p.shape.outputs : p.shape.targets),
        samples(p.shape.parameters),  // of predictors, the number of draws
        x(s.x(p.shape, n)) {}
};

Shape with_samples(Shape shape, std::int64_t samples) {
  shape.parameters = samples;
  return shape;
}

}  // namespace

BDL_CALLS(bdl_predict) {
  const Query a(s);
  s.reads(bdl_predict,
          With{a.m.handle, a.q.handle, a.x, a.method, a.samples, a.seed,
               s.perhaps(a.n, a.columns, Finite::or_infinite), s.perhaps(a.n, a.columns, Finite::or_infinite),
               s.perhaps(a.n, a.columns, Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_quantiles) {
  const Query a(s);
  const std::int64_t k = 1 + s.bytes.below(3);
  s.reads(bdl_predict_quantiles,
          With{a.m.handle, a.q.handle, a.x, a.method, a.samples, a.seed, s.in(1, k, Kind::unit),
               s.out(a.n, a.columns * k, Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_interval) {
  const Query a(s);
  s.reads(bdl_predict_interval,
          With{a.m.handle, a.q.handle, a.x, a.method, a.samples, a.seed, s.number(),
               s.out(a.n, a.columns, Finite::or_infinite), s.out(a.n, a.columns, Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_classes) {
  const Query a(s);
  const std::int64_t e = entropies(a.m.shape);
  s.reads(bdl_predict_classes, With{a.m.handle, a.q.handle, a.x, a.method, a.samples, a.seed,
                                    s.perhaps(a.n, a.m.shape.outputs), s.perhaps(a.n, e), s.perhaps(a.n, e)});
}

BDL_CALLS(bdl_predict_log_density) {
  const Query a(s);
  s.reads(bdl_predict_log_density, With{a.m.handle, a.q.handle, a.x, s.y(a.m.shape, a.n), a.method, a.samples,
                                        a.seed, s.out(a.n, 1, Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_draws) {
  const Query a(s);
  s.reads(bdl_predict_draws,
          With{a.m.handle, a.q.handle, a.x, a.samples, a.seed,
               s.out(a.n, a.m.shape.targets * std::max<std::int64_t>(a.samples, 0), Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_draws_by) {
  const Query a(s);
  s.reads(bdl_predict_draws_by,
          With{a.m.handle, a.q.handle, a.x, a.method, a.samples, a.seed,
               s.out(a.n, a.m.shape.targets * std::max<std::int64_t>(a.samples, 0), Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_quantiles_of) {
  const Query a(s);
  const std::int64_t k = 1 + s.bytes.below(3);
  const auto quantity = s.choice<bdl_quantity>(3);
  s.reads(bdl_predict_quantiles_of, With{a.m.handle, a.q.handle, a.x, a.method, a.samples, a.seed, quantity,
                                         s.in(1, k), s.out(a.n, a.columns * k, Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_draws_of) {
  const Query a(s);
  const auto quantity = s.choice<bdl_quantity>(3);
  const std::int64_t columns = quantity == BDL_QUANTITY_Y ? a.m.shape.targets : a.columns;
  s.reads(bdl_predict_draws_of,
          With{a.m.handle, a.q.handle, a.x, a.method, a.samples, a.seed, quantity,
               s.out(a.n, columns * std::max<std::int64_t>(a.samples, 0), Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_log_likelihood) {
  const Query a(s);
  s.reads(bdl_predict_log_likelihood,
          With{a.m.handle, a.q.handle, a.x, s.y(a.m.shape, a.n), a.method, a.samples, a.seed,
               s.out(std::max<std::int64_t>(a.samples, 0), a.n, Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_output_distribution) {
  const Query a(s);
  const std::int64_t c = a.m.shape.outputs;
  s.reads(bdl_predict_output_distribution,
          With{a.m.handle, a.q.handle, a.x, s.out(a.n, c, Finite::or_infinite),
               s.out(a.n, c * c, Finite::or_infinite)});
}

BDL_CALLS(bdl_predict_leverage) {
  const Query a(s);
  s.reads(bdl_predict_leverage, With{a.m.handle, a.q.handle, a.x, s.out(a.n, 1, Finite::or_infinite),
                                     s.out(a.n, 1, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_create) {
  const Query a(s);
  s.keep(s.creates<bdl_predictor>(bdl_predictor_create,
                                  With{a.m.handle, a.q.handle, a.method, a.samples, a.seed}),
         with_samples(a.m.shape, a.samples));
}

BDL_CALLS(bdl_predictor_create_ensemble) {
  const Query a(s);
  auto& other = s.model();
  const bdl_model* models[] = {a.m.handle, s.bytes.below(2) ? a.m.handle : other.handle};
  const bdl_posterior* members[] = {
      a.q.handle, s.posterior_for(models[1] == a.m.handle ? a.m.shape : other.shape).handle};
  const std::int64_t count = s.faulty() ? -s.bytes.below(2) : 1 + s.bytes.below(2);
  s.keep(
      s.creates<bdl_predictor>(bdl_predictor_create_ensemble,
                               With{static_cast<const bdl_model* const*>(s.faulty() ? nullptr : models),
                                    static_cast<const bdl_posterior* const*>(s.faulty() ? nullptr : members),
                                    count, a.method, a.samples, a.seed}),
      with_samples(a.m.shape, a.samples * count));
}

BDL_CALLS(bdl_predictor_free) {
  s.frees(bdl_predictor_free, s.predictor());
}

BDL_CALLS(bdl_predictor_moments) {
  const Question a(s);
  s.reads(bdl_predictor_moments, With{a.p.handle, a.x, s.perhaps(a.n, a.columns, Finite::or_infinite),
                                      s.perhaps(a.n, a.columns, Finite::or_infinite),
                                      s.perhaps(a.n, a.columns, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_quantiles) {
  const Question a(s);
  const std::int64_t k = 1 + s.bytes.below(3);
  s.reads(bdl_predictor_quantiles,
          With{a.p.handle, a.x, s.in(1, k, Kind::unit), s.out(a.n, a.columns * k, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_interval) {
  const Question a(s);
  s.reads(bdl_predictor_interval,
          With{a.p.handle, a.x, s.number(), s.out(a.n, a.columns, Finite::or_infinite),
               s.out(a.n, a.columns, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_classes) {
  const Question a(s);
  const std::int64_t e = entropies(a.p.shape);
  s.reads(bdl_predictor_classes,
          With{a.p.handle, a.x, s.perhaps(a.n, a.p.shape.outputs), s.perhaps(a.n, e), s.perhaps(a.n, e)});
}

BDL_CALLS(bdl_predictor_log_density) {
  const Question a(s);
  s.reads(bdl_predictor_log_density,
          With{a.p.handle, a.x, s.y(a.p.shape, a.n), s.out(a.n, 1, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_draws) {
  const Question a(s);
  s.reads(bdl_predictor_draws,
          With{a.p.handle, a.x, s.out(a.n, a.p.shape.targets * a.samples, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_quantiles_of) {
  const Question a(s);
  const std::int64_t k = 1 + s.bytes.below(3);
  const auto quantity = s.choice<bdl_quantity>(3);
  s.reads(bdl_predictor_quantiles_of,
          With{a.p.handle, a.x, quantity, s.in(1, k), s.out(a.n, a.columns * k, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_draws_of) {
  const Question a(s);
  const auto quantity = s.choice<bdl_quantity>(3);
  const std::int64_t columns = quantity == BDL_QUANTITY_Y ? a.p.shape.targets : a.columns;
  s.reads(bdl_predictor_draws_of,
          With{a.p.handle, a.x, quantity, s.out(a.n, columns * a.samples, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_log_likelihood) {
  const Question a(s);
  s.reads(bdl_predictor_log_likelihood,
          With{a.p.handle, a.x, s.y(a.p.shape, a.n), s.out(a.samples, a.n, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_output_distribution) {
  const Question a(s);
  const std::int64_t c = a.p.shape.outputs;
  s.reads(bdl_predictor_output_distribution,
          With{a.p.handle, a.x, s.out(a.n, c, Finite::or_infinite), s.out(a.n, c * c, Finite::or_infinite)});
}

BDL_CALLS(bdl_predictor_leverage) {
  const Question a(s);
  s.reads(bdl_predictor_leverage,
          With{a.p.handle, a.x, s.out(a.n, 1, Finite::or_infinite), s.out(a.n, 1, Finite::or_infinite)});
}

}  // namespace fuzz
