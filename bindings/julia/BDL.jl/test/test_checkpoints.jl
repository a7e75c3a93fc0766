# Files and serialization: training that goes on gives identical results.

through_bytes(object) = (io = IOBuffer(); serialize(io, object); seekstart(io); deserialize(io))

mktempdir() do folder
    path = joinpath(folder, "checkpoint")
    optimizer = small_optimizer()
    model, q = optimizer.model, optimizer.posterior

    save(path, optimizer)
    parts = load(path)
    revived = (parts.optimizer, through_bytes(optimizer), copy(optimizer), deepcopy(optimizer))
    step!(optimizer, X, y)
    for other in revived
        step!(other, X, y)
        @test mean(other.posterior) == mean(q)
        @test predict(other.model, other.posterior, X; samples = 3) == predict(model, q, X; samples = 3)
    end
    @test parts.posterior === parts.optimizer.posterior && parts.model === parts.optimizer.model

    save(path, q)
    @test load(path).model === nothing && mean(load(path).posterior) == mean(q)
    save(path, model)
    @test load(path).posterior === nothing && nparameters(load(path).model) == nparameters(model)
    save(path, model, q)
    @test load(path).optimizer === nothing && mean(load(path).posterior) == mean(q)
    @test mean(through_bytes(q)) == mean(q)
    @test noise_precision(through_bytes(model)) == noise_precision(model)
    @test mean(through_bytes([q, q])[2]) == mean(q)

    # A model of one's own has to be given again, but goes along in serialization.
    own = own_linear_model()
    trained = step!(Optimizer(own, Posterior(own), 60), X, y)
    save(path, trained)
    @test_throws InvalidArgumentError load(path)
    again = load(path; user_model = own)
    @test again.model === own
    back = through_bytes(trained)
    GC.gc()
    foreach(optimizer -> step!(optimizer, X, y), (trained, again.optimizer, back))
    @test mean(trained.posterior) == mean(again.posterior) == mean(back.posterior)
    expected, twin = evaluate(own, [1, 2, 3], X), copy(own)
    own = nothing
    GC.gc()
    @test evaluate(twin, [1, 2, 3], X) == expected

    # A step without a model.
    rows = step_rows!(Optimizer(nothing, Posterior(3), "slang", 60), X)
    save(path, rows)
    @test load(path).model === nothing && mean(load(path).optimizer.posterior) == mean(rows.posterior)

    # Bytes are not trusted, whatever is done to them.
    bytes = BDL.saved_bytes(nothing, nothing, small_optimizer())
    for k in 1:20:length(bytes)
        write(path, bytes[1:k-1])
        @test_throws FormatError load(path)
    end
end

# Names and labels, as they were.
@testset "names" begin
    X = [sin.(1:60) cos.(3 .* (1:60))]
    mktempdir() do folder
        path = joinpath(folder, "a.safetensors")
        for labels in (["no", "yes"], [:no, :yes], [false, true], [-3, 12], [0.5, 1e300])
            m = fit(BayesianGLM, X, [labels[1+(x > 0)] for x in X[:, 1]]; family = :bernoulli, progress = false)
            save(path, m)
            parts = load(path)
            expected = eltype(labels) <: Symbol ? string.(labels) : labels
            @test class_labels(parts.model) == expected && eltype(class_labels(parts.model)) == eltype(expected)
        end
        model = set_names!(Model((2, 3); likelihood = :categorical); inputs = ["length", "width\n\\"], targets = ["size"])
        save(path, model)
        model = load(path).model
        @test input_names(model) == ["length", "width\n\\"] && target_names(model) == ["size"] && class_labels(model) === nothing
        @test input_names(set_names!(model; inputs = nothing)) === nothing
        @test_throws ShapeError set_names!(model; classes = ["a", "b"])
        @test_throws LabelError set_names!(model; classes = ["a", 1, 2])
        @test_throws ShapeError set_names!(Model((2, 1)); classes = ["a"])
        @test_throws InvalidArgumentError set_names!(model; input = ["a"])
    end
end
