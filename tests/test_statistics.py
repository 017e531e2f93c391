"""Intervals, tests and sample sizes agree with others' implementations, and with what defines them."""

import math
import random
from itertools import accumulate, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codeplan.statistics import (
    MAX_RESAMPLED,
    bootstrap_mean,
    clustered_difference,
    clustered_interval,
    mcnemar_exact,
    paired_difference,
    pass_at_k,
    predicted_sum,
    sign_flip_test,
    student_tail,
    tasks_needed,
    welch_test,
    wilson_interval,
)

TABLES = 1000
Z = 1.959963984540054


def random_counts(parts, limit=150):
    rng = random.Random(9)
    return [tuple(rng.randrange(limit) for _ in range(parts)) for _ in range(TABLES)]


# ------------------------------------------------------------------ beside scipy and statsmodels


def test_wilson_is_that_of_statsmodels():
    proportion = pytest.importorskip("statsmodels.stats.proportion", reason="statsmodels is not installed")
    for (wins, losses), level in zip(random_counts(2), [0.8, 0.9, 0.95, 0.99] * (TABLES // 4), strict=True):
        if wins + losses:
            theirs = proportion.proportion_confint(wins, wins + losses, 1 - level, method="wilson")
            assert wilson_interval(wins, wins + losses, level) == pytest.approx(theirs, abs=1e-12)


def test_mcnemar_is_that_of_statsmodels():
    tables = pytest.importorskip("statsmodels.stats.contingency_tables", reason="statsmodels is not installed")
    for b, c in random_counts(2):
        if b + c:
            theirs = tables.mcnemar([[7, b], [c, 5]], exact=True).pvalue
            assert mcnemar_exact(b, c) == pytest.approx(theirs, rel=1e-9)


def test_the_difference_is_that_of_which_scipy_s_likelihood_makes_the_score_test_barely_reject():
    optimize = pytest.importorskip("scipy.optimize", reason="scipy is not installed")

    def score(b, c, n, difference):
        """The score statistic with the likelihood's maximum found numerically, and not by Tango's formula."""
        low, high = max(0.0, -difference), (1 - difference) / 2

        def unlikely(p):
            shares = ((b, p), (c, p + difference), (n - b - c, 1 - 2 * p - difference))
            return -sum(count * math.log(max(share, 1e-300)) for count, share in shares if count)

        p = optimize.minimize_scalar(unlikely, bounds=(low, high), method="bounded", options={"xatol": 1e-10}).x
        return (c - b - n * difference) / math.sqrt(n * (2 * p + difference - difference**2))

    for b, c, rest in random_counts(3, 40)[:150]:
        n = b + c + rest
        if b + c:
            found = paired_difference(b, c, n)
            assert found.value == pytest.approx((c - b) / n)
            for end, z in ((found.low, Z), (found.high, -Z)):
                if abs(end) < 0.999:
                    assert score(b, c, n, end) == pytest.approx(z, abs=1e-3)


def test_a_bootstrap_agrees_with_scipy_s():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    rng = random.Random(4)
    values = [rng.expovariate(0.1) for _ in range(80)]
    theirs = stats.bootstrap([values], statistic=lambda x, axis: x.mean(axis), method="percentile", random_state=1)
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert bootstrap_mean(values) == pytest.approx(tuple(theirs.confidence_interval), abs=0.1 * width)


@pytest.mark.long
@pytest.mark.parametrize("n", [201, 1000])
@pytest.mark.parametrize("draw", ["uniform", "skewed"])
def test_the_interval_of_many_values_is_that_of_very_many_resamples(n, draw):
    rng = random.Random(n)
    values = [rng.random() if draw == "uniform" else rng.lognormvariate(0, 1) for _ in range(n)]
    means = sorted(sum(rng.choices(values, k=n)) / n for _ in range(20_000))
    low, high = bootstrap_mean(values)
    assert (low, high) == pytest.approx((means[500], means[19_500]), abs=0.04 * (high - low))


@pytest.mark.parametrize(("level", "z"), [(0.95, 1.959963984540054), (0.9, 1.6448536269514722)])
def test_the_interval_of_many_values_without_skew_is_that_of_the_normal_distribution(level, z):
    end = z / math.sqrt(300)
    assert bootstrap_mean([-1.0, 1.0] * 150, level=level) == pytest.approx((-end, end))


def test_two_hundred_values_are_resampled_and_more_are_not():
    values = [math.sqrt(i) for i in range(MAX_RESAMPLED + 1)]
    assert bootstrap_mean(values[:-1], seed=1) != bootstrap_mean(values[:-1], seed=2)
    assert bootstrap_mean(values, seed=1) == bootstrap_mean(values, seed=2)
    assert MAX_RESAMPLED == 200


def test_welch_s_test_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed")
    rng = random.Random(6)
    for _ in range(200):
        first = [rng.gauss(0, 1) for _ in range(rng.randint(2, 30))]
        second = [rng.gauss(1, 3) for _ in range(rng.randint(2, 30))]
        theirs = stats.ttest_ind(first, second, equal_var=False)
        found = welch_test(first, second)
        assert (found.t, found.p_value) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)


# ------------------------------------------------------------------ Student's t


@pytest.mark.parametrize(
    ("freedom", "tail", "quantile"),  # to 15 digits, where tables have four
    [
        (8, 0.025, 2.3060041352041667),
        (8, 0.005, 3.3553873313333957),
        (10, 0.0005, 4.586893858702636),
        (30, 0.1, 1.3104150253913961),
        (120, 0.025, 1.9799304050824411),
    ],
)
def test_the_tail_of_student_s_t_has_the_values_of_tables(freedom, tail, quantile):
    assert student_tail(quantile, freedom) == pytest.approx(tail, abs=1e-12)
    assert student_tail(-quantile, freedom) == pytest.approx(1 - tail, abs=1e-12)


@given(st.floats(-1e6, 1e6))
def test_the_tail_of_student_s_t_is_that_of_its_closed_forms(t):
    root = math.sqrt(2 + t * t)
    assert student_tail(t, 1) == pytest.approx(0.5 - math.atan(t) / math.pi, abs=1e-12)
    assert student_tail(t, 2) == pytest.approx(0.5 - t / (2 * root), abs=1e-12)
    assert student_tail(t, 4) == pytest.approx(0.5 - t * (t * t + 6) / (2 * (t * t + 4) ** 1.5), abs=1e-12)


@given(st.floats(0, 8), st.integers(5_000, 10_000))
def test_with_many_degrees_of_freedom_it_is_the_normal_tail(t, freedom):
    assert student_tail(t, freedom) == pytest.approx(math.erfc(t / math.sqrt(2)) / 2, abs=1e-4)
    assert student_tail(t, freedom) >= student_tail(t + 0.01, freedom)


def test_far_out_the_tail_keeps_its_digits():
    root = math.sqrt(1e8 + 2)
    assert student_tail(1e4, 2) == pytest.approx(1 / (root * (root + 1e4)), rel=1e-9)
    assert student_tail(math.inf, 8) == 0
    assert student_tail(-math.inf, 8) == 1


def test_welch_s_test_is_that_of_a_worked_example():
    """R's sleep data, ``t.test(extra ~ group, data = sleep)``: t = -1.8608, df = 17.776, p = 0.07939."""
    first = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
    second = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]
    found = welch_test(first, second)
    assert (found.t, found.freedom, found.p_value) == pytest.approx((-1.8608, 17.776, 0.07939), rel=1e-4)
    mirrored = welch_test(second, first)
    assert (mirrored.t, mirrored.p_value) == pytest.approx((-found.t, found.p_value))


def test_without_two_values_each_or_any_difference_there_is_no_test():
    assert welch_test([1.0], [1.0, 2.0]) is None
    assert welch_test([], []) is None
    assert welch_test([0.1] * 3, [0.1] * 5) is None
    assert welch_test([0.1] * 3, [0.9] * 5) is None
    assert welch_test([0.5] * 3, [0.1, 0.9, 0.5]).p_value == pytest.approx(1)


@pytest.mark.parametrize("freedom", [0, -1, math.nan])
def test_student_s_t_needs_degrees_of_freedom(freedom):
    with pytest.raises(ValueError, match="more than 0 degrees of freedom"):
        student_tail(1.0, freedom)


def test_a_predicted_sum_is_as_wide_as_student_s_t_says():
    low, high = predicted_sum([10.0], 1, prior_spread=1.0)
    assert math.log(high / 10) / math.sqrt(2) == pytest.approx(2.7764451051977934)
    assert low * high == pytest.approx(100)


# ------------------------------------------------------------------ laws


counts = st.integers(0, 200)


@given(counts, counts)
def test_an_interval_holds_the_rate_and_mirrors_it(wins, losses):
    low, high = wilson_interval(wins, wins + losses)
    assert 0 <= low <= high <= 1
    assert wilson_interval(losses, wins + losses) == pytest.approx((1 - high, 1 - low))
    if wins + losses:
        assert low <= wins / (wins + losses) <= high


@given(counts, counts, counts)
def test_the_difference_leaves_zero_out_where_mcnemar_s_asymptotic_test_rejects(b, c, rest):
    found = paired_difference(b, c, b + c + rest)
    assert -1 <= found.low <= found.high <= 1
    rejects = b != c and (b - c) ** 2 / (b + c) > Z**2 + 1e-9
    assert (found.low > 0 or found.high < 0) == rejects
    mirrored = paired_difference(c, b, b + c + rest)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low), abs=1e-9)


@given(st.integers(1, 30), st.data())
def test_pass_at_k_is_the_share_of_the_draws_that_hold_a_success(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    failing = 1.0
    for i in range(k):
        failing *= max(0, n - c - i) / (n - i)
    assert pass_at_k(n, c, k) == pytest.approx(1 - failing)


def test_the_number_of_tasks_gives_the_power_that_was_asked_for():
    b, c, n = 6, 14, 60
    more = tasks_needed(b, c, n, power=0.8)
    whole, rng = n + more, random.Random(5)
    found = 0
    for _ in range(1500):
        draws = rng.choices([-1, 1, 0], [b, c, n - b - c], k=whole)
        first, second = draws.count(-1), draws.count(1)
        found += (second - first) ** 2 / max(first + second, 1) > Z**2
    assert found / 1500 == pytest.approx(0.8, abs=0.04)


# ------------------------------------------------------------------ edges


def test_of_nothing_nothing_is_known():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    assert mcnemar_exact(0, 0) == 1.0
    assert all(math.isnan(end) for end in bootstrap_mean([]))
    assert (paired_difference(0, 0, 0).low, paired_difference(0, 0, 0).high) == (-1.0, 1.0)
    assert tasks_needed(0, 0, 0) is None


def test_what_never_fails_and_what_never_succeeds_reach_the_ends():
    assert wilson_interval(0, 7)[0] == 0.0
    assert wilson_interval(7, 7)[1] == 1.0
    assert paired_difference(0, 9, 9).high == pytest.approx(1.0)
    assert bootstrap_mean([1.0] * 5) == (1.0, 1.0)
    assert mcnemar_exact(0, 4) == 0.125


def test_no_number_of_tasks_shows_a_difference_that_is_not_there():
    assert tasks_needed(5, 5, 40) is None
    assert tasks_needed(0, 30, 40) == 0


@pytest.mark.parametrize(("b", "c"), [(5000, 5000), (5000, 5001), (4900, 5200), (5300, 4800), (0, 10_001)])
def test_the_p_of_very_many_pairs_is_the_sum_of_their_probabilities(b, c):
    n = b + c
    terms = accumulate(range(min(b, c)), lambda term, i: term * (n - i) // (i + 1), initial=1)
    assert mcnemar_exact(b, c) == pytest.approx(min(1.0, 2 * sum(terms) / 2**n), rel=1e-9)


def test_the_p_of_millions_of_pairs_is_that_of_the_normal_distribution():
    assert mcnemar_exact(3_000_000, 2_990_000) == pytest.approx(4.4e-5, rel=0.01)


def test_an_interval_of_many_values_stays_between_them():
    for values in ([0.0] * 999 + [1.0], [0.0] * 500 + [5e-324], [-1e100] * 300 + [1e100]):
        low, high = bootstrap_mean(values)
        assert min(values) <= low <= high <= max(values)


def test_counts_that_are_none_are_refused():
    for wrong in (lambda: wilson_interval(3, 2), lambda: mcnemar_exact(-1, 2), lambda: paired_difference(2, 2, 3)):
        with pytest.raises(ValueError, match="counts"):
            wrong()
    for n, c, k in ((3, 1, 4), (3, 1, 0)):
        with pytest.raises(ValueError, match="cannot be estimated"):
            pass_at_k(n, c, k)
    with pytest.raises(ValueError, match="between 0 and 1"):
        wilson_interval(1, 2, 95)


def test_by_default_an_interval_has_95_percent_and_a_test_a_power_of_80():
    values = [math.sqrt(i) for i in range(40)]
    assert bootstrap_mean(values) == bootstrap_mean(values, level=0.95, resamples=2000, seed=0)
    assert wilson_interval(3, 9) == wilson_interval(3, 9, 0.95)
    assert paired_difference(3, 5, 20) == paired_difference(3, 5, 20, 0.95)
    assert tasks_needed(3, 5, 20) == tasks_needed(3, 5, 20, power=0.8, level=0.95)
    assert predicted_sum([2.0, 3.0], 5) == predicted_sum([2.0, 3.0], 5, level=0.95, prior_spread=0.8, prior_weight=4)


def test_a_percentile_lies_between_the_values_of_the_sample():
    for level, seed in product((0.5, 0.9, 0.99), range(3)):
        low, high = bootstrap_mean([0.0, 1.0, 5.0], level=level, seed=seed)
        assert 0.0 <= low <= high <= 5.0


# ------------------------------------------------------------------ repeated tasks


@given(st.lists(st.integers(0, 1), min_size=1, max_size=60), st.integers(1, 7))
def test_repeats_that_agree_count_once(wins, times):
    once = wilson_interval(sum(wins), len(wins))
    assert clustered_interval([(won * times, times) for won in wins]) == pytest.approx(once)


@given(st.lists(st.integers(0, 6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=30))
def test_an_interval_over_repeats_is_never_narrower_than_that_of_independent_trials(clusters):
    won, n = (sum(part) for part in zip(*clusters, strict=True)) if clusters else (0, 0)
    low, high = clustered_interval(clusters)
    least, most = wilson_interval(won, n)
    assert low <= least + 1e-12 and high >= most - 1e-12 and 0 <= low <= high <= 1


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10))
def test_the_sign_flip_test_counts_all_choices_of_signs(differences):
    reached = abs(sum(differences))
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((1, -1), repeat=len(differences))
    ]
    assert sign_flip_test(differences) == pytest.approx(sum(s >= reached for s in sums) / len(sums))


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50))
def test_with_one_trial_a_task_the_sign_flip_test_is_mcnemars(b, c, ties):
    assert sign_flip_test([1] * c + [-1] * b + [0] * ties) == mcnemar_exact(b, c)


def test_many_tasks_are_tested_by_the_normal_distribution():
    exact = [2, -1, 1] * 200 + [-2] * 150
    more = exact * 7
    assert sign_flip_test(more) == pytest.approx(math.erfc(sum(more) / math.sqrt(2 * sum(d * d for d in more))))
    assert sign_flip_test(exact) == pytest.approx(
        math.erfc(sum(exact) / math.sqrt(2 * sum(d * d for d in exact))), abs=0.01
    )


def test_a_difference_over_repeats_is_bootstrapped_over_the_tasks():
    found = clustered_difference([(3, 3), (0, 3), (-1, 3), (3, 3)])
    assert found.value == pytest.approx(5 / 12)
    assert (found.low, found.high) == bootstrap_mean([1, 0, -1 / 3, 1])


@given(st.lists(st.integers(-1, 1), min_size=1, max_size=40), st.integers(1, 5))
def test_a_difference_over_repeats_that_agree_is_that_of_single_pairs(signs, times):
    once = paired_difference(signs.count(-1), signs.count(1), len(signs))
    assert clustered_difference([(sign * times, times) for sign in signs]) == once
