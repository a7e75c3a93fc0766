// Every getter and estimate in every state of an optimizer: methods x families x models x options x shards.
// Each answers, or says why not, and none ends the process.
#include <cstdlib>

#include "optimizer_states.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace optimizer_states;

/// Returns n where every n-th case is tried: fewer with sanitizers, and all where BDL_ALL_STATES is set.
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

/// Calls work(subject, family, method) for each combination that has an optimizer.
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

/// Calls work(subject, handles) for every stride-th setting, beginning with another one for each optimizer.
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
