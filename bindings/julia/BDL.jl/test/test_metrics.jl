# Scores of classification and of out-of-distribution detection, against Julia's own arithmetic.

area(positive, negative) = mean((p > n) + (p == n) / 2 for p in positive, n in negative)

rng = MersenneTwister(3)
rows_of(n, power) = (raw = randexp(rng, n, 4) .^ power; raw ./ sum(raw; dims = 2))
inside, outside = rows_of(200, 1), rows_of(70, 0.3)
predicted = vec(getindex.(argmax(inside; dims = 2), 2)) .- 1
labels = mod.(predicted .+ (mod.(1:200, 3) .== 0), 4)
confidence, confidence_outside = vec(maximum(inside; dims = 2)), vec(maximum(outside; dims = 2))
right = predicted .== labels

let curve = calibration_curve(inside, labels; bins = 20), bin = ceil.(Int, confidence .* 20), used = curve.counts .> 0
    @test curve.counts == [count(==(b), bin) for b in 1:20]
    @test curve.accuracy[used] ≈ [mean(right[bin .== b]) for b in findall(used)]
    @test curve.confidence[used] ≈ [mean(confidence[bin .== b]) for b in findall(used)]
    @test all(isnan, curve.accuracy[.!used])
    @test ece(inside, labels; bins = 20) ≈ sum(curve.counts[used] ./ 200 .* abs.(curve.accuracy[used] .- curve.confidence[used]))
    @test nll(inside, labels) ≈ -mean(log(inside[i, labels[i]+1]) for i in 1:200)
end

let found = -vec(sum(inside .* log.(inside); dims = 2)), histogram = entropy_histogram(inside; bins = 10)
    @test entropies(inside) ≈ found
    @test entropies([0.5, 0.0]) ≈ [log(2), 0]
    @test histogram.counts == [count(==(b), ceil.(Int, found ./ log(4) .* 10)) for b in 1:10]
    @test extrema(histogram.edges) == (0, log(4))
    @test auroc_correct(inside, labels; score = :entropy) ≈ area(-found[right], -found[.!right])
end

@test auroc([3, 1, 2], [2, 0]) == 0.75
@test aupr([3, 1, 2], [2, 0]) ≈ (1 + 2 / 3 + 3 / 4) / 3
@test fpr([3, 1, 2], [2, 0]) == (fpr = 0.5, threshold = 1.0)
@test detection_error([3, 1, 2], [2, 0]) ≈ 0.25
let curve = roc_curve([3, 1, 2], [2, 0])
    @test curve.fpr == [0, 0, 0.5, 0.5, 1] && curve.tpr ≈ [0, 1, 2, 3, 3] ./ 3 && curve.threshold == [Inf, 3, 2, 1, 0]
end

let report = out_of_distribution(inside, outside)
    @test report.auroc ≈ area(confidence, confidence_outside)
    @test report.aupr ≈ aupr(confidence, confidence_outside) && report.aupr_out ≈ aupr(-confidence_outside, -confidence)
    @test (fpr = report.fpr95, threshold = report.threshold) == fpr(confidence, confidence_outside)
    @test report.detection_error ≈ detection_error(confidence, confidence_outside)
    @test report.entropy_inside ≈ mean(entropies(inside)) && report.entropy_outside ≈ mean(entropies(outside))
    @test out_of_distribution(inside, outside; score = :entropy).auroc ≈ area(-entropies(inside), -entropies(outside))
end
@test auroc_correct(inside, labels) ≈ area(confidence[right], confidence[.!right])

let logits = log.(inside), temperature = fit_temperature(logits, labels), loss = t -> nll(exp.(apply_temperature(logits, t)), labels)
    @test loss(temperature) < min(loss(0.999 * temperature), loss(1.001 * temperature))
    @test fit_temperature(2 .* logits, labels) ≈ 2 * temperature
    @test apply_temperature(logits, 3) ≈ logits ./ 3 .- log.(sum(exp.(logits ./ 3); dims = 2))
end

mktempdir() do folder
    path = joinpath(folder, "chart.svg")
    parts(tag) = length(collect(eachmatch(Regex("<" * tag * " "), read(path, String))))
    @test draw_reliability(path, inside, labels).counts == calibration_curve(inside, labels; bins = 10).counts
    @test parts("circle") == count(>(0), calibration_curve(inside, labels; bins = 10).counts)
    @test draw_roc(path, confidence, confidence_outside) == roc_curve(confidence, confidence_outside)
    @test occursin("AUROC", read(path, String)) && parts("polyline") == 2
    @test length(draw_entropies(path, "in" => inside, "out & far" => outside)) == 2
    @test occursin("out &amp; far", read(path, String)) && parts("polyline") == 2
end
