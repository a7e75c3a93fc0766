@testset "the yacht data come with the package" begin
    X, y = load_yacht()
    @test size(X) == (308, 6) && size(y) == (308,)
    @test hcat(X, y) == read_numbers(joinpath(DATA, "yacht.csv"))
end
