#include "bits/cases.hpp"

#include <string_view>

namespace bits {
namespace {

const std::vector<Family> factored = {{"rank-0", BDL_LOW_RANK, 0}, {"rank-2", BDL_LOW_RANK, 2}};

const std::vector<Family> gaussian = {factored[0],
                                      factored[1],
                                      {"full", BDL_FULL, 0},
                                      {"full-moment", BDL_FULL_MOMENT, 0},
                                      {"diagonal-moment", BDL_DIAGONAL_MOMENT, 0}};

const Family dropout = {"dropout", BDL_DROPOUT, 0};

std::vector<Family> every_family() {
  std::vector<Family> families = gaussian;
  families.push_back(dropout);
  return families;
}

std::vector<const char*> every_method() {
  std::vector<const char*> methods;
  for (std::int64_t i = 0; bdl_method_name(i); ++i) methods.push_back(bdl_method_name(i));
  return methods;
}

const std::vector<std::string> batch_options = {
    "momentum=0 guard=0",
    "sampling=replacement samples=1",
    "schedule=power decay=0.5",
    "low_rank_update=moving_average",
    "eigen_method=gram",
    "eigen_method=outer",
    "eigen_method=randomized",
    "mean_update=unprojected",
    "prior_groups=shared bias_prior_precision=2",
    "prior_groups=layers",
    "prior_groups=blocks prior_scaling=fan_in",
    "learn_prior=0 learn_noise=0 initialization=he",
    "start_share=0.01 minibatch=0 minibatches=4",
    "curvature=mc-hess",
    "curvature=mc-hess probes=2",
    "laplace=1",
};

const std::vector<std::string> first_order_options = {"descent=sgd learning_rate=0.001",
                                                      "scale_parameter=softplus"};

const std::vector<std::string> stream_options = {
    "block=5",
    "block=0",
    "transition=0.9 process_noise=0.01",
    "forgetting=0.9 guard=0",
    "score=plug_in",
    "mean_update=projected",
    "curvature=mc-hess probes=2",
};

/// The step length of each rule, and the number of steps, where it reads them.
std::string stream_rate(std::string_view rule) {
  if (rule == "bong") return "";
  return rule == "bog" ? "learning_rate=0.0625 " : "learning_rate=0.0625 iterations=2 ";
}

/// Each rule with each estimate of the curvature.
std::vector<std::string> stream_rules() {
  std::vector<std::string> all;
  for (const char* rule : {"bong", "blr", "bog", "bbb"})
    for (const char* curvature :
         {"mc-ef", "mc-ggn", "mc-hess", "lin-hess", "lin-ef", "exact-hess", "mc-reparam"})
      all.push_back(stream_rate(rule) + "rule=" + rule + " curvature=" + curvature);
  return all;
}

}  // namespace

std::string Case::name() const {
  std::string text = std::string(problem->name) + "/" + method + "/" + family.name;
  if (!options.empty()) text += "/" + options;
  for (char& c : text)
    if (c == ' ') c = ',';
  return text;
}

void Cases::add(const std::vector<Problem>& problems, const std::vector<Family>& families,
                const std::vector<const char*>& methods, const std::vector<std::string>& options) {
  for (const Problem& problem : problems)
    for (const char* method : methods)
      for (const Family& family : families)
        for (const std::string& option : options) cases_.push_back({&problem, family, method, option});
}

Cases::Cases()
    : small_(problems(Size::small)), likelihoods_(problems(Size::likelihood)), wide_(problems(Size::wide)) {
  add(small_, every_family(), every_method());
  add(likelihoods_, gaussian, {"slang", "slang-ggn", "bong"});
  add(likelihoods_, {dropout}, {"mc-dropout"});
  add(small_, gaussian, {"slang"}, batch_options);
  add(small_, {factored[0]}, {"bbb", "map"}, first_order_options);
  add(small_, gaussian, {"bong"}, stream_options);
  add(small_, gaussian, {"bong"}, stream_rules());
  add(wide_, {factored[1]}, {"slang", "slang-ggn", "slang-lin-hess", "slang-online-eig", "lo-fi"});
  add(wide_, {factored[0]}, {"slang", "bbb", "von", "map", "vd-ekf"});
  add(wide_, {dropout}, {"mc-dropout"});
}

}  // namespace bits
