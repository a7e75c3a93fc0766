# A world of one rank (of two: interrupted.jl, which has threads): identical results, exceptions, wrong messages.

struct NoCable <: Exception end

no_peer(peer, message) = error("there is no peer")
world(all_gather = message -> [message]; rank = 0, size = 1) = Communicator(all_gather, no_peer; rank = rank, size = size)

function rank_learner(method = "vogn"; options...)
    model = Model((2, 3, 1))
    return Optimizer(model, Posterior(model; rank = 0), method, 100; minibatch = 20, options...)
end

@testset "one rank trains as if alone" begin
    x, y = SET_X, SET_Y
    expected, optimizer, ranks = rank_learner(), rank_learner(), world()
    @test (rank(ranks), length(ranks)) == (0, 1)
    @test sprint(show, ranks) == "Communicator(rank 0 of 1)"
    @test set_communicator!(optimizer, ranks) === optimizer
    fit!(optimizer, Dataset(x, y); epochs = 1)
    GC.gc()
    fit!(optimizer, x, y; epochs = 1)
    step!(optimizer, x, y)
    foreach(_ -> fit!(expected, x, y; epochs = 1), 1:2)
    @test mean(optimizer.posterior) == mean(step!(expected, x, y).posterior)
    @test traffic(ranks).calls > 0 && traffic(ranks).seconds >= 0
    close(ranks)  # the optimizer keeps what it needs
    fit!(optimizer, x, y; epochs = 1)
    @test_throws InvalidArgumentError length(ranks)
    fit!(copy(optimizer), x, y; epochs = 1)
    set_draws!(optimizer, (kind, step, iteration, m, s, n) -> m .+ s .* ones(length(m), n))
    GC.gc()
    step!(optimizer, x, y)  # both are kept
end

@testset "exceptions come out, and the communicator is broken" begin
    optimizer = set_communicator!(rank_learner(), world(message -> throw(NoCable())))
    @test_throws NoCable fit!(optimizer, SET_X, SET_Y; epochs = 1)
    @test_throws CommunicationError fit!(optimizer, SET_X, SET_Y; epochs = 1)
    fit!(set_communicator!(optimizer, nothing), SET_X, SET_Y; epochs = 1)
    @test progress(optimizer).epoch == 1
end

@testset "what is wrong is said" begin
    for messages in ([], 1, "text", [UInt8[]], [UInt8[], UInt8[]], [[1.0, 2.0]])
        @test_throws ShapeError fit!(set_communicator!(rank_learner(), world(_ -> messages)), SET_X, SET_Y; epochs = 1)
    end
    @test_throws InvalidArgumentError world(; rank = 1)
    @test_throws InvalidArgumentError world(; size = 0)
    @test_throws UnsupportedError copy(world())
    @test_throws UnsupportedError set_communicator!(rank_learner("vd-ekf"), world(; size = 2))
    # One call at a time, and none of its handles changes meanwhile.
    optimizer, refused = rank_learner(), Any[]
    ranks = world() do message
        isempty(refused) && for call in (() -> close(ranks), () -> set_communicator!(optimizer, nothing), () -> step!(optimizer, SET_X, SET_Y))
            push!(refused, try
                call()
            catch e
                e
            end)
        end
        return [message]
    end
    fit!(set_communicator!(optimizer, ranks), SET_X, SET_Y; epochs = 1)
    @test length(refused) == 3 && all(e -> e isa InvalidArgumentError && occursin("in use", e.message), refused)
end
