// Every getter and estimate in every state of an optimizer: methods x families x models x options x shards.
// Each answers, or says why not, and none ends the process.
#include <algorithm>
#include <cstdlib>

#include "combinations.hpp"
#include "getters.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace combinations;
using getters::Sizes;

/// Each setting meets every so manieth optimizer, the next one with the next setting. Fewer where sanitizers
/// look on, and all where BDL_ALL_STATES is set.
size_t stride_of(size_t release, size_t sanitized) {
  return std::getenv("BDL_ALL_STATES") ? 1 : bdl::testing::sanitized_stride > 1 ? sanitized : release;
}

std::vector<Subject> all_subjects() {
  std::vector<Subject> all = subjects();
  all.push_back({"convolution that is normalised",
                 network("input 1 2 2; conv 2 2 pad 1 nobias; batchnorm; relu; avgpool 2; dense 1", BDL_F64),
                 1, true});
  all.push_back({"single precision", make_mlp(BDL_F32, {inputs, 2, 1}, BDL_BERNOULLI), 1, true});
  all.push_back({"none", nullptr, 1, false});
  return all;
}

const Data& data() {
  static const Data made;
  return made;
}

int64_t inputs_of(const Subject& subject) {
  return subject.model ? bdl_model_inputs(subject.model.get()) : inputs;
}

bdl_matrix x_of(const Subject& subject, int64_t count) {
  static const Vector more(rows * 4, 0.5);
  const int64_t cols = inputs_of(subject);
  return bdl_f64(cols == inputs ? data().x : more.data(), count, cols);
}

bdl_matrix y_of(const Subject& subject, int64_t count) {
  return bdl_f64(data().y, count, subject.targets);
}

Sizes sizes_of(const Subject& subject, const bdl_posterior* q) {
  const bdl_model* m = subject.model.get();
  return {bdl_posterior_dimension(q),       inputs_of(subject),
          m ? bdl_model_outputs(m) : 1,     subject.targets,
          x_of(subject, getters::examples), y_of(subject, getters::examples)};
}

/// Of a model, or of as many parameters as a user's one has.
Posterior family_of(const Subject& subject, int family) {
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
Handles handles_of(const Subject& subject, int family, const char* method, const std::string& text) {
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

/// What is asked of an optimizer in one state.
using Look = void (*)(const Handles&);

void look_at_state(const Handles& h) {
  getters::ask_state(h.o.get(), h.sizes);
}

void look_at_optimizer(const Handles& h) {
  getters::ask_optimizer(h.o.get(), h.sizes);
}

void look_at_all(const Handles& h) {
  getters::ask_optimizer(h.o.get(), h.sizes);
  getters::ask_posterior(h.q.get(), h.sizes);
  if (!h.m) return;
  getters::ask_model(h.m, h.sizes);
  static int number = 0;  // each method of prediction in turn
  const int method = BDL_MONTE_CARLO + number++ % BDL_LOCAL_MONTE_CARLO;
  getters::ask_predictions(h.m, h.q.get(), h.sizes, static_cast<bdl_predict_method>(method));
}

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
int32_t look_and_stop(void* visit, const bdl_optimizer*) {
  (*static_cast<const Visit*>(visit))("within a fit");
  return 1;
}

void visit_stream(const Subject& subject, const Visit& visit) {
  bdl_optimizer* const o = visit.handles.o.get();
  double scores[rows];
  ASK(bdl_optimizer_observe, o, x_of(subject, 2), y_of(subject, 2), bdl_f64_out(scores, 2, 1));
  visit("after observations");
  ASK(bdl_optimizer_forecast, o, int64_t{2});
  visit("with a forecast pending");
}

void visit_training(const Subject& subject, const Visit& visit) {
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

void visit_rows(const Visit& visit) {
  const Vector gradients(static_cast<size_t>(2 * visit.handles.sizes.parameters), 0.5);
  ASK(bdl_optimizer_step_rows, visit.handles.o.get(),
      bdl_f64(gradients.data(), 2, visit.handles.sizes.parameters));
  visit("after a step on rows");
}

void visit_checkpoint(const Subject& subject, const Visit& visit) {
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

void visit_states(const Subject& subject, const Visit& visit) {
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

/// visit(subject, family, method) of all that there may be.
template <class Work>
void for_each_kind(Work&& work) {
  static const std::vector<Subject> all = all_subjects();
  for (const Subject& subject : all)
    for (int family = 0; family < family_count; ++family)
      for (int64_t m = 0; m < bdl_method_count(); ++m)
        if (handles_of(subject, family, bdl_method_name(m), "").o) work(subject, family, bdl_method_name(m));
}

/// Each word of the choices, and some numbers, which are refused where they are out of range.
std::vector<std::string> option_values() {
  std::vector<std::string> all;
  for_each_choice([&](const std::string& text) { all.push_back(text); });
  for (int64_t i = 0; i < bdl_option_count(); ++i) {
    const char* name = nullptr;
    bdl_option_type type;
    OK(bdl_option_describe(i, &name, &type, nullptr, nullptr, nullptr));
    if (type == BDL_OPTION_CHOICE) continue;
    for (const char* value : {"0", "0.5", "1", "2", "3", "7"}) all.push_back(std::string(name) + "=" + value);
  }
  return all;
}

constexpr const char* sharings[] = {"", " shards=2", " shards=3"};

struct Count {
  int64_t optimizers = 0, refused = 0;
};

void print(const char* what, const Count& count) {
  print_message("%s: %lld optimizers, %lld settings refused; %lld calls so far, %lld of them with an error\n",
                what, static_cast<long long>(count.optimizers), static_cast<long long>(count.refused),
                static_cast<long long>(asked::calls), static_cast<long long>(asked::refused));
}

void every_state_answers(void**) {
  Count count;
  const size_t stride = stride_of(1, 4);
  size_t number = 0;
  for_each_kind([&](const Subject& subject, int family, const char* method) {
    for (const char* shards : sharings) {
      if (number++ % stride != 0) continue;
      const Handles h = handles_of(subject, family, method, shards);
      if (!h.o) ++count.refused;
      if (!h.o) continue;
      visit_states(subject, {h, look_at_all});
      ++count.optimizers;
    }
  });
  print("all getters", count);
}

/// visit(subject, handles) for every so manieth setting.
template <class Work>
Count for_each_setting(size_t stride, Work&& work) {
  const std::vector<std::string> values = option_values();
  Count count;
  size_t first = 0, sharing = 0;
  for_each_kind([&](const Subject& subject, int family, const char* method) {
    for (size_t i = first; i < values.size(); i += stride) {
      const Handles h = handles_of(subject, family, method, values[i] + sharings[sharing++ % 3]);
      ++(h.o ? count.optimizers : count.refused);
      if (h.o) work(subject, h);
    }
    first = (first + 1) % stride;
  });
  return count;
}

void every_option_answers(void**) {
  print("options", for_each_setting(stride_of(3, 29), [](const Subject&, const Handles& h) {
          Visit{h, look_at_state}("created");
        }));
}

void every_option_answers_in_every_state(void**) {
  print("options in every state",
        for_each_setting(stride_of(47, 499), [](const Subject& subject, const Handles& h) {
          visit_states(subject, {h, look_at_optimizer});
        }));
}

void every_getter_was_asked(void**) {
  int count = 0;
#define GETTER(name)                                                         \
  if (!asked::functions.contains(#name)) fail_msg("%s is not asked", #name); \
  ++count;
#include "getters.def"
#undef GETTER
  assert_true(count > 60);
}

}  // namespace

int test_every_getter() {
  const CMUnitTest tests[] = {cmocka_unit_test(every_state_answers), cmocka_unit_test(every_option_answers),
                              cmocka_unit_test(every_option_answers_in_every_state),
                              cmocka_unit_test(every_getter_was_asked)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
