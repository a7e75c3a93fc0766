// Learning the scales of a regression by the evidence (docs/mathematics/scales.md, "By the evidence"). A fit
// begins with optimistic noise, so that the mean fits before its errors are explained by noise. It looks at
// the evidence 11 times. When the evidence has fallen, or at the fraction learn_from of the course,
// optimism ends: each further look sets prior and noise. If the evidence was never that of a constant,
// training begins anew with the noise of a constant.
#pragma once

#include "train/scales/linearized_evidence.hpp"

namespace bdl {

/// True if fits of this optimizer learn their scales by the evidence.
template <class T>
bool learns_by_evidence(const Optimizer<T>& optimizer);

/// Returns the scales that the options let it learn.
template <class T>
MovedScales learned_scales_of(const Optimizer<T>& optimizer);

/// Looks at the evidence after a step of a fit, if a look is due.
template <class T>
void look_at_evidence(Optimizer<T>& optimizer, DataSet& data, const EvidenceSample<T>& sample);

}  // namespace bdl
