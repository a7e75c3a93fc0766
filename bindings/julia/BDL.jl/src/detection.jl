# Uncertainty of classifiers: entropies, scores of positives against negatives, temperatures.

"""
    entropies(probabilities)

Entropy of each row of class probabilities, in nats: a vector. Rows are n x K, or n values P(y = 1).

# Examples
```julia
entropies([0.5 0.5; 1.0 0.0])  # 0.693, 0.0
```
"""
function entropies(probabilities)
    p = look(probabilities)
    return filled(view -> LibBDL.bdl_metric_entropy(p, view), Vector{Float64}(undef, p.matrix.rows))
end

"""
    entropy_histogram(probabilities; bins = 15)

`(counts, edges)`: numbers of rows by entropy, in equal-width bins over [0, log K].

# Examples
```julia
entropy_histogram([0.5 0.5; 1.0 0.0]; bins = 4).counts  # 1, 0, 0, 1
```
"""
function entropy_histogram(probabilities; bins::Integer = 15)
    p = look(probabilities)
    counts = filled(view -> LibBDL.bdl_metric_entropy_histogram(p, view), rows(bins, 1, "bins"))
    return (counts = Int.(vec(counts)), edges = range(0, log(max(2, p.matrix.cols)); length = bins + 1))
end

"""
    auroc(positive, negative)

P(a positive has a higher score than a negative), equal scores counting half: the area under the ROC curve.

# Examples
```julia
auroc([3, 1, 2], [2, 0])  # 0.75
```
"""
auroc(positive, negative) =
    read_out(out -> LibBDL.bdl_metric_auroc(look(positive), look(negative), out), Float64)

"""
    aupr(positive, negative)

Average precision of scores, a higher one of which says positive.

# Examples
```julia
aupr([3, 1, 2], [2, 0])
```
"""
aupr(positive, negative) = read_out(out -> LibBDL.bdl_metric_aupr(look(positive), look(negative), out), Float64)

"""
    fpr(positive, negative, tpr = 0.95)

`(fpr, threshold)`: the false positive rate at the largest threshold that a share `tpr` of the positives reaches.

# Examples
```julia
fpr([3, 1, 2], [2, 0]).threshold  # 1.0
```
"""
function fpr(positive, negative, tpr::Real = 0.95)
    rate, threshold = Ref{Float64}(), Ref{Float64}()
    check(LibBDL.bdl_metric_fpr(look(positive), look(negative), tpr, rate, threshold))
    return (fpr = rate[], threshold = threshold[])
end

"""
    detection_error(positive, negative)

The least mean of both error rates over all thresholds.

# Examples
```julia
detection_error([3, 1, 2], [2, 0])  # 0.25
```
"""
detection_error(positive, negative) =
    read_out(out -> LibBDL.bdl_metric_detection_error(look(positive), look(negative), out), Float64)

"""
    roc_curve(positive, negative)

`(fpr, tpr, threshold)` from (0, 0) to (1, 1), a point for each distinct score. [`draw_roc`](@ref) draws it.

# Examples
```julia
roc_curve([3, 1, 2], [2, 0]).threshold  # Inf, 3, 2, 1, 0
```
"""
function roc_curve(positive, negative)
    p, n = look(positive), look(negative)
    curve = filled(view -> LibBDL.bdl_metric_roc_curve(p, n, view), Matrix{Float64}(undef, p.matrix.rows + n.matrix.rows + 1, 3))
    distinct = [k == 1 || curve[k, 3] < curve[k-1, 3] for k in axes(curve, 1)]
    return (fpr = curve[distinct, 1], tpr = curve[distinct, 2], threshold = curve[distinct, 3])
end

"""
    auroc_correct(probabilities, y; score = :confidence)

Whether certainty tells right predictions from wrong ones: their AUROC. `score` is `:confidence`, the largest probability,
or `:entropy`, minus the entropy.

# Examples
```julia
auroc_correct([0.9 0.1; 0.4 0.6], [0, 0])  # 1.0
```
"""
auroc_correct(probabilities, y; score = :confidence) = read_out(
    out -> LibBDL.bdl_metric_auroc_correct(look(probabilities), look(y), number(SCORES, score), out), Float64)

"""
    out_of_distribution(inside, outside; score = :confidence)

How well certainty tells class probabilities of the training distribution, the positives, from those of other data:
`(auroc, aupr, aupr_out, fpr95, threshold, detection_error, entropy_inside, entropy_outside)`.

# Examples
```julia
out_of_distribution([0.9 0.1; 0.2 0.8], [0.5 0.5; 0.6 0.4]).auroc  # 1.0
```
"""
function out_of_distribution(inside, outside; score = :confidence)
    names = fieldnames(LibBDL.bdl_ood_report)[2:end]
    report = Ref(LibBDL.bdl_ood_report(sizeof(LibBDL.bdl_ood_report), zeros(length(names))...))
    check(LibBDL.bdl_metric_ood(look(inside), look(outside), number(SCORES, score), report))
    return NamedTuple{names}(map(name -> getfield(report[], name), names))
end

"""
    fit_temperature(logits, y)

The temperature in [1/1000, 1000] that makes softmax(logits / T) most likely on validation data; log probabilities serve as
logits.

# Examples
```julia
fit_temperature([0.0 log(4); 0.0 log(4); 0.0 log(4)], [1, 1, 0])  # 2.0
```
"""
fit_temperature(logits, y) = read_out(out -> LibBDL.bdl_temperature_fit(look(logits), look(y), out), Float64)

"""
    apply_temperature(logits, temperature)

log softmax(logits / temperature), row by row.

# Examples
```julia
exp.(apply_temperature([0.0 log(4)], 2))  # 1/3, 2/3
```
"""
function apply_temperature(logits, temperature::Real)
    f = look(logits)
    return filled(view -> LibBDL.bdl_temperature_apply(f, temperature, view), Matrix{Float64}(undef, f.matrix.rows, f.matrix.cols))
end
