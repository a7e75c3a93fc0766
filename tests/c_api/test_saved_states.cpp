// In every state an optimizer can be saved and loaded, and then is and continues as before: models x families
// x methods x options, before, in and after training.
#include <algorithm>
#include <cstdlib>
#include <map>

#include "combinations.hpp"
#include "support/sanitized.hpp"

namespace {

/// Sanitizers see one state of so many that the release build sees.
constexpr int sanitized_states = bdl::testing::sanitized_stride > 1 ? 30 : 1;

using namespace combinations;

/// Handles of a state, whichever model they began with.
struct State {
  Model model;
  Posterior posterior;
  Optimizer optimizer;
};

/// Empty where it cannot be saved.
std::string bytes_of(const bdl_optimizer* o) {
  std::string bytes(1 << 16, '\0');
  int64_t size = 0;
  if (bdl_save_bytes(nullptr, nullptr, o, bytes.data(), static_cast<int64_t>(bytes.size()), &size) != BDL_OK)
    return {};
  bytes.resize(static_cast<size_t>(size));
  return bytes;
}

/// Another custom model of the same functions: what is loaded has noise of its own.
Model user_model_like(const Subject& subject) {
  if (!std::string(subject.name).starts_with("user's")) return nullptr;
  return user_model(subject.has_gradients ? gradients_of : nullptr);
}

/// Empty where the bytes do not load.
State loaded(const std::string& bytes, const Subject& subject) {
  const Model user = user_model_like(subject);
  bdl_model* m = nullptr;
  bdl_posterior* q = nullptr;
  bdl_optimizer* o = nullptr;
  (void)bdl_load_bytes(bytes.data(), static_cast<int64_t>(bytes.size()), user.get(), &m, &q, &o);
  return {Model(m), Posterior(q), Optimizer(o)};
}

/// Fields and tensors' checksums of a checkpoint.
std::map<std::string, std::string> fields_of(const std::string& file) {
  std::map<std::string, std::string> fields;
  const std::string separator = "\",\"", between = "\":\"";
  size_t at = file.find("{\"") + 2;
  at = file.find("{\"", at) + 2;  // within "__metadata__"
  for (size_t middle; (middle = file.find(between, at)) != file.npos;) {
    const size_t end = file.find('"', middle + between.size());
    fields[file.substr(at, middle - at)] =
        file.substr(middle + between.size(), end - middle - between.size());
    if (file.compare(end, separator.size(), separator) != 0) break;
    at = end + separator.size();
  }
  return fields;
}

/// The first field or tensor in which two files differ.
std::string difference(const std::string& got, const std::string& expected) {
  auto fields = fields_of(got), others = fields_of(expected);
  fields.erase("crc32c");
  for (const auto& [key, value] : fields)
    if (others[key] != value) return key + " is " + value + ", expected " + others[key];
  return "a field is missing";
}

/// Training was taken back to a good state, which a file does not have.
bool has_run_away(const std::string& now, const std::string& before) {
  auto fields = fields_of(now), earlier = fields_of(before);
  return fields["state.has_diverged"] == "1" || fields["state.rate_cuts"] != earlier["state.rate_cuts"];
}

class Check {
 public:
  /// The state survives a file, and training goes on from it as without one, unless it diverges.
  template <class GoOn>
  void state(bdl_optimizer* o, const Subject& subject, const std::string& what, const GoOn& go_on) {
    const std::string saved = bytes_of(o);
    if (saved.empty()) return fails(what, bdl_last_error());
    const State again = loaded(saved, subject);
    if (!again.optimizer) return fails(what, bdl_last_error());
    const std::string resaved = bytes_of(again.optimizer.get());
    if (resaved != saved) return fails(what, "loaded, " + difference(resaved, saved));
    ++states_;
    const bdl_status expected = go_on(o), got = go_on(again.optimizer.get());
    const std::string left = bytes_of(o), right = bytes_of(again.optimizer.get());
    if (left.empty() || right.empty()) return fails(what, bdl_last_error());
    if (has_run_away(left, saved) || has_run_away(right, saved)) return;
    if (got != expected) return fails(what, std::string("goes on with ") + bdl_last_error());
    if (left != right) return fails(what, "gone on, " + difference(right, left));
    ++went_on_;
  }
  /// Fails the test if any has failed.
  void report(int least) const {
    print_message("%d states, of which %d went on\n", states_, went_on_);
    for (size_t k = 0; k < std::min<size_t>(problems_.size(), 30); ++k)
      print_error("%s\n", problems_[k].c_str());
    if (!problems_.empty()) fail_msg("%zu states are not what was saved", problems_.size());
    assert_true(went_on_ >= least / sanitized_states);
  }

 private:
  void fails(const std::string& what, const std::string& why) { problems_.push_back(what + ": " + why); }
  int states_ = 0, went_on_ = 0;
  std::vector<std::string> problems_;
};

/// An optimizer of the subject; null where the method does not learn the family.
struct Trained {
  Posterior posterior;
  Optimizer optimizer;
  std::string name;

  Trained(const Subject& subject, int family, const char* method)
      : posterior(posterior_of(subject.model, family)) {
    bdl_optimizer* created = nullptr;
    if (posterior &&
        bdl_optimizer_create(subject.model.get(), posterior.get(), method, rows, &created) == BDL_OK)
      optimizer.reset(created);
    name = std::string(subject.name) + (bdl_model_dtype(subject.model.get()) == BDL_F32 ? ", f32, " : ", ") +
           families[family] + ", " + method;
    if (optimizer) set("minibatch=2");  // of methods that read it
  }
  bool set(const std::string& text) const {
    return bdl_optimizer_set_text(optimizer.get(), text.c_str()) == BDL_OK;
  }
};

const Data& data() {
  static const Data rows_of_all;
  return rows_of_all;
}

bdl_status go_on(bdl_optimizer* o, const Subject& subject) {
  return use(o, subject, data());
}

/// Options that change what is in a state.
constexpr std::initializer_list<const char*> more = {"shards=2",
                                                     "minibatch=0",
                                                     "momentum=0",
                                                     "total_steps=5",
                                                     "kl_weight=0.5",
                                                     "kl_warmup=0.5",
                                                     "process_noise=0.1",
                                                     "forgetting=0.9",
                                                     "prior_precision=3",
                                                     "tied_rank=1",
                                                     "initial_precision=50",
                                                     "initial_curvature=1",
                                                     "swag=1 swag_from=0 swag_every=1",
                                                     "antithetic=1",
                                                     "sample_groups=2",
                                                     "seed=7",
                                                     "heteroscedastic_from=0",
                                                     "damping=0.1",
                                                     "point_decay=0.1"};

/// Models with more that a file has to hold.
void add_more_subjects(bdl_dtype dtype, std::vector<Subject>& all) {
  const auto add = [&](const char* name, Model model) -> bdl_model* {
    all.push_back({name, std::move(model), 1, true});
    return all.back().model.get();
  };
  const double one[] = {2}, few[] = {0, 2}, shift[] = {0.5, -0.25}, scale[] = {2, 0.5}, target[] = {0.25};
  add("linear Bernoulli", make_mlp(dtype, {inputs, 1}, BDL_BERNOULLI));
  add("linear Gaussian", make_mlp(dtype, {inputs, 1}, BDL_GAUSSIAN));
  OK(bdl_model_set_noise_precision(add("given noise", make_mlp(dtype, {inputs, 2, 1}, BDL_GAUSSIAN)),
                                   bdl_f64(one, 1, 1)));
  OK(bdl_model_set_noise_covariance(add("a noise covariance", make_mlp(dtype, {inputs, 2, 1}, BDL_GAUSSIAN)),
                                    bdl_f64(one, 1, 1)));
  OK(bdl_model_set_classes(add("two classes of three", make_mlp(dtype, {inputs, 2, 3}, BDL_CATEGORICAL)),
                           bdl_f64(few, 1, 2)));
  OK(bdl_model_set_standardization(add("standardised", make_mlp(dtype, {inputs, 2, 1}, BDL_STUDENT_T)),
                                   bdl_f64(shift, 1, 2), bdl_f64(scale, 1, 2), bdl_f64(target, 1, 1),
                                   bdl_f64(one, 1, 1)));
  add("residual", network("input 2; residual; dense 2; batchnorm; tanh; dense 2; end; dense 1", dtype));
  add("image with norms",
      network("input 1 1 2; batchnorm; conv 2 1; batchnorm noaffine; relu; globalavgpool; dense 1", dtype,
              BDL_POISSON));
}

const std::vector<Subject>& all_subjects() {
  static const std::vector<Subject> all = [] {
    std::vector<Subject> both;
    for (const bdl_dtype dtype : {BDL_F64, BDL_F32}) {
      for (Subject& subject : subjects(dtype)) both.push_back(std::move(subject));
      add_more_subjects(dtype, both);
    }
    return both;
  }();
  return all;
}

/// All that go together.
struct Combination {
  const Subject& subject;
  int family;
  const char* method;
};

const std::vector<Combination>& learners() {
  static const std::vector<Combination> all = [] {
    std::vector<Combination> found;
    for (const Subject& subject : all_subjects())
      for (int family = 0; family < family_count; ++family)
        for (int64_t m = 0; m < bdl_method_count(); ++m)
          if (Trained(subject, family, bdl_method_name(m)).optimizer)
            found.push_back({subject, family, bdl_method_name(m)});
    return found;
  }();
  return all;
}

/// True for one of `usual` calls, more seldom where sanitizers look on; where BDL_ALL_STATES is set, for one
/// of that many: for all by 1.
class Some {
 public:
  explicit Some(int usual) : stride_(usual * sanitized_states) {
    if (const char* given = std::getenv("BDL_ALL_STATES")) stride_ = std::max(1, std::atoi(given));
  }
  bool operator()() { return next_++ % stride_ == 0; }

 private:
  int stride_, next_ = 0;
};

/// Options given before training, and others after it.
void check_options(const Subject& subject, int family, const char* method, const std::string& before,
                   const std::string& after, Check& check) {
  const Trained t(subject, family, method);
  if (!t.set(before)) return;
  (void)go_on(t.optimizer.get(), subject);
  if (!after.empty() && !t.set(after)) return;
  const std::string text = "\"" + before + "\"" + (after.empty() ? "" : ", then \"" + after + "\"");
  check.state(t.optimizer.get(), subject, t.name + ", " + text,
              [&](bdl_optimizer* o) { return go_on(o, subject); });
}

void options_before_training(void**) {
  Some usual(1), some(601);
  const Settings all = settings(more);
  Check check;
  for (const Combination& c : learners()) {
    const Subject& subject = c.subject;
    if (usual()) check_options(subject, c.family, c.method, "", "", check);
    for (const std::vector<std::string>* texts : {&all.alone, &all.together})
      for (const std::string& text : *texts)
        if (some()) check_options(subject, c.family, c.method, text, "", check);
  }
  check.report(5500);
}

void options_after_training(void**) {
  Some some(151);
  const Settings all = settings(more);
  Check check;
  size_t next = 0;
  for (const Combination& c : learners()) {
    const Subject& subject = c.subject;
    for (const std::string& text : all.alone) {
      if (some()) check_options(subject, c.family, c.method, "", text, check);
      if (some())
        check_options(subject, c.family, c.method, text, all.alone[next++ % all.alone.size()], check);
    }
  }
  check.report(2000);
}

/// A posterior that has never been trained, with options that say how it will be.
void blank_states(void**) {
  Some some(151);
  const Settings all = settings(more);
  Check check;
  for (const Combination& c : learners()) {
    const Subject& subject = c.subject;
    for (const std::string& text : all.alone) {
      if (!some()) continue;
      const Trained t(subject, c.family, c.method);
      if (t.set(text))
        check.state(t.optimizer.get(), subject, t.name + ", blank, \"" + text + "\"",
                    [&](bdl_optimizer* o) { return go_on(o, subject); });
    }
  }
  check.report(1000);
}

int32_t stops_at(void* user_data, const bdl_optimizer* optimizer) {
  int64_t step = 0;
  OK(bdl_optimizer_progress(optimizer, &step, nullptr, nullptr));
  return step == *static_cast<const int64_t*>(user_data);
}

/// Stopped after each step of a fit, which is then finished.
void stopped_fits(void**) {
  Some some(151);
  const Settings all = settings(more);
  Check check;
  int64_t last = 0;
  for (const Combination& c : learners()) {
    const Subject& subject = c.subject;
    if (!subject.has_gradients) continue;
    const bdl_matrix x = bdl_f64(data().x, rows, inputs), y = bdl_f64(data().y, rows, subject.targets);
    for (const std::string& text : all.alone) {
      if (!some()) continue;
      const Trained t(subject, c.family, c.method);
      if (!t.set(text + " progress_every=1") || is_for_streams(t.optimizer.get())) continue;
      last = last % 5 + 1;
      if (bdl_optimizer_fit(t.optimizer.get(), x, y, 2, stops_at, &last) != BDL_STOPPED) continue;
      check.state(t.optimizer.get(), subject,
                  t.name + ", \"" + text + "\", stopped after step " + std::to_string(last),
                  [&](bdl_optimizer* o) { return bdl_optimizer_fit(o, x, y, 0, nullptr, nullptr); });
    }
  }
  check.report(800);
}

/// Observed, with targets missing, and moved on in time.
void streams(void**) {
  Some some(13);
  Check check;
  for (const Combination& c : learners()) {
    const Subject& subject = c.subject;
    for (const char* text : {"", "process_noise=0.1 transition=0.9", "forgetting=0.9",
                             "iterations=2 rule=blr learning_rate=0.5", "rule=bog", "rule=bbb", "rule=bong",
                             "guard=0", "block=0", "score=plug_in", "low_rank_update=projected"}) {
      const Trained t(subject, c.family, c.method);
      if (!t.set(text) || !is_for_streams(t.optimizer.get()) || !some()) continue;
      std::vector<double> missing(data().y, data().y + rows),
          noise(static_cast<size_t>(bdl_posterior_dimension(t.posterior.get())), 0.01);
      missing[2] = missing[5] = NAN;
      bdl_optimizer* const own = t.optimizer.get();
      const bdl_matrix x = bdl_f64(data().x, rows, inputs),
                       y = bdl_f64(missing.data(), rows, subject.targets);
      const auto observe = [&](bdl_optimizer* o) { return bdl_optimizer_observe(o, x, y, bdl_none_out()); };
      const std::string name = t.name + ", \"" + text + "\"";
      if (observe(own) != BDL_OK) continue;
      check.state(own, subject, name + ", observed", observe);
      if (bdl_optimizer_forecast(own, 3) != BDL_OK) continue;
      check.state(own, subject, name + ", forecast", observe);
      if (bdl_optimizer_set_process_noise(
              own, bdl_f64(noise.data(), 1, static_cast<int64_t>(noise.size()))) != BDL_OK)
        continue;
      check.state(own, subject, name + ", with noise of each parameter's", observe);
    }
  }
  check.report(1000);
}

/// Fixed precisions, and posteriors of every family as priors, before training and after some.
void priors(void**) {
  Some some(23);
  Check check;
  for (const Combination& c : learners()) {
    const Subject& subject = c.subject;
    for (int of_prior = -1; of_prior < family_count; ++of_prior)
      for (const bool is_blank : {true, false}) {
        if (!some()) continue;
        const Trained t(subject, c.family, c.method);
        bdl_optimizer* const own = t.optimizer.get();
        if (!is_blank) (void)go_on(own, subject);
        const int64_t size = bdl_posterior_dimension(t.posterior.get());
        const Vector precision(static_cast<size_t>(size), 2.5);
        const Trained earlier(subject, std::max(of_prior, 0), "map");
        if (of_prior >= 0 && earlier.optimizer) (void)go_on(earlier.optimizer.get(), subject);
        const bdl_status status = of_prior < 0
                                      ? bdl_optimizer_set_prior(own, bdl_f64(precision.data(), 1, size))
                                      : bdl_optimizer_set_prior_posterior(own, earlier.posterior.get());
        if (status != BDL_OK) continue;
        const std::string name = t.name + ", prior " + (of_prior < 0 ? "fixed" : families[of_prior]);
        check.state(own, subject, name, [&](bdl_optimizer* o) { return go_on(o, subject); });
        check.state(own, subject, name + ", trained", [&](bdl_optimizer* o) { return go_on(o, subject); });
      }
  }
  check.report(1000);
}

/// Time that goes on until the precision, or the covariance, is none that a file can hold: it is refused, and
/// what was before loads.
void streams_without_an_end(void**) {
  Some some(2);
  Check check;
  for (const Combination& c : learners()) {
    const Subject& subject = c.subject;
    if (std::string(c.method) != "bong") continue;
    for (const char* text : {"forgetting=0.9", "transition=2", "transition=0.1", "process_noise=1e30"}) {
      const Trained t(subject, c.family, c.method);
      bdl_optimizer* const own = t.optimizer.get();
      if (!some() || !t.set(text) || go_on(own, subject) != BDL_OK) continue;
      for (int times = 0; times < 20 && bdl_optimizer_forecast(own, 400) == BDL_OK; ++times)
        check.state(own, subject, t.name + ", \"" + text + "\", forecast " + std::to_string(times),
                    [](bdl_optimizer* o) { return bdl_optimizer_forecast(o, 1); });
    }
  }
  check.report(1000);
}

}  // namespace

int test_saved_states() {
  const CMUnitTest tests[] = {cmocka_unit_test(options_before_training),
                              cmocka_unit_test(options_after_training),
                              cmocka_unit_test(blank_states),
                              cmocka_unit_test(stopped_fits),
                              cmocka_unit_test(streams),
                              cmocka_unit_test(priors),
                              cmocka_unit_test(streams_without_an_end)};
  return cmocka_run_group_tests(tests, nullptr, nullptr);
}
