// Takes an optimizer through the states that it can be in, and calls a function in each of them.
#pragma once

#include "combinations.hpp"
#include "getters.hpp"

namespace optimizer_states {

using namespace combinations;
using getters::Sizes;

inline const Data& data() {
  static const Data made;
  return made;
}

inline int64_t inputs_of(const Subject& subject) {
  return subject.model ? bdl_model_inputs(subject.model.get()) : inputs;
}

inline bdl_matrix x_of(const Subject& subject, int64_t count) {
  static const Vector more(rows * 4, 0.5);
  const int64_t cols = inputs_of(subject);
  return bdl_f64(cols == inputs ? data().x : more.data(), count, cols);
}

inline bdl_matrix y_of(const Subject& subject, int64_t count) {
  return bdl_f64(data().y, count, subject.targets);
}

inline Sizes sizes_of(const Subject& subject, const bdl_posterior* q) {
  const bdl_model* m = subject.model.get();
  return {bdl_posterior_dimension(q),       inputs_of(subject),
          m ? bdl_model_outputs(m) : 1,     subject.targets,
          x_of(subject, getters::examples), y_of(subject, getters::examples)};
}

/// Makes a posterior for a model, or with as many parameters as a custom model has.
inline Posterior family_of(const Subject& subject, int family) {
  static const Model stand_in = user_model(nullptr);
  return posterior_of(subject.model ? subject.model : stand_in, family);
}

struct Handles {
  const bdl_model* m;
  Posterior q;
  Optimizer o;
  Sizes sizes;
  std::string name;
};

/// Without an optimizer where there is none of this family, method and options.
inline Handles handles_of(const Subject& subject, int family, const char* method, const std::string& text) {
  bdl_model* const m = subject.model.get();
  Handles made{m, family_of(subject, family), nullptr, {}, {}};
  bdl_optimizer* o = nullptr;
  if (!made.q || bdl_optimizer_create(m, made.q.get(), method, rows, &o) != BDL_OK) return made;
  made.o.reset(o);
  if (bdl_optimizer_set_text(o, text.c_str()) != BDL_OK) made.o.reset();
  made.sizes = sizes_of(subject, made.q.get());
  made.name = std::string(subject.name) + ", " + families[family] + ", " + method + ", \"" + text + "\"";
  return made;
}

/// Queries of an optimizer in one state.
using Look = void (*)(const Handles&);

struct Visit {
  const Handles& handles;
  Look look;
  void operator()(const char* state) const {
    asked::where = handles.name + ", " + state;
    asked::room.clear();  // of a test that has failed
    look(handles);
  }
};

/// Looks while fit is at work, and stops it.
inline int32_t look_and_stop(void* visit, const bdl_optimizer*) {
  (*static_cast<const Visit*>(visit))("within a fit");
  return 1;
}

inline void visit_stream(const Subject& subject, const Visit& visit) {
  bdl_optimizer* const o = visit.handles.o.get();
  double scores[rows];
  ASK(bdl_optimizer_observe, o, x_of(subject, 2), y_of(subject, 2), bdl_f64_out(scores, 2, 1));
  visit("after observations");
  ASK(bdl_optimizer_forecast, o, int64_t{2});
  visit("with a forecast pending");
}

inline void visit_training(const Subject& subject, const Visit& visit) {
  bdl_optimizer* const o = visit.handles.o.get();
  const bdl_matrix x = x_of(subject, rows), y = y_of(subject, rows);
  void* const context = const_cast<Visit*>(&visit);
  ASK(bdl_optimizer_step, o, x, y);
  visit("after a step");
  ASK(bdl_optimizer_fit, o, x, y, int64_t{2}, nullptr, nullptr);
  visit("after a fit");
  ASK(bdl_optimizer_fit, o, x, y, int64_t{3}, look_and_stop, context);
  visit("after a stopped fit");
}

inline void visit_rows(const Visit& visit) {
  const Vector gradients(static_cast<size_t>(2 * visit.handles.sizes.parameters), 0.5);
  ASK(bdl_optimizer_step_rows, visit.handles.o.get(),
      bdl_f64(gradients.data(), 2, visit.handles.sizes.parameters));
  visit("after a step on rows");
}

inline void visit_checkpoint(const Subject& subject, const Visit& visit) {
  int64_t size = 0;
  const auto save = [&](void* to) {
    return ASK(bdl_save_bytes, nullptr, nullptr, visit.handles.o.get(), to, size, &size);
  };
  if (save(nullptr) != BDL_OK) return;
  std::string bytes(static_cast<size_t>(size), '\0');
  if (save(bytes.data()) != BDL_OK) return;
  bdl_model *const own = subject.model.get(), *m = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* o = nullptr;
  const bool is_user = std::string(subject.name).starts_with("user's");
  ASK(bdl_load_bytes, bytes.data(), size, is_user ? own : nullptr, own ? &m : nullptr, &q, &o);
  const Model model(m);
  const Handles loaded{m, Posterior(q), Optimizer(o), visit.handles.sizes, visit.handles.name};
  if (o) Visit{loaded, visit.look}("after a checkpoint");
}

inline void visit_states(const Subject& subject, const Visit& visit) {
  bdl_optimizer* const o = visit.handles.o.get();
  visit("created");
  ASK(bdl_optimizer_initialize, o);
  visit("initialised");
  if (is_for_streams(o))
    visit_stream(subject, visit);
  else if (subject.has_gradients)
    visit_training(subject, visit);
  else
    visit_rows(visit);
  visit_checkpoint(subject, visit);
}

}  // namespace optimizer_states
