#include <algorithm>
#include <string>
#include <string_view>

#include "fuzz/api/calls.hpp"
#include "fuzz/api/options.hpp"
#include "fuzz/api/progress.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

/// As bdl_method_describe() calls the posterior's family.
std::string_view family_word(const bdl_posterior* q) {
  static constexpr const char* words[] = {"",
                                          "low_rank",
                                          "full",
                                          "full_moment",
                                          "diagonal_moment",
                                          "dropout",
                                          "layerwise_full",
                                          "low_rank_moment",
                                          "layerwise_low_rank_moment",
                                          "kronecker"};
  const std::int32_t family = bdl_posterior_family(q);
  return family == BDL_LOW_RANK && bdl_posterior_rank(q) == 0 ? "diagonal" : words[family];
}

bool is_for(const char* method, std::string_view family) {
  const char* families = "";
  bdl_method_describe(method, &families, nullptr, nullptr, nullptr, nullptr, nullptr);
  return (" " + std::string(families) + " ").find(" " + std::string(family) + " ") != std::string::npos;
}

/// A method, for the posterior's family if the call is not faulty.
const char* method_for(Session& s, const bdl_posterior* q) {
  const std::int64_t count = bdl_method_count(), start = s.bytes.below(count);
  if (s.faulty()) return s.bytes.below(2) ? "slagn" : bdl_method_name(start);
  for (std::int64_t k = 0; k < count; ++k) {
    const char* name = bdl_method_name((start + k) % count);
    if (is_for(name, family_word(q))) return name;
  }
  return bdl_method_name(start);
}

}  // namespace

BDL_CALLS(bdl_method_count) {
  s.asks(bdl_method_count, With{});
}

BDL_CALLS(bdl_method_name) {
  s.asks(bdl_method_name, With{s.index(50)});
}

BDL_CALLS(bdl_method_describe) {
  const char* name = s.faulty() ? "nonsense" : bdl_method_name(s.bytes.below(bdl_method_count()));
  s.reads(bdl_method_describe, With{name, s.text(), s.small_integer(), s.small_integer(),
                                    s.arrays.any<bdl_predict_method>(), s.text(), s.text()});
}

BDL_CALLS(bdl_method_standing) {
  const char* name = s.faulty() ? "nonsense" : bdl_method_name(s.bytes.below(bdl_method_count()));
  s.reads(bdl_method_standing, With{name, s.small_integer(), s.text()});
}

BDL_CALLS(bdl_method_prediction) {
  const char* name = s.faulty() ? nullptr : bdl_method_name(s.bytes.below(bdl_method_count()));
  s.reads(bdl_method_prediction, With{name, s.model().handle, s.arrays.any<bdl_predict_method>()});
}

BDL_CALLS(bdl_method_suggest) {
  auto& m = s.model();
  s.reads(bdl_method_suggest, With{m.handle, s.posterior_for(m.shape).handle,
                                   static_cast<std::int32_t>(s.bytes.below(3)), s.text()});
}

BDL_CALLS(bdl_training_suggest) {
  static constexpr const char* families[] = {"auto",    "low_rank",  "full",    "diagonal",
                                             "dropout", "kronecker", "nonsense"};
  const char* method = s.bytes.below(2) ? "auto" : bdl_method_name(s.bytes.below(bdl_method_count()));
  s.reads(bdl_training_suggest,
          With{s.model().handle, s.size(100), static_cast<std::int32_t>(s.bytes.below(3)), method,
               s.faulty() ? nullptr : s.bytes.one_of(families), s.text(), s.text(), s.integer(), s.text()});
}

BDL_CALLS(bdl_noise_suggest) {
  auto& o = s.optimizer();
  const bdl_matrix y = s.bytes.below(2) ? bdl_none() : s.y(o.shape, s.bytes.below(5));
  s.reads(bdl_noise_suggest, With{o.handle, static_cast<std::int32_t>(s.bytes.below(3)), s.index(40), y,
                                  s.arrays.any<bdl_likelihood>(), s.real(Finite::or_not)});
}

BDL_CALLS(bdl_preset_count) {
  s.asks(bdl_preset_count, With{});
}

BDL_CALLS(bdl_preset_name) {
  s.asks(bdl_preset_name, With{s.index(20)});
}

BDL_CALLS(bdl_option_readers) {
  s.asks(bdl_option_readers, With{s.index(200)});
}

BDL_CALLS(bdl_preset_describe) {
  const char* name =
      s.faulty() ? nullptr : bdl_preset_name(s.bytes.below(std::max<std::int64_t>(bdl_preset_count(), 1)));
  s.reads(bdl_preset_describe, With{name, s.text(), s.text(), s.integer(), s.text()});
}

BDL_CALLS(bdl_default_count) {
  s.asks(bdl_default_count, With{});
}

BDL_CALLS(bdl_default_describe) {
  s.reads(bdl_default_describe, With{s.index(10), s.text(), s.real(), s.text()});
}

BDL_CALLS(bdl_optimizer_create) {
  auto& q = s.posterior();
  auto& m = s.model();
  // Without a model, sometimes: then the posterior takes rows only.
  bdl_model* model = s.bytes.below(8) == 7 ? nullptr : m.handle;
  Shape shape = m.shape;
  shape.parameters = bdl_posterior_dimension(q.handle);
  const char* method = method_for(s, q.handle);
  s.keep(s.creates<bdl_optimizer>(bdl_optimizer_create, With{model, q.handle, method, s.size(40)},
                                  Change::on_success),
         shape);
}

BDL_CALLS(bdl_optimizer_free) {
  s.frees(bdl_optimizer_free, s.optimizer());
}

BDL_CALLS(bdl_optimizer_method) {
  s.asks(bdl_optimizer_method, With{s.optimizer().handle});
}

BDL_CALLS(bdl_optimizer_data_size) {
  s.asks(bdl_optimizer_data_size, With{s.optimizer().handle});
}

BDL_CALLS(bdl_optimizer_set_double) {
  auto& o = s.optimizer();
  const char* name = option_name(s, BDL_OPTION_DOUBLE);
  s.changes(bdl_optimizer_set_double, With{o.handle, name, s.number()});
}

BDL_CALLS(bdl_optimizer_set_int) {
  auto& o = s.optimizer();
  const char* name = option_name(s, BDL_OPTION_INT);
  s.changes(bdl_optimizer_set_int, With{o.handle, name, s.index(4)});
}

BDL_CALLS(bdl_optimizer_set_choice) {
  auto& o = s.optimizer();
  const char* name = option_name(s, BDL_OPTION_CHOICE);
  const std::string word = choice_word(s, name);
  s.changes(bdl_optimizer_set_choice, With{o.handle, name, s.faulty() ? nullptr : word.c_str()});
}

BDL_CALLS(bdl_optimizer_set_text) {
  auto& o = s.optimizer();
  const std::string text = option_text(s);
  s.changes(bdl_optimizer_set_text, With{o.handle, s.faulty() ? nullptr : text.c_str()});
}

BDL_CALLS(bdl_optimizer_get_double) {
  auto& o = s.optimizer();
  s.reads(bdl_optimizer_get_double, With{o.handle, option_name(s, BDL_OPTION_DOUBLE), s.real()});
}

BDL_CALLS(bdl_optimizer_get_int) {
  auto& o = s.optimizer();
  s.reads(bdl_optimizer_get_int, With{o.handle, option_name(s, BDL_OPTION_INT), s.integer()});
}

BDL_CALLS(bdl_optimizer_get_choice) {
  auto& o = s.optimizer();
  s.reads(bdl_optimizer_get_choice, With{o.handle, option_name(s, BDL_OPTION_CHOICE), s.text()});
}

BDL_CALLS(bdl_option_count) {
  s.asks(bdl_option_count, With{});
}

BDL_CALLS(bdl_option_describe) {
  const std::int64_t index = s.faulty() ? s.size(1) : s.bytes.below(bdl_option_count());
  s.reads(bdl_option_describe,
          With{index, s.text(), s.arrays.any<bdl_option_type>(), s.text(), s.text(), s.text()});
}

BDL_CALLS(bdl_optimizer_set_prior) {
  auto& o = s.optimizer();
  s.changes(bdl_optimizer_set_prior,
            With{o.handle, s.in(1, s.bytes.below(2) ? 1 : o.shape.parameters, Kind::positive)});
}

BDL_CALLS(bdl_optimizer_set_prior_posterior) {
  auto& o = s.optimizer();
  s.changes(bdl_optimizer_set_prior_posterior, With{o.handle, s.posterior_for(o.shape).handle});
}

BDL_CALLS(bdl_optimizer_set_prior_normal) {
  auto& o = s.optimizer();
  const std::int64_t d = s.bytes.below(2) ? 1 : o.shape.parameters;
  s.changes(bdl_optimizer_set_prior_normal, With{o.handle, s.in(1, d), s.in(1, d, Kind::positive)});
}

BDL_CALLS(bdl_optimizer_set_prior_coefficients) {
  auto& o = s.optimizer();
  const std::int64_t d = s.bytes.below(2) ? 1 : o.shape.parameters;
  s.changes(bdl_optimizer_set_prior_coefficients, With{o.handle, s.in(1, d), s.in(1, d, Kind::positive)});
}

BDL_CALLS(bdl_optimizer_get_prior_coefficients) {
  auto& o = s.optimizer();
  s.reads(bdl_optimizer_get_prior_coefficients,
          With{o.handle, s.out(1, o.shape.parameters), s.out(1, o.shape.parameters)});
}

BDL_CALLS(bdl_optimizer_get_prior) {
  auto& o = s.optimizer();
  s.reads(bdl_optimizer_get_prior, With{o.handle, s.out(1, o.shape.parameters)});
}

BDL_CALLS(bdl_optimizer_initialize) {
  s.changes(bdl_optimizer_initialize, With{s.optimizer().handle});
}

BDL_CALLS(bdl_optimizer_step) {
  auto& o = s.optimizer();
  const std::int64_t n = s.bytes.below(5);
  s.callbacks.until_failure = s.faulty() ? s.bytes.next() : -1;
  const Interfering interfering(s, o.handle);
  s.trains(bdl_optimizer_step, With{o.handle, s.x(o.shape, n), s.y(o.shape, n)});
  s.callbacks.until_failure = -1;
}

BDL_CALLS(bdl_optimizer_laplace) {
  auto& o = s.optimizer();
  const std::int64_t n = s.bytes.below(5);
  s.changes(bdl_optimizer_laplace, With{o.handle, s.x(o.shape, n), s.y(o.shape, n)});
}

BDL_CALLS(bdl_optimizer_evidence) {
  auto& o = s.optimizer();
  const bdl_matrix prior = s.bytes.below(2) == 0 ? bdl_none() : s.in(1, s.bytes.below(5)),
                   noise = s.bytes.below(2) == 0 ? bdl_none() : s.in(1, s.bytes.below(3));
  s.reads(bdl_optimizer_evidence, With{o.handle, prior, noise, s.real(), s.real(), s.real()});
}

BDL_CALLS(bdl_optimizer_maximize_evidence) {
  auto& o = s.optimizer();
  constexpr const char* words[] = {"prior", "noise", "prior noise", "else"};
  s.changes(bdl_optimizer_maximize_evidence, With{o.handle, words[s.bytes.below(4)], s.real(), s.integer()});
}

BDL_CALLS(bdl_optimizer_mode_gap) {
  auto& o = s.optimizer();
  const std::int64_t n = s.bytes.below(5);
  s.reads(bdl_optimizer_mode_gap, With{o.handle, s.x(o.shape, n), s.y(o.shape, n), s.real()});
}

BDL_CALLS(bdl_optimizer_step_rows) {
  auto& o = s.optimizer();
  s.trains(bdl_optimizer_step_rows, With{o.handle, s.in(s.bytes.below(5), o.shape.parameters)});
}

BDL_CALLS(bdl_optimizer_fit) {
  auto& o = s.optimizer();
  const std::int64_t n = s.bytes.below(12), epochs = s.faulty() ? -s.bytes.below(2) : s.bytes.below(4);
  s.callbacks.until_failure = s.bytes.below(3) == 2 ? s.bytes.next() % 32 : -1;
  const bdl_matrix x = s.x(o.shape, n), y = s.y(o.shape, n);
  const bool silent = s.bytes.below(2) == 0;
  const Interfering interfering(s, o.handle);
  s.trains(bdl_optimizer_fit,
           With{o.handle, x, y, epochs, static_cast<bdl_progress_fn>(silent ? nullptr : progress),
                static_cast<void*>(&s.callbacks)});
  s.callbacks.until_failure = -1;
}

BDL_CALLS(bdl_optimizer_request_stop) {
  s.does(bdl_optimizer_request_stop, With{s.optimizer().handle});
}

BDL_CALLS(bdl_optimizer_progress) {
  s.reads(bdl_optimizer_progress, With{s.optimizer().handle, s.integer(), s.integer(), s.real()});
}

BDL_CALLS(bdl_optimizer_running_elbo) {
  s.reads(bdl_optimizer_running_elbo, With{s.optimizer().handle, s.real(), s.real()});
}

BDL_CALLS(bdl_optimizer_elbo) {
  auto& o = s.optimizer();
  const std::int64_t n = s.bytes.below(5);
  const std::int64_t samples = s.faulty() ? -s.bytes.below(3) : s.bytes.below(4);
  s.reads(bdl_optimizer_elbo,
          With{o.handle, s.x(o.shape, n), s.y(o.shape, n), samples, s.seed(), s.real(), s.real()});
}

BDL_CALLS(bdl_optimizer_start_noise) {
  auto& o = s.optimizer();
  s.changes(bdl_optimizer_start_noise, With{o.handle, s.y(o.shape, s.bytes.below(5))});
}

BDL_CALLS(bdl_optimizer_minibatch) {
  s.reads(bdl_optimizer_minibatch, With{s.optimizer().handle, s.integer()});
}

BDL_CALLS(bdl_optimizer_memory) {
  s.reads(bdl_optimizer_memory, With{s.optimizer().handle, s.index(50), s.integer()});
}

BDL_CALLS(bdl_optimizer_guarded_steps) {
  s.asks(bdl_optimizer_guarded_steps, With{s.optimizer().handle});
}

BDL_CALLS(bdl_optimizer_noise) {
  s.reads(bdl_optimizer_noise, With{s.optimizer().handle, s.small_integer(), s.text()});
}

BDL_CALLS(bdl_optimizer_diagnose_answers) {
  auto& o = s.optimizer();
  const std::int64_t n = s.bytes.below(12);
  s.reads(bdl_optimizer_diagnose_answers,
          With{o.handle, s.x(o.shape, n), s.y(o.shape, n), s.real(Finite::or_not), s.text()});
}

BDL_CALLS(bdl_optimizer_diagnose) {
  s.reads(bdl_optimizer_diagnose,
          With{s.optimizer().handle, s.real(Finite::or_not), s.real(Finite::or_not), s.text()});
}

}  // namespace fuzz
