#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "io/checkpoint.hpp"
#include "io/file.hpp"

namespace bdl {
namespace {

constexpr DeletedOption all_deleted[] = {
    {"exchange", "automatic", "rows"},
    {"matrix_gradient", "symmetric"},
    {"moment_jitter", "0"},
};

void check_deleted_option(const DeletedOption& option, const std::string& value) {
  if (value == option.default_value || (option.same_value && value == option.same_value)) return;
  fail(Status::ERROR_FORMAT,
       "option \"%s\" is \"%s\", but this version has no such option and does what \"%s\" did: load the file "
       "with the libbdl that wrote it, set the option to \"%s\" and save it again",
       option.name, shown(value).c_str(), option.default_value, option.default_value);
}

}  // namespace

std::span<const DeletedOption> deleted_options() {
  return all_deleted;
}

void check_deleted_options(const RecordReader& record) {
  for (const DeletedOption& option : all_deleted) {
    const std::string key = std::string("option.") + option.name;
    if (record.has(key)) check_deleted_option(option, record.text(key));
  }
}

namespace {

void write_options(RecordWriter& record, const Options& options) {
  for (const OptionInfo& info : option_table()) {
    const std::string key = std::string("option.") + info.name;
    if (info.type == OptionType::real)
      record.real(key, options.*info.real);
    else if (info.type == OptionType::integer)
      record.integer(key, options.*info.integer);
    else
      record.text(key, choice_word(info, info.choice(options)));
  }
}

/// Reads all options. Those that an older file lacks get the value that its version used.
Options read_options(const RecordReader& record, Options options) {
  check_deleted_options(record);
  options.guard = options.start_share = 0;
  options.minibatches = 200;
  options.prior_scaling = PriorScaling::unit;
  options.indefinite = Indefinite::shorten;
  options.evidence = EvidenceUse::none;
  for (const OptionInfo& info : option_table()) {
    const std::string key = std::string("option.") + info.name;
    if (!record.has(key)) continue;
    if (info.type == OptionType::real)
      set_option(options, info, record.real(key));
    else if (info.type == OptionType::integer)
      set_option(options, info, record.integer(key, INT64_MIN, INT64_MAX));
    else
      set_option(options, info, record.text(key).c_str());
  }
  return options;
}

constexpr const char* prior_prefix = "prior.posterior.";
/// Values of field prior.fixed. A reader that does not know the last one refuses it.
enum : Index { by_groups = 0, by_parameter = 1, by_posterior = 2, by_normals = 3 };

void write_normals(RecordWriter& record, const NormalPrior& normals) {
  record.integer("prior.of_coefficients", normals.of_coefficients ? 1 : 0);
  record.vector<double>("prior.location", normals.location);
  record.vector<double>("prior.scale", normals.scale);
}

template <class T>
void write_prior(RecordWriter& record, const Optimizer<T>& optimizer) {
  const Prior<T>& prior = optimizer.prior();
  record.integer("prior.fixed", prior.has_normals() ? by_normals
                                : prior.posterior() ? by_posterior
                                : prior.is_fixed()  ? by_parameter
                                                    : by_groups);
  if (prior.has_normals()) write_normals(record, optimizer.normals());
  if (prior.has_normals() && prior.is_fixed()) return;
  if (prior.posterior() && !prior.has_normals())
    write_posterior(record, *prior.posterior(), prior_prefix);
  else if (prior.is_fixed())
    record.vector("prior.precision", prior.precision());
  else
    record.vector("prior.groups", prior.groups());
}

template <class T>
void read_normals(const RecordReader& record, Optimizer<T>& optimizer) {
  NormalPrior normals;
  normals.of_coefficients = record.integer("prior.of_coefficients", 0, 1) == 1;
  const Index count = normals.of_coefficients ? checked_coefficient_count(optimizer.model().get())
                                              : optimizer.posterior()->dimension();
  normals.location.resize(static_cast<std::size_t>(count));
  normals.scale.resize(static_cast<std::size_t>(count));
  record.vector<double>("prior.location", normals.location, Numbers::any);
  record.vector<double>("prior.scale", normals.scale, Numbers::any);
  optimizer.set_normals(std::move(normals));
}

template <class T>
void read_prior(const RecordReader& record, Optimizer<T>& optimizer) {
  Prior<T>& prior = optimizer.prior();
  const Index fixed = record.integer("prior.fixed", by_groups, by_normals);
  if (fixed == by_posterior) return optimizer.set_prior(read_posterior<T>(record, prior_prefix));
  if (fixed == by_parameter) {
    std::vector<T> precision(prior.precision().size());
    record.vector<T>("prior.precision", precision, Numbers::positive);
    return optimizer.set_prior(ConstSpan<T>(precision));
  }
  if (fixed == by_normals) read_normals(record, optimizer);
  if (prior.is_fixed()) return;
  std::vector<double> groups(prior.groups().size());
  record.vector<double>("prior.groups", groups, Numbers::positive);
  prior.set_groups(groups);
}

template <class T>
void read_process_noise(const RecordReader& record, Optimizer<T>& optimizer) {
  if (!record.has("optimizer.process_noise")) return;
  std::vector<T> noise(static_cast<std::size_t>(optimizer.posterior()->dimension()));
  record.vector<T>("optimizer.process_noise", noise, Numbers::not_negative);
  optimizer.filter.set_process_noise(noise);
}

/// Finds out whether an older file's posterior is a mode: its precision is that of the start.
template <class T>
void recognize_mode(const RecordReader& record, Optimizer<T>& optimizer) {
  Posterior<T>& q = *optimizer.posterior();
  if (record.has("posterior.has_covariance") || optimizer.options().rule != Rule::map) return;
  if (q.is_blank() || !q.is_gaussian()) return;
  Buffer<T> precision(q.dimension());
  q.precision_diagonal(precision.first(q.dimension()));
  q.set_has_covariance(
      !std::ranges::equal(precision.first(q.dimension()), optimizer.initial_precision(),
                          [](T now, T start) { return std::abs(now - start) <= T(1e-5) * start; }));
}

}  // namespace

template <class T>
void write_optimizer(RecordWriter& record, const Optimizer<T>& optimizer) {
  record.text("optimizer.method", optimizer.method().name);
  record.integer("optimizer.data_size", optimizer.data_size());
  write_options(record, optimizer.options());
  write_prior(record, optimizer);
  if (const auto noise = optimizer.filter.process_noise(); !noise.empty())
    record.vector("optimizer.process_noise", noise);
  write_training(record, optimizer);
  write_stream(record, optimizer);
}

template <class T>
std::shared_ptr<Optimizer<T>> read_optimizer(const RecordReader& record, std::shared_ptr<Model<T>> model,
                                             std::shared_ptr<Posterior<T>> posterior) {
  if (!posterior) fail(Status::ERROR_FORMAT, "the file has an optimizer without a posterior");
  if (model && model->parameters() != posterior->dimension())
    fail(Status::ERROR_FORMAT, "the file's model and posterior have different numbers of parameters");
  return reading_file([&] {
    const Method& method = find_method(record.text("optimizer.method").c_str());
    auto optimizer = std::make_shared<Optimizer<T>>(std::move(model), std::move(posterior), method,
                                                    record.integer("optimizer.data_size", 1, most_counted));
    optimizer->set_options(read_options(record, optimizer->options()));
    read_prior(record, *optimizer);
    read_process_noise(record, *optimizer);
    read_training(record, *optimizer);
    read_stream(record, *optimizer);
    recognize_mode(record, *optimizer);
    return optimizer;
  });
}

template void write_optimizer(RecordWriter&, const Optimizer<float>&);
template void write_optimizer(RecordWriter&, const Optimizer<double>&);
template std::shared_ptr<Optimizer<float>> read_optimizer(const RecordReader&, std::shared_ptr<Model<float>>,
                                                          std::shared_ptr<Posterior<float>>);
template std::shared_ptr<Optimizer<double>> read_optimizer(const RecordReader&,
                                                           std::shared_ptr<Model<double>>,
                                                           std::shared_ptr<Posterior<double>>);

}  // namespace bdl
