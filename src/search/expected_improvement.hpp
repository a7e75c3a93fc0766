// What a point promises (Jones, Schonlau, Welch 1998).
#pragma once

namespace bdl {

/// log E[max(0, F - best)] for F ~ N(mean, variance), to rounding also where the expectation underflows.
double log_expected_improvement(double mean, double variance, double best);

}  // namespace bdl
