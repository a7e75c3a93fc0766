// "evidence-golden-1": Laplace's approximation of small networks in each family: curvature, evidence under
// several priors, and the precisions at which it is greatest.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "golden.hpp"

namespace golden {
namespace {

constexpr std::int64_t no_rank = 0;

bdl_likelihood likelihood_of(const std::string& word) {
  if (word == "categorical") return BDL_CATEGORICAL;
  return word == "bernoulli" ? BDL_BERNOULLI : BDL_GAUSSIAN;
}

/// Rows as a matrix in C order.
struct Table {
  explicit Table(const Json& rows) : values(flatten(rows)), count(static_cast<std::int64_t>(rows.size())) {}
  bdl_matrix view() const {
    return bdl_f64(values.data(), count, static_cast<std::int64_t>(values.size()) / count);
  }
  Vector values;
  std::int64_t count;
};

/// The handles of one case, with the approximation made at prior precision 1.
class Case {
 public:
  Case(const Json& problem, const Json& json)
      : problem_(problem), json_(json), x_(problem.at("x")), y_(problem.at("y")) {
    check(bdl_model_create_network(BDL_F64, problem.at("description").get<std::string>().c_str(),
                                   likelihood_of(problem.at("likelihood")), &model_));
    if (problem.contains("noise_precision"))
      check(bdl_model_set_noise_precision(model_, row({problem.at("noise_precision").get<double>()})));
    dimension_ = bdl_model_parameters(model_);
    create_posterior(json.at("structure"));
    check(bdl_optimizer_create(model_, posterior_, "laplace", x_.count, &optimizer_));
    set("fisher=" + json.at("fisher").get<std::string>() + " prior_precision=1 prior_groups=shared");
    set_mean();
    check(bdl_optimizer_laplace(optimizer_, x_.view(), y_.view()));
  }
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;
  ~Case() {
    bdl_optimizer_free(optimizer_);
    bdl_posterior_free(posterior_);
    bdl_model_free(model_);
  }

  double largest_error() {
    compare_posterior();
    for (const Json& value : json_.at("evidence")) compare_evidence(value);
    for (const auto& [word, groups] : std::map<std::string, std::string>{
             {"scalar", "shared"}, {"layers", "layers"}, {"blocks", "blocks"}, {"with_noise", "shared"}})
      if (json_.at("optimum").contains(word)) compare_optimum(word, groups);
    return worst_;
  }

 private:
  void create_posterior(const std::string& structure) {
    if (structure == "full") return check(bdl_posterior_create_full(BDL_F64, dimension_, &posterior_));
    if (structure == "layerwise_full") return check(bdl_posterior_create_layerwise_full(model_, &posterior_));
    if (structure == "kronecker") return check(bdl_posterior_create_kronecker(model_, &posterior_));
    const std::int64_t rank = structure == "low_rank" ? json_.at("rank").get<std::int64_t>() : no_rank;
    check(bdl_posterior_create_low_rank(BDL_F64, dimension_, rank, &posterior_));
  }

  void set(const std::string& options) { check(bdl_optimizer_set_text(optimizer_, options.c_str())); }

  void set_mean() {
    const auto mean = problem_.at("theta").get<Vector>();
    const auto running_mean = problem_.at("running_mean").get<Vector>(),
               running_variance = problem_.at("running_variance").get<Vector>();
    const char* const names[] = {"mean", "running_mean", "running_variance"};
    const bdl_matrix tensors[] = {row(mean), row(running_mean), row(running_variance)};
    check(bdl_posterior_set_tensors(posterior_, names, tensors, running_mean.empty() ? 1 : 3));
  }

  /// Returns the numbers of the parameters that are no points.
  Vector uncertain(const Vector& all) const {
    Vector some;
    for (const Json& range : json_.at("subset"))
      some.insert(some.end(), all.begin() + range[0].get<std::ptrdiff_t>(),
                  all.begin() + range[1].get<std::ptrdiff_t>() + 1);
    return some;
  }

  void compare(const std::string& name, const Vector& got, const Vector& expected,
               double allowed = tolerance) {
    const double error = golden::error(got, expected) / allowed * tolerance;
    if (error > tolerance)
      std::printf("    %s %s, %s: %.3g\n", json_.at("structure").get<std::string>().c_str(),
                  json_.at("fisher").get<std::string>().c_str(), name.c_str(), error);
    worst_ = std::max(worst_, error);
  }

  void compare_posterior() {
    Vector numbers(static_cast<std::size_t>(dimension_));
    if (json_.contains("variance")) {
      check(bdl_posterior_marginal_variance(posterior_, row_out(numbers)));
      compare("variance", uncertain(numbers), json_.at("variance").get<Vector>());
    }
    if (json_.at("structure") != "kronecker") {
      check(bdl_posterior_precision_diagonal(posterior_, row_out(numbers)));
      for (double& value : numbers) value -= 1;
      compare("curvature", uncertain(numbers), json_.at("curvature_diagonal").get<Vector>());
    }
    double log_likelihood = 0, gap = 0;
    check(bdl_optimizer_evidence(optimizer_, bdl_none(), bdl_none(), nullptr, &log_likelihood, nullptr));
    compare("log likelihood", {log_likelihood}, {problem_.at("log_likelihood").get<double>()});
    if (!json_.contains("mode_gap")) return;
    check(bdl_optimizer_mode_gap(optimizer_, x_.view(), y_.view(), &gap));
    compare("mode gap", {gap}, {json_.at("mode_gap").get<double>()});
  }

  void compare_evidence(const Json& value) {
    Vector precisions(1, value.value("prior_precision", 1.0));
    for (const auto& [key, groups] :
         std::map<std::string, std::string>{{"prior_blocks", "blocks"}, {"prior_layers", "layers"}})
      if (value.contains(key)) {
        set("prior_groups=" + groups);
        precisions = value.at(key).get<Vector>();
      }
    set("kl_weight=" + std::to_string(value.value("temperature", 1.0)));
    const Vector noise(1, value.value("noise_precision", 1.0));
    double evidence = 0;
    check(bdl_optimizer_evidence(optimizer_, row(precisions),
                                 value.contains("noise_precision") ? row(noise) : bdl_none(), &evidence,
                                 nullptr, nullptr));
    compare("evidence", {evidence}, {value.at("value").get<double>()});
    set("kl_weight=1 prior_groups=shared");
  }

  void compare_optimum(const std::string& word, const std::string& groups) {
    constexpr double of_precisions = 1e-7;
    const Json& expected = json_.at("optimum").at(word);
    const bool with_noise = word == "with_noise";
    set("prior_groups=" + groups);
    double evidence = 0;
    check(bdl_optimizer_maximize_evidence(optimizer_, with_noise ? "prior noise" : "prior", &evidence,
                                          nullptr));
    compare(word, {evidence}, {expected.at("value").get<double>()});
    Vector prior(static_cast<std::size_t>(dimension_));
    check(bdl_optimizer_get_prior(optimizer_, row_out(prior)));
    const auto precisions = expected.at("precision").get<Vector>();
    Vector found;  // the precisions as they change along the parameters
    for (const double value : uncertain(prior))
      if (found.empty() || value != found.back()) found.push_back(value);
    for (std::size_t g = 0; g < precisions.size(); ++g)
      compare(word + " precision", {found.at(g)}, {precisions[g]}, of_precisions);
    if (!with_noise) return;
    Vector noise(1);
    check(bdl_model_get_noise_precision(model_, row_out(noise)));
    compare("noise", noise, {expected.at("noise_precision").get<double>()}, of_precisions);
  }

  const Json &problem_, &json_;
  Table x_, y_;
  std::int64_t dimension_ = 0;
  bdl_model* model_ = nullptr;
  bdl_posterior* posterior_ = nullptr;
  bdl_optimizer* optimizer_ = nullptr;
  double worst_ = 0;
};

}  // namespace

bool replay_evidence(const Json& file) {
  bool good = true;
  for (const Json& problem : file.at("problems")) {
    double worst = 0;
    for (const Json& json : problem.at("cases")) worst = std::max(worst, Case(problem, json).largest_error());
    std::printf("%-20s %.3g\n", problem.at("name").get<std::string>().c_str(), worst);
    good = good && worst <= tolerance;
  }
  return good;
}

}  // namespace golden
