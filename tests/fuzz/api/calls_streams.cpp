#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"
#include "fuzz/api/user_model.hpp"

namespace fuzz {
namespace {

/// Numbers of the sequence's own, or the posterior's draws; or a failure.
int32_t draws(void* user_data, bdl_draw_kind kind, int64_t step, int64_t iteration, const bdl_posterior* q,
              bdl_matrix_out values) {
  if (fails(user_data)) return 1;
  if (kind == BDL_DRAW_PARAMETERS && step % 2 == 0)
    return bdl_posterior_sample(q, 7, iteration, values) == BDL_OK ? 0 : 1;
  Numbers numbers(static_cast<std::uint64_t>(step));
  for (std::int64_t i = 0; i < values.rows; ++i)
    for (std::int64_t j = 0; j < values.cols; ++j)
      write(values, i, j, kind == BDL_DRAW_PROBES ? (numbers.below(2) ? 1 : -1) : numbers.real());
  return 0;
}

}  // namespace

BDL_CALLS(bdl_optimizer_observe) {
  auto& o = s.optimizer();
  const std::int64_t n = s.bytes.below(5);
  s.callbacks.until_failure = s.faulty() ? s.bytes.next() % 32 : -1;
  const bdl_matrix x = s.x(o.shape, n), y = s.y(o.shape, n);
  const bdl_matrix_out density = s.bytes.below(2) ? s.out(n, 1, Finite::or_not) : bdl_none_out();
  const Interfering interfering(s, o.handle);
  s.trains(bdl_optimizer_observe, With{o.handle, x, y, density});
  s.callbacks.until_failure = -1;
}

BDL_CALLS(bdl_optimizer_forecast) {
  s.changes(bdl_optimizer_forecast,
            With{s.optimizer().handle, s.faulty() ? -s.bytes.below(2) : s.bytes.below(5)});
}

BDL_CALLS(bdl_optimizer_set_process_noise) {
  auto& o = s.optimizer();
  const std::int64_t which = s.bytes.below(3);
  s.changes(
      bdl_optimizer_set_process_noise,
      With{o.handle, which == 0 ? bdl_none() : s.in(1, which == 1 ? 1 : o.shape.parameters, Kind::unit)});
}

BDL_CALLS(bdl_optimizer_prequential) {
  s.reads(bdl_optimizer_prequential,
          With{s.optimizer().handle, s.integer(), s.real(Finite::or_not), s.real(Finite::or_not)});
}

BDL_CALLS(bdl_optimizer_shortened_steps) {
  s.asks(bdl_optimizer_shortened_steps, With{s.optimizer().handle});
}

BDL_CALLS(bdl_optimizer_set_draws) {
  auto& o = s.optimizer();
  const auto release = [](void* user_data) { --static_cast<Session::Callbacks*>(user_data)->owned; };
  const bool own = s.bytes.below(3) == 0, released = s.bytes.below(2) == 0;
  const bdl_status status =
      s.changes(bdl_optimizer_set_draws, With{o.handle, static_cast<bdl_draws_fn>(own ? nullptr : draws),
                                              static_cast<void*>(&s.callbacks),
                                              static_cast<void (*)(void*)>(released ? nullptr : +release)});
  s.callbacks.owned += status == BDL_OK && !own && !released;
}

}  // namespace fuzz
