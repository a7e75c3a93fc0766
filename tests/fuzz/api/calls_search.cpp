#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

int32_t after_trial(void* user_data, const bdl_search* search) {
  std::int64_t best;
  bdl_search_best(search, &best);
  auto& callbacks = *static_cast<Session::Callbacks*>(user_data);
  if (callbacks.until_failure < 0 || callbacks.until_failure-- != 0) return 0;
  return ++callbacks.failures % 2 ? 1 : -1;
}

std::int64_t trial_of(Session& s, const bdl_search* search) {
  return s.faulty() ? s.size(1) : s.bytes.below(std::max<std::int64_t>(bdl_search_trial_count(search), 1));
}

}  // namespace

BDL_CALLS(bdl_search_create) {
  auto& o = s.optimizer();
  Shape shape = o.shape;
  shape.parameters = 0;  // of searches, the number of ranges
  s.keep(s.creates<bdl_search>(bdl_search_create,
                               With{o.handle, s.faulty() ? s.bytes.below(2) : 2 + s.bytes.below(2),
                                    s.faulty() ? -s.bytes.below(2) : 1, s.choice<bdl_predict_method>(6),
                                    s.faulty() ? -s.bytes.below(2) : 1 + s.bytes.below(2), s.seed()}),
         shape);
}

BDL_CALLS(bdl_search_free) {
  s.frees(bdl_search_free, s.search());
}

BDL_CALLS(bdl_search_add_double) {
  static constexpr const char* names[] = {"prior_precision", "learning_rate", "initial_noise_precision",
                                          "momentum",        "samples",       "nonsense"};
  auto& search = s.search();
  const double low = s.faulty() ? s.number() : 0.01;
  if (s.changes(bdl_search_add_double, With{search.handle, s.bytes.one_of(names), low,
                                            s.faulty() ? s.number() : 0.5, s.choice<bdl_scale>(2)}) == BDL_OK)
    ++search.shape.parameters;
}

BDL_CALLS(bdl_search_add_int) {
  static constexpr const char* names[] = {"samples", "seed", "learn_prior", "momentum", "nonsense"};
  auto& search = s.search();
  const std::int64_t low = s.bytes.below(3) - (s.faulty() ? 2 : 0);
  if (s.changes(bdl_search_add_int, With{search.handle, s.bytes.one_of(names), low, s.bytes.below(4),
                                         s.choice<bdl_scale>(2)}) == BDL_OK)
    ++search.shape.parameters;
}

BDL_CALLS(bdl_search_add_choice) {
  static constexpr const char* words[] = {"shared | weights_biases", "shared|layers|blocks", "shared", "",
                                          "nonsense | shared",       "shared | shared"};
  auto& search = s.search();
  if (s.changes(bdl_search_add_choice, With{search.handle, s.faulty() ? "samples" : "prior_groups",
                                            s.faulty() ? nullptr : s.bytes.one_of(words)}) == BDL_OK)
    ++search.shape.parameters;
}

BDL_CALLS(bdl_search_set_parallel_trials) {
  s.changes(bdl_search_set_parallel_trials, With{s.search().handle, s.size(3)});
}

BDL_CALLS(bdl_search_set_workers) {
  s.changes(bdl_search_set_workers, With{s.search().handle, s.index(4)});
}

BDL_CALLS(bdl_search_run) {
  auto& search = s.search();
  const std::int64_t n = 3 + s.bytes.below(5);
  s.callbacks.until_failure = s.bytes.below(4) == 3 ? s.bytes.next() % 4 : -1;
  const bdl_matrix x = s.x(search.shape, n), y = s.y(search.shape, n);
  const std::int64_t most = bdl_search_trial_count(search.handle) > 4 ? 1 : 3;
  s.trains(bdl_search_run,
           With{search.handle, x, y, s.faulty() ? -s.bytes.below(2) : s.bytes.below(most), s.bytes.below(2),
                static_cast<bdl_search_progress_fn>(s.bytes.below(2) ? after_trial : nullptr),
                static_cast<void*>(&s.callbacks)});
  s.callbacks.until_failure = -1;
}

BDL_CALLS(bdl_search_request_stop) {
  s.does(bdl_search_request_stop, With{s.search().handle});
}

BDL_CALLS(bdl_search_trial_count) {
  s.asks(bdl_search_trial_count, With{s.search().handle});
}

BDL_CALLS(bdl_search_trial) {
  auto& search = s.search();
  s.reads(bdl_search_trial,
          With{search.handle, trial_of(s, search.handle), s.perhaps(1, search.shape.parameters),
               s.real(Finite::or_not), s.real(Finite::or_not), s.text()});
}

BDL_CALLS(bdl_search_best) {
  s.reads(bdl_search_best, With{s.search().handle, s.integer()});
}

BDL_CALLS(bdl_search_apply) {
  auto& search = s.search();
  s.changes(bdl_search_apply, With{search.handle, trial_of(s, search.handle), s.optimizer().handle});
}

BDL_CALLS(bdl_search_folds) {
  s.reads(bdl_search_folds, With{s.search().handle, s.out(2 + s.bytes.below(5), 1)});
}

}  // namespace fuzz
