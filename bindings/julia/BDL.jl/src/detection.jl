# Uncertainty of classifiers: entropies, scores of positives against negatives, temperatures.

"""
    entropies(probabilities)

Returns the entropy of each row of class probabilities in nats, a vector. `probabilities` is n x K, or n values P(y = 1).

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

Returns `(counts, edges)`: numbers of rows by their entropy, in bins of equal width between 0 and log K.

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

Returns the area under the ROC curve: the probability that a positive example has a higher score than a negative one. Equal scores count
half.

# Examples
```julia
auroc([3, 1, 2], [2, 0])  # 0.75
```
"""
auroc(positive, negative) =
    read_out(out -> LibBDL.bdl_metric_auroc(look(positive), look(negative), out), Float64)

"""
    aupr(positive, negative)

Returns the area under the precision-recall curve (the average precision) of scores, where a higher score means more positive.

# Examples
```julia
aupr([3, 1, 2], [2, 0])
```
"""
aupr(positive, negative) = read_out(out -> LibBDL.bdl_metric_aupr(look(positive), look(negative), out), Float64)

"""
    fpr(positive, negative, tpr = 0.95)

Returns `(fpr, threshold)`: the false positive rate at the largest threshold that at least a share `tpr` of the positives reaches.

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

Returns the smallest mean of the two error rates over all thresholds.

# Examples
```julia
detection_error([3, 1, 2], [2, 0])  # 0.25
```
"""
detection_error(positive, negative) =
    read_out(out -> LibBDL.bdl_metric_detection_error(look(positive), look(negative), out), Float64)

"""
    roc_curve(positive, negative)

Returns `(fpr, tpr, threshold)` from (0, 0) to (1, 1), with a point for each distinct score. [`draw_roc`](@ref) draws it.

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

Returns the area under the ROC curve of certainty for right against wrong predictions: 1 if every right prediction is more certain than
every wrong one, 0.5 for guessing. `score` is `:confidence` (the largest probability) or `:entropy` (minus the entropy).

# Examples
```julia
auroc_correct([0.9 0.1; 0.4 0.6], [0, 0])  # 1.0
```
"""
auroc_correct(probabilities, y; score = :confidence) = read_out(
    out -> LibBDL.bdl_metric_auroc_correct(look(probabilities), look(y), number(SCORES, score), out), Float64)

"""
    out_of_distribution(inside, outside; score = :confidence)

Returns scores that compare class probabilities for data like the training data (`inside`, the positives) with those for other data
(`outside`): `(auroc, aupr, aupr_out, fpr95, threshold, detection_error, entropy_inside, entropy_outside)`.

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

Returns the temperature T between 1/1000 and 1000 for which softmax(logits / T) gives validation data the highest likelihood. Log
probabilities can serve as logits.

# Examples
```julia
fit_temperature([0.0 log(4); 0.0 log(4); 0.0 log(4)], [1, 1, 0])  # 2.0
```
"""
fit_temperature(logits, y) = read_out(out -> LibBDL.bdl_temperature_fit(look(logits), look(y), out), Float64)

"""
    apply_temperature(logits, temperature)

Returns log softmax(logits / temperature), row by row.

# Examples
```julia
exp.(apply_temperature([0.0 log(4)], 2))  # 1/3, 2/3
```
"""
function apply_temperature(logits, temperature::Real)
    f = look(logits)
    return filled(view -> LibBDL.bdl_temperature_apply(f, temperature, view), Matrix{Float64}(undef, f.matrix.rows, f.matrix.cols))
end
