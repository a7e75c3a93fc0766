#include "fuzz/api/calls.hpp"
#include "fuzz/api/session.hpp"

namespace fuzz {
namespace {

/// Probabilities of classes and labels.
struct Classified {
  std::int64_t n, k;
  bdl_matrix p, y;
  explicit Classified(Session& s)
      : n(s.bytes.below(8)),
        k(1 + s.bytes.below(4)),
        p(s.in(n, k, Kind::probabilities)),
        y(s.in(n, 1, Kind::label, std::max<std::int64_t>(k, 2))) {}
};

/// Scores of positives and of negatives.
struct Scored {
  std::int64_t n, m;
  bdl_matrix positive, negative;
  explicit Scored(Session& s)
      : n(s.bytes.below(6)), m(s.bytes.below(6)), positive(s.in(n, 1)), negative(s.in(m, 1)) {}
};

bdl_score score_of(Session& s) {
  return s.choice<bdl_score>(2);
}

}  // namespace

BDL_CALLS(bdl_metric_rmse) {
  const std::int64_t n = s.bytes.below(5), c = s.bytes.below(4);
  s.reads(bdl_metric_rmse, With{s.in(n, c), s.in(n, c), s.real()});
}

BDL_CALLS(bdl_metric_log_predictive_density) {
  s.reads(bdl_metric_log_predictive_density, With{s.in(s.bytes.below(5), 1), s.real(), s.real()});
}

BDL_CALLS(bdl_metric_accuracy) {
  const Classified a(s);
  s.reads(bdl_metric_accuracy, With{a.p, a.y, s.real()});
}

BDL_CALLS(bdl_metric_brier) {
  const Classified a(s);
  s.reads(bdl_metric_brier, With{a.p, a.y, s.real()});
}

BDL_CALLS(bdl_metric_nll) {
  const Classified a(s);
  s.reads(bdl_metric_nll, With{a.p, a.y, s.real()});
}

BDL_CALLS(bdl_metric_ece) {
  const Classified a(s);
  s.reads(bdl_metric_ece, With{a.p, a.y, s.faulty() ? -s.bytes.below(2) : 1 + s.bytes.below(20), s.real()});
}

BDL_CALLS(bdl_metric_calibration_curve) {
  const Classified a(s);  // empty bins have NaN
  s.reads(bdl_metric_calibration_curve, With{a.p, a.y, s.out(s.bytes.below(6), 3, Finite::or_not)});
}

BDL_CALLS(bdl_metric_entropy) {
  const Classified a(s);
  s.reads(bdl_metric_entropy, With{a.p, s.out(a.n, 1)});
}

BDL_CALLS(bdl_metric_entropy_histogram) {
  const Classified a(s);
  s.reads(bdl_metric_entropy_histogram, With{a.p, s.out(s.bytes.below(6), 1)});
}

BDL_CALLS(bdl_metric_auroc) {
  const Scored a(s);
  s.reads(bdl_metric_auroc, With{a.positive, a.negative, s.real()});
}

BDL_CALLS(bdl_metric_aupr) {
  const Scored a(s);
  s.reads(bdl_metric_aupr, With{a.positive, a.negative, s.real()});
}

BDL_CALLS(bdl_metric_fpr) {
  const Scored a(s);
  s.reads(bdl_metric_fpr, With{a.positive, a.negative, s.number(), s.real(), s.real()});
}

BDL_CALLS(bdl_metric_detection_error) {
  const Scored a(s);
  s.reads(bdl_metric_detection_error, With{a.positive, a.negative, s.real()});
}

BDL_CALLS(bdl_metric_roc_curve) {
  const Scored a(s);  // the first threshold is infinite
  s.reads(bdl_metric_roc_curve, With{a.positive, a.negative, s.out(a.n + a.m + 1, 3, Finite::or_not)});
}

BDL_CALLS(bdl_metric_auroc_correct) {
  const Classified a(s);
  s.reads(bdl_metric_auroc_correct, With{a.p, a.y, score_of(s), s.real()});
}

BDL_CALLS(bdl_metric_ood) {
  const std::int64_t k = 1 + s.bytes.below(4);
  const bdl_matrix inside = s.in(s.bytes.below(6), k, Kind::probabilities),
                   outside = s.in(s.bytes.below(6), k, Kind::probabilities);
  bdl_ood_report report{};
  report.struct_size = s.faulty() ? s.bytes.next() : sizeof report;
  s.reads(bdl_metric_ood, With{inside, outside, score_of(s), s.faulty() ? nullptr : &report});
  for (const double value :
       {report.auroc, report.aupr, report.aupr_out, report.fpr95, report.detection_error})
    if (!(value >= 0 && value <= 1)) s.broken("a report that is not between 0 and 1");
}

BDL_CALLS(bdl_temperature_fit) {
  const std::int64_t n = s.bytes.below(6), k = 1 + s.bytes.below(4);
  s.reads(bdl_temperature_fit, With{s.in(n, k), s.in(n, 1, Kind::label, k), s.real()});
}

BDL_CALLS(bdl_temperature_apply) {
  const std::int64_t n = s.bytes.below(6), k = 1 + s.bytes.below(4);
  s.reads(bdl_temperature_apply, With{s.in(n, k), s.number(), s.out(n, k)});
}

BDL_CALLS(bdl_metric_coverage) {
  const std::int64_t n = s.bytes.below(5), c = 1 + s.bytes.below(3);
  s.reads(bdl_metric_coverage, With{s.in(n, c), s.in(n, c), s.in(n, c), s.real()});
}

BDL_CALLS(bdl_metric_crps) {
  const std::int64_t n = s.bytes.below(5);
  s.reads(bdl_metric_crps, With{s.in(n, 1 + s.bytes.below(4)), s.in(n, 1), s.real()});
}

BDL_CALLS(bdl_metric_waic) {
  const std::int64_t draws = s.bytes.below(40), n = s.bytes.below(5);
  s.reads(bdl_metric_waic, With{s.in(draws, n), s.perhaps(n, 2), s.real(), s.real(), s.real()});
}

BDL_CALLS(bdl_metric_loo) {
  const std::int64_t draws = s.bytes.below(40), n = s.bytes.below(5);
  s.reads(bdl_metric_loo,
          With{s.in(draws, n), s.perhaps(n, 3, Finite::or_infinite), s.real(), s.real(), s.real()});
}

}  // namespace fuzz
