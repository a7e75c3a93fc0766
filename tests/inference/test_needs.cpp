// Combinations: each ability of needs.def is missing in some, which are refused with its status and a filled
// message, and valid ones stay valid. tests/c_api/test_combinations.cpp tests that steps refuse nothing else.
#include <array>
#include <set>
#include <string>

#include "methods/combination.hpp"
#include "support/verify.hpp"

namespace {

using namespace bdl;
using namespace bdl::testing;

struct Kind {
  Family family;
  Index rank;
};

constexpr Kind kinds[] = {{Family::low_rank, 0},
                          {Family::low_rank, 2},
                          {Family::full, 0},
                          {Family::full_moment, 0},
                          {Family::diagonal_moment, 0},
                          {Family::dropout, 0},
                          {Family::layerwise_full, 0},
                          {Family::low_rank_moment, 1},
                          {Family::low_rank_moment, 2},
                          {Family::layerwise_low_rank_moment, 1},
                          {Family::kronecker, 0}};
constexpr Use uses[] = {Use::fit, Use::step, Use::stream, Use::rows};

template <class Change>
MethodContext model(Change change) {
  MethodContext context;
  context.has_model = true;
  change(context);
  return context;
}

const std::string mask = "layer \"dropout 0.1\" (line 3)", norm = "layer \"batchnorm\" (line 3)";

/// No model, networks that give all, little or nothing that can be needed, and custom models.
const std::vector<MethodContext>& models() {
  static const std::vector<MethodContext> all = {
      MethodContext(),
      model([](MethodContext& m) { m.is_network = m.is_linear = m.is_exact = m.has_optimum = true; }),
      model([](MethodContext& m) {
        m.is_network = m.has_hidden = true, m.input = {3, 4, 5};
      }),
      model([](MethodContext& m) {
        m.is_network = m.has_dense_inputs = true,
        m.without_second_derivatives = m.without_one_function = mask;
      }),
      model([](MethodContext& m) {
        m.is_network = true;
        m.without_second_derivatives = m.without_one_function = m.without_separate_examples = norm;
      }),
      model([](MethodContext&) {}),
      model([](MethodContext& m) { m.has_gradients = false; })};
  return all;
}

/// Calls visit(combination, use) for models, posteriors and uses.
template <class Visit>
void for_each_use(const Options& options, const Method& method, Visit visit) {
  for (const MethodContext& m : models())
    for (const Kind& kind : kinds)
      for (const Use use : uses) visit(Combination{options, method, m, kind.family, kind.rank}, use);
}

/// Calls visit(combination, use) for all rules, curvatures and descents of methods for all families.
template <class Visit>
void for_each_step(Visit visit) {
  for (const char* name : {"slang", "bong", "elrg", "mc-dropout", "kfac", "exact-full"})
    for (int rule = 0; rule < 5; ++rule)
      for (int curvature = 0; curvature < 7; ++curvature)
        for (int descent = 0; descent < 5; ++descent) {
          Options options;
          const Method& method = find_method(name);
          method.set_defaults(options, {});
          options.rule = static_cast<Rule>(rule);
          options.curvature = static_cast<EstimateKind>(curvature);
          options.descent = static_cast<DescentOption>(descent);
          options.initial_curvature = 1;
          options.learn_prior = 0;
          for_each_use(options, method, visit);
        }
}

struct Answer {
  Status status;
  std::string text;
};

Answer answer(const Combination& c, Use use) {
  try {
    check_combination(c, use);
  } catch (const Error& error) {
    return {error.status(), error.what()};
  }
  return {Status::OK, ""};
}

/// The numbers are those of the functions that asked for one thing after the other before there was a table.
void what_is_valid_stays_valid(void**) {
  std::array<int, 4> valid{};
  for_each_step([&](const Combination& c, Use use) {
    valid[static_cast<std::size_t>(use)] += answer(c, use).status == Status::OK;
  });
  assert_int_equal(valid[0], 2488);
  assert_int_equal(valid[1], 2138);
  assert_int_equal(valid[2], 4192);
  assert_int_equal(valid[3], 2928);
}

void each_need_is_told(void**) {
  std::set<std::string> told;
  const auto hear = [&](const Combination& c, Use use) {
    const Answer heard = answer(c, use);
    if (heard.status == Status::OK) return;
    const bool is_value = heard.text.find(", expected ") != heard.text.npos;
    assert_true(heard.status == (is_value ? Status::ERROR_INVALID_ARGUMENT : Status::ERROR_UNSUPPORTED));
    assert_true(heard.text.find_first_of("{}") == heard.text.npos && heard.text.size() < 399);
    told.insert(heard.text);
  };
  for_each_step(hear);
  for (const char* text : {"augment_pad=2",
                           "augment_pad=4",
                           "augment_flip=1",
                           "kl_weight=0.5",
                           "kl_weight=0",
                           "indefinite=improved",
                           "mean_update=unprojected",
                           "initial_curvature=0",
                           "swag=1",
                           "sample_groups=2",
                           "samples=3 antithetic=1",
                           "laplace=1",
                           "learning_rate=2",
                           "mean_update=unprojected curvature=mc-hess",
                           "learn_prior=1",
                           "learn_prior=2",
                           "low_rank_update=moving_average",
                           "rule=map learn_prior=1",
                           "prior_groups=inputs",
                           "fisher=sampled",
                           "evidence=after",
                           "laplace=1 evidence=during",
                           "rule=map learn_prior=0 laplace=1 kl_weight=0"})
    for (const char* name : {"slang", "ivon", "bong", "blr", "elrg", "mc-dropout", "kfac", "exact-full"}) {
      Options options;
      const Method& method = find_method(name);
      method.set_defaults(options, {});
      set_option_text(options, text);
      for_each_use(options, method, hear);
    }
  const auto assert_told = [&](const std::string& text) {
    const std::string begin = text.substr(0, text.find('{'));
    for (const std::string& heard : told)
      if (heard.find(begin) != heard.npos) return;
    fail_msg("nothing lacks this: %s", text.c_str());
  };
#define BDL_NEED(ability, status, text) assert_told(text);
#include "methods/needs.def"
}

void messages_name_what_asks(void**) {
  const auto refused = [](const char* method, const char* text, std::size_t m, const Kind& kind, Use use,
                          const char* words) {
    Options options;
    find_method(method).set_defaults(options, models()[m]);
    set_option_text(options, text);
    const Combination c{options, find_method(method), models()[m], kind.family, kind.rank};
    assert_string_equal(answer(c, use).text.c_str(), words);
  };
  refused("slang", "curvature=lin-ef", 3, kinds[1], Use::fit,
          "option \"curvature\" is \"lin-ef\", but that needs a deterministic network: the network's layer "
          "\"dropout 0.1\" (line 3) is random or depends on the minibatch. Use curvature \"mc-ef\"");
  refused("slang", "sample_groups=4", 2, kinds[1], Use::fit,
          "option \"sample_groups\" is 4, but only descents \"vogn\" and \"ivon\" divide minibatches into "
          "groups, by fit and step");
  refused("blr", "learning_rate=1.5", 2, kinds[0], Use::stream,
          "option \"learning_rate\" is 1.5, expected at most 1 for rule \"blr\" on streams");
  refused(
      "kfac", "", 2, kinds[10], Use::rows,
      "the posterior is of family \"kronecker\", but such a posterior is learned from a data set, not from "
      "a stream or from rows that you supply: train it by fit or step");
  refused(
      "exact-full", "", 1, kinds[2], Use::step,
      "method is \"exact-full\", but it takes no single steps: train it by fit, which runs it on all data "
      "until it has converged");
  refused(
      "ekf", "", 4, kinds[2], Use::stream,
      "the data are observed as a stream, but that needs a deterministic network: the network's layer "
      "\"batchnorm\" (line 3) is random or depends on the minibatch. Train by fit with curvature \"mc-ef\"");
}

}  // namespace

int test_needs() {
  const CMUnitTest tests[] = {cmocka_unit_test(what_is_valid_stays_valid),
                              cmocka_unit_test(each_need_is_told), cmocka_unit_test(messages_name_what_asks)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
