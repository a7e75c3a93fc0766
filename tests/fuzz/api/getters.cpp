#include "fuzz/api/getters.hpp"

#include <cstring>

#include "fuzz/api/hash.hpp"

namespace fuzz {
namespace {

class Answers {
 public:
  Answers(const bdl_optimizer* optimizer, std::uint64_t& hash) : optimizer_(optimizer), hash_(hash) {}
  std::string problem() const { return problem_; }

  template <class... Parameters, class... Out>
  void ask(const char* name, bdl_status (*function)(const bdl_optimizer*, Parameters...), Out... out) {
    note(name, function(optimizer_, out...));
  }
  /// Number by number, which are the same for the same state.
  template <class T>
  void add(const T& answer) {
    hash_ = hash_of(hash_, &answer, sizeof answer);
  }

 private:
  void note(const char* name, bdl_status status) {
    add(status);
    if (status == BDL_OK) return;
    const std::string message = bdl_last_error(), begin = std::string(name) + ": ";
    const bool is_known = status > BDL_OK && status <= BDL_ERROR_COMMUNICATION;
    if (!is_known || status == BDL_ERROR_INTERNAL || status == BDL_ERROR_OUT_OF_MEMORY ||
        !message.starts_with(begin) || message.size() == begin.size())
      problem_ = std::string(name) + " gives " + bdl_status_name(status) + ": " + message;
  }
  const bdl_optimizer* optimizer_;
  std::uint64_t& hash_;
  std::string problem_;
};

void ask_options(Answers& answers) {
  for (std::int64_t i = 0; i < bdl_option_count(); ++i) {
    const char *name = "", *word = "";
    bdl_option_type type{};
    double real = 0;
    std::int64_t integer = 0;
    bdl_option_describe(i, &name, &type, nullptr, nullptr, nullptr);
    answers.ask("bdl_optimizer_get_double", bdl_optimizer_get_double, name, &real);
    answers.ask("bdl_optimizer_get_int", bdl_optimizer_get_int, name, &integer);
    answers.ask("bdl_optimizer_get_choice", bdl_optimizer_get_choice, name, &word);
    answers.add(real), answers.add(integer);
  }
}

void ask_memory(Answers& answers) {
  for (const std::int64_t minibatch : {0, 1, 5, 200}) {
    std::int64_t bytes = 0;
    answers.ask("bdl_optimizer_memory", bdl_optimizer_memory, minibatch, &bytes);
    answers.add(bytes);
  }
}

}  // namespace

std::string problem_of_getters(const bdl_optimizer* optimizer, std::uint64_t& hash) {
  Answers answers(optimizer, hash);
  double first = 0, second = 0;
  std::int64_t count = 0, planned = 0;
  std::int32_t is_exact = 0;
  const char* text = "";
  ask_memory(answers);
  ask_options(answers);
  answers.ask("bdl_optimizer_minibatch", bdl_optimizer_minibatch, &count);
  answers.ask("bdl_optimizer_progress", bdl_optimizer_progress, &count, &planned, &first);
  answers.ask("bdl_optimizer_running_elbo", bdl_optimizer_running_elbo, &first, &second);
  answers.ask("bdl_optimizer_prequential", bdl_optimizer_prequential, &count, &first, &second);
  answers.ask("bdl_optimizer_diagnose", bdl_optimizer_diagnose, &first, &second, &text);
  answers.ask("bdl_optimizer_noise", bdl_optimizer_noise, &is_exact, &text);
  answers.add(count), answers.add(planned), answers.add(is_exact);
  answers.add(bdl_optimizer_guarded_steps(optimizer)), answers.add(bdl_optimizer_shortened_steps(optimizer));
  if (!bdl_optimizer_method(optimizer)) return "bdl_optimizer_method gives NULL";
  return answers.problem();
}

}  // namespace fuzz
