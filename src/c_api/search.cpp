#include "bdl/search.h"

#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "search/search.hpp"

struct bdl_search {
  Either<bdl::Search<float>, bdl::Search<double>> object;
  bdl::SharedClaim communicator{};
  bdl::SharedClaim claim = std::make_shared<bdl::Claim>();
};

namespace bdl {
namespace {

constexpr Index most_trials = 1000000, most_together = 1000, most_workers = 256;

/// Calls add(space), which adds a range or fails.
template <class Add>
bdl_status add_range(const char* function, bdl_search* search, const char* option, Add&& add) {
  return guard(function, [&] {
    not_null(option, "option");
    with(search, "search", [&](auto& s) { add(s.space_to_change()); });
  });
}

RangeScale checked_scale(const bdl_scale& scale) {
  check_enum(scale, BDL_SCALE_LINEAR, BDL_SCALE_LOG, "scale");
  return static_cast<RangeScale>(scale);
}

template <class T>
const Trial& trial_of(const Search<T>& search, Index index) {
  check_range(index, 0, static_cast<Index>(search.trials().size()) - 1, "trial");
  return search.trials()[static_cast<std::size_t>(index)];
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_search_create(const bdl_optimizer* prototype, int64_t folds, int64_t epochs,
                             bdl_predict_method method, int64_t samples, uint64_t seed, bdl_search** search) {
  return guard(__func__, [&] {
    not_null(search, "search");
    check_range(folds, 2, largest_size, "folds");
    check_range(epochs, 1, INT32_MAX, "epochs");
    check_enum(method, BDL_MONTE_CARLO, BDL_LOCAL_MONTE_CARLO, "method");
    if (draws_samples(method)) check_samples(samples);
    with(prototype, "prototype", [&](const auto& o) {
      using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
      if (!o.model()) fail(Status::ERROR_UNSUPPORTED, "prototype was created without a model");
      *search = new bdl_search{
          std::make_shared<Search<T>>(o, Validation{folds, epochs, PredictSpec{method, samples, seed}})};
    });
  });
}

void bdl_search_free(bdl_search* search) {
  free_handle(search);
}

bdl_status bdl_search_add_double(bdl_search* search, const char* option, double low, double high,
                                 bdl_scale scale) {
  return add_range(__func__, search, option,
                   [&](Space& space) { space.add_real(option, low, high, checked_scale(scale)); });
}

bdl_status bdl_search_add_int(bdl_search* search, const char* option, int64_t low, int64_t high,
                              bdl_scale scale) {
  return add_range(__func__, search, option,
                   [&](Space& space) { space.add_integer(option, low, high, checked_scale(scale)); });
}

bdl_status bdl_search_add_choice(bdl_search* search, const char* option, const char* words) {
  return add_range(__func__, search, option, [&](Space& space) {
    not_null(words, "words");
    space.add_choice(option, words);
  });
}

bdl_status bdl_search_set_parallel_trials(bdl_search* search, int64_t parallel_trials) {
  return guard(__func__, search, "search", [&](auto& s) {
    check_range(parallel_trials, 1, most_together, "parallel_trials");
    s.set_parallel_trials(parallel_trials);
  });
}

bdl_status bdl_search_set_workers(bdl_search* search, int64_t workers) {
  return guard(__func__, search, "search", [&](auto& s) {
    check_range(workers, 0, most_workers, "workers");
    s.set_workers(workers);
  });
}

bdl_status bdl_search_set_communicator(bdl_search* search, bdl_communicator* communicator) {
  return guard(__func__, search, "search", [&](auto& s) {
    s.set_communicator(communicator ? communicator->object : nullptr);
    search->communicator = communicator ? communicator->claim : nullptr;
  });
}

bdl_status bdl_search_run(bdl_search* search, bdl_matrix x, bdl_matrix y, int64_t random_trials,
                          int64_t bayesian_trials, bdl_search_progress_fn progress, void* user_data) {
  return guard(__func__, [&] {
    Status status = Status::OK;
    with(search, "search", [&](auto& s) {
      const InUse messages(nullptr, {{"the search's communicator", s.team().communicator().get(), true,
                                      search->communicator.get()}});
      s.team().check_before([&] {
        check_range(random_trials, 0, most_trials, "random_trials");
        check_range(bayesian_trials, 0, most_trials, "bayesian_trials");
      });
      CallerProgress<bdl_search> caller{progress, user_data, search};
      status = s.run(x, y, random_trials, bayesian_trials, caller.progress());
    });
    return static_cast<bdl_status>(status);
  });
}

void bdl_search_request_stop(bdl_search* search) {
  if (search) std::visit([](const auto& s) { s->stop_requested.store(true); }, search->object);
}

int64_t bdl_search_trial_count(const bdl_search* search) {
  return search ? std::visit([](const auto& s) { return static_cast<int64_t>(s->trials().size()); },
                             search->object)
                : 0;
}

bdl_status bdl_search_trial(const bdl_search* search, int64_t trial, bdl_matrix_out values, double* score,
                            double* standard_error, const char** message) {
  return guard(__func__, search, "search", [&](const auto& s) {
    const Trial& t = trial_of(s, trial);
    const Index count = s.space().size();
    if (given(values)) {
      check_output(values, 1, count, "values");
      write_result<double>({t.values.data(), count, 1}, values, "values");
    }
    if (score) *score = t.score;
    if (standard_error) *standard_error = t.standard_error;
    if (message) *message = t.message.c_str();
  });
}

bdl_status bdl_search_best(const bdl_search* search, int64_t* trial) {
  return guard(__func__, [&] {
    not_null(trial, "trial");
    with(search, "search", [&](const auto& s) { *trial = s.best(); });
  });
}

bdl_status bdl_search_apply(const bdl_search* search, int64_t trial, bdl_optimizer* optimizer) {
  return guard(__func__, search, "search", [&](const auto& s) {
    with(optimizer, "optimizer", [&](auto& o) {
      Options options = o.options();
      s.space().set(trial_of(s, trial).values, options);
      o.check_options(options);
      o.set_options(options, s.space().has_prior_option());
    });
  });
}

bdl_status bdl_search_folds(const bdl_search* search, bdl_matrix_out fold) {
  return guard(__func__, search, "search", [&](const auto& s) {
    check_output(fold, -1, 1, "fold");
    check_range(fold.rows, s.validation().folds, largest_size, "the number of rows of fold");
    const std::vector<Index> folds = folds_of_rows(fold.rows, s.validation().folds, s.validation().spec.seed);
    const std::vector<double> numbers(folds.begin(), folds.end());
    write_result<double>({numbers.data(), 1, fold.rows}, fold, "fold");
  });
}
