#include "c_api/caller_progress.hpp"
#include "c_api/convert.hpp"
#include "c_api/handles.hpp"
#include "data/minibatch.hpp"
#include "inference/batch/fit.hpp"
#include "inference/diagnose.hpp"
#include "inference/exact/exact_fit.hpp"
#include "posterior/families.hpp"

namespace bdl {
namespace {

/// Options that lead from one combination to another through one that does not go together need one call.
template <class Value>
bdl_status set(const char* function, bdl_optimizer* optimizer, const char* name, OptionType type,
               Value value) {
  return guard(function, [&] {
    not_null(name, "name");
    with(optimizer, "optimizer", [&](auto& o) {
      Options options = o.options();
      const OptionInfo& info = find_option(name, type);
      set_option(options, info, value);
      try {
        o.check_options(options);
      } catch (const Error& error) {
        fail(error.status(), "%s (bdl_optimizer_set_text() sets several options at once)", error.what());
      }
      o.set_options(options, is_prior_option(info));
    });
  });
}

template <class Read>
bdl_status get(const char* function, const bdl_optimizer* optimizer, const char* name, OptionType type,
               Read&& read) {
  return guard(function, [&] {
    not_null(name, "name");
    with(optimizer, "optimizer", [&](const auto& o) { read(o.options(), find_option(name, type)); });
  });
}

/// A copy, in the optimizer's arithmetic.
template <class T, class Q>
std::shared_ptr<const Posterior<T>> prior_from(const Q& q) {
  if constexpr (std::is_same_v<typename Q::Scalar, T>)
    return q.clone();
  else
    return converted<T>(q);
}

template <class T>
std::shared_ptr<Optimizer<T>> new_optimizer(const bdl_model* model,
                                            const std::shared_ptr<Posterior<T>>& posterior,
                                            const Method& method, Index data_size) {
  const auto* typed = model ? std::get_if<std::shared_ptr<Model<T>>>(&model->object) : nullptr;
  return std::make_shared<Optimizer<T>>(typed ? *typed : nullptr, posterior, method, data_size);
}

}  // namespace
}  // namespace bdl

using namespace bdl;

bdl_status bdl_optimizer_create(bdl_model* model, bdl_posterior* posterior, const char* method,
                                int64_t data_size, bdl_optimizer** optimizer) {
  return guard("bdl_optimizer_create", [&] {
    not_null(posterior, "posterior");
    not_null(method, "method");
    not_null(optimizer, "optimizer");
    check_range(data_size, 1, INT64_C(1) << 52, "data_size");
    const Method& row = find_method(method);
    if (model) with_both<const bdl_model, const bdl_posterior>(model, posterior, [](auto&, auto&) {});
    const InUse use = use_of(*posterior, "posterior");  // a blank one may get other points
    auto handle = std::make_unique<bdl_optimizer>();
    std::visit([&](const auto& q) { handle->object = new_optimizer(model, q, row, data_size); },
               posterior->object);
    handle->posterior = posterior->claim;
    if (model) handle->model = model->claim;
    *optimizer = handle.release();
  });
}

void bdl_optimizer_free(bdl_optimizer* optimizer) {
  free_handle(optimizer);
}

const char* bdl_optimizer_method(const bdl_optimizer* optimizer) {
  return optimizer ? std::visit([](const auto& o) { return o->method().name; }, optimizer->object) : "";
}

int64_t bdl_optimizer_data_size(const bdl_optimizer* optimizer) {
  return optimizer ? std::visit([](const auto& o) { return o->data_size(); }, optimizer->object) : 0;
}

bdl_status bdl_optimizer_set_double(bdl_optimizer* optimizer, const char* name, double value) {
  return set("bdl_optimizer_set_double", optimizer, name, OptionType::real, value);
}

bdl_status bdl_optimizer_set_int(bdl_optimizer* optimizer, const char* name, int64_t value) {
  return set("bdl_optimizer_set_int", optimizer, name, OptionType::integer, value);
}

bdl_status bdl_optimizer_set_choice(bdl_optimizer* optimizer, const char* name, const char* value) {
  if (!value)
    return guard("bdl_optimizer_set_choice", [] { fail(Status::ERROR_INVALID_ARGUMENT, "value is NULL"); });
  return set("bdl_optimizer_set_choice", optimizer, name, OptionType::choice, value);
}

bdl_status bdl_optimizer_set_text(bdl_optimizer* optimizer, const char* text) {
  return guard("bdl_optimizer_set_text", [&] {
    not_null(text, "text");
    with(optimizer, "optimizer", [&](auto& o) {
      Options options = o.options();
      const bool has_prior = set_option_text(options, text);
      o.check_options(options);
      o.set_options(options, has_prior);
    });
  });
}

bdl_status bdl_optimizer_get_double(const bdl_optimizer* optimizer, const char* name, double* value) {
  return get("bdl_optimizer_get_double", optimizer, name, OptionType::real,
             [&](const Options& o, const OptionInfo& info) {
               not_null(value, "value");
               *value = o.*info.real;
             });
}

bdl_status bdl_optimizer_get_int(const bdl_optimizer* optimizer, const char* name, int64_t* value) {
  return get("bdl_optimizer_get_int", optimizer, name, OptionType::integer,
             [&](const Options& o, const OptionInfo& info) {
               not_null(value, "value");
               *value = o.*info.integer;
             });
}

bdl_status bdl_optimizer_get_choice(const bdl_optimizer* optimizer, const char* name, const char** value) {
  return get("bdl_optimizer_get_choice", optimizer, name, OptionType::choice,
             [&](const Options& o, const OptionInfo& info) {
               not_null(value, "value");
               *value = choice_word(info, info.choice(o));
             });
}

bdl_status bdl_optimizer_set_prior(bdl_optimizer* optimizer, bdl_matrix precision) {
  return guard("bdl_optimizer_set_prior", [&] {
    with(optimizer, "optimizer", [&](auto& o) {
      using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
      const Index dimension = o.posterior()->dimension();
      o.prior().fix(gathered_precision<T>(precision, dimension, "precision").first(dimension));
      o.forget_good_state();
    });
  });
}

bdl_status bdl_optimizer_set_prior_posterior(bdl_optimizer* optimizer, const bdl_posterior* prior) {
  return guard("bdl_optimizer_set_prior_posterior", [&] {
    with(optimizer, "optimizer", [&](auto& o) {
      using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
      with(prior, "prior", [&](const auto& q) { o.set_prior(prior_from<T>(q)); });
    });
  });
}

bdl_status bdl_optimizer_get_prior(const bdl_optimizer* optimizer, bdl_matrix_out precision) {
  return guard("bdl_optimizer_get_prior", [&] {
    with(optimizer, "optimizer", [&](const auto& o) {
      using T = typename std::remove_cvref_t<decltype(o)>::Scalar;
      const Index dimension = o.posterior()->dimension();
      check_output(precision, 1, dimension, "precision");
      write_result<T>({o.prior().precision().data(), dimension, 1}, precision, "precision");
    });
  });
}

bdl_status bdl_optimizer_initialize(bdl_optimizer* optimizer) {
  return guard("bdl_optimizer_initialize",
               [&] { with_training(optimizer, [](auto& o) { o.initialize(); }); });
}

bdl_status bdl_optimizer_step(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y) {
  return guard("bdl_optimizer_step", [&] {
    with_training(optimizer, [&](auto& o) {
      model_of(o);
      step(o, x, y);
    });
  });
}

bdl_status bdl_optimizer_laplace(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y) {
  return guard("bdl_optimizer_laplace", [&] {
    with_training(optimizer, [&](auto& o) {
      model_of(o);
      laplace(o, x, y);
    });
  });
}

bdl_status bdl_optimizer_step_rows(bdl_optimizer* optimizer, bdl_matrix rows) {
  return guard("bdl_optimizer_step_rows",
               [&] { with_training(optimizer, [&](auto& o) { step_rows(o, rows); }); });
}

bdl_status bdl_optimizer_fit(bdl_optimizer* optimizer, bdl_matrix x, bdl_matrix y, int64_t epochs,
                             bdl_progress_fn progress, void* user_data) {
  return guard("bdl_optimizer_fit", [&] {
    Status status = Status::OK;
    with_training(optimizer, [&](auto& o) {
      model_of(o);
      o.team().check_before([&] { check_range(epochs, 0, INT32_MAX, "epochs"); });
      CallerProgress<bdl_optimizer> caller{progress, user_data, optimizer};
      status = fit(o, x, y, epochs, caller.progress());
    });
    return static_cast<bdl_status>(status);
  });
}

void bdl_optimizer_request_stop(bdl_optimizer* optimizer) {
  if (optimizer) std::visit([](const auto& o) { o->stop_requested.store(true); }, optimizer->object);
}

bdl_status bdl_optimizer_progress(const bdl_optimizer* optimizer, int64_t* step, int64_t* planned,
                                  double* epoch) {
  return guard("bdl_optimizer_progress", [&] {
    with(optimizer, "optimizer", [&](const auto& o) {
      if (step) *step = o.state.step;
      if (planned) *planned = o.state.plan.end;
      const double part =
          o.state.batch == 0 ? 0 : static_cast<double>(o.state.batch) / static_cast<double>(o.state.batches);
      if (epoch) *epoch = static_cast<double>(o.state.epoch) + part;
    });
  });
}

bdl_status bdl_optimizer_running_elbo(const bdl_optimizer* optimizer, double* expected_log_likelihood,
                                      double* kl) {
  return guard("bdl_optimizer_running_elbo", [&] {
    with(optimizer, "optimizer", [&](const auto& o) {
      const Standardization& standardization = model_of(o).standardization;
      if (o.state.running_steps == 0) fail(Status::ERROR_UNSUPPORTED, "no step has been taken yet");
      const double divergence = kl ? checked_result(o.kl(), "kl") : 0;
      const double likelihood =
          o.state.running_log_likelihood - static_cast<double>(o.data_size()) * standardization.log_scale();
      if (expected_log_likelihood)
        *expected_log_likelihood = checked_result(likelihood, "expected_log_likelihood");
      if (kl) *kl = divergence;
    });
  });
}

bdl_status bdl_optimizer_start_noise(bdl_optimizer* optimizer, bdl_matrix y) {
  return guard("bdl_optimizer_start_noise", [&] {
    with_training(optimizer, [&](auto& o) {
      model_of(o).likelihood.check_targets(y, y.rows, "y", true);
      ArrayData targets({}, y);
      o.start_noises(targets);
    });
  });
}

bdl_status bdl_optimizer_minibatch(const bdl_optimizer* optimizer, int64_t* examples) {
  return guard("bdl_optimizer_minibatch", [&] {
    not_null(examples, "examples");
    with(optimizer, "optimizer",
         [&](const auto& o) { *examples = minibatch_size(o.options(), o.data_size()); });
  });
}

bdl_status bdl_optimizer_memory(const bdl_optimizer* optimizer, int64_t minibatch, int64_t* bytes) {
  return guard("bdl_optimizer_memory", [&] {
    not_null(bytes, "bytes");
    with(optimizer, "optimizer", [&](const auto& o) {
      check_range(minibatch, 0, row_limit, "minibatch");
      if (o.method().is_exact) {
        model_of(o);
        *bytes = exact_fit_bytes(o);
        return;
      }
      *bytes = o.workspace_bytes(minibatch > 0 ? minibatch : minibatch_size(o.options(), o.data_size()));
    });
  });
}

bdl_status bdl_optimizer_noise(const bdl_optimizer* optimizer, int32_t* is_exact, const char** text) {
  return guard("bdl_optimizer_noise", [&] {
    with(optimizer, "optimizer", [&](const auto& o) {
      const auto& noise = o.describe_noise();
      if (is_exact) *is_exact = noise.is_exact ? 1 : 0;
      if (text) *text = noise.text.c_str();
    });
  });
}

bdl_status bdl_optimizer_diagnose(const bdl_optimizer* optimizer, double* mean_shift, double* precision_shift,
                                  const char** message) {
  return guard("bdl_optimizer_diagnose", [&] {
    with(optimizer, "optimizer", [&](const auto& o) {
      const Diagnosis diagnosis = diagnose(o);
      if (mean_shift) *mean_shift = diagnosis.mean_shift;
      if (precision_shift) *precision_shift = diagnosis.precision_shift;
      if (message) *message = diagnosis.message;
    });
  });
}
