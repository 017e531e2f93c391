"""Statistics of success rates and means: pure functions on the standard library.

An interval is a pair (low, high). Without observations, an interval covers everything possible.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from operator import itemgetter
from statistics import NormalDist, fmean, variance

import msgspec

DEFAULT_RESAMPLES = 2000
"""Resamples of a bootstrap by default."""

MAX_RESAMPLED = 200
"""The bootstrap distribution of a mean of more values is computed from their moments, not by resampling."""

_HALVINGS = 80

_MAX_EXACT_SIGNS = 2_000_000
"""Tasks times the sum of their differences up to which all choices of signs are counted."""

_MAX_EXACT_PAIRS = 10_000
"""The binomial probabilities of more pairs are not summed as whole numbers, which would take minutes."""

_FRACTION_TERMS = 200
"""Pairs of terms of a continued fraction: enough for 10,000 degrees of freedom."""


def wilson_interval(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """The score interval of a success rate (Wilson 1927), from ``successes`` out of ``n``; (0, 1) if n is 0.

    Raises: ValueError: the counts are negative or inconsistent.
    """
    _counts(successes, n - successes)
    return _score_interval(successes / n, n, level) if n else (0.0, 1.0)


def clustered_interval(clusters: Sequence[tuple[int, int]], level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a success rate over repeated tasks: for each task, its successes and its trials.

    Trials of a task are not independent, so they count for less: for as many as would give the variance that the tasks
    have among them (Kish 1965, "Survey Sampling", section 8.2, as for evaluations in Miller 2024, arXiv 2411.00640). If
    the trials of each task agree, that is one for each task; with one trial a task, it is Wilson's own interval.

    Raises: ValueError: the counts are negative or inconsistent.
    """
    for successes, trials in clusters:
        _counts(successes, trials - successes)
    n, successes = sum(trials for _, trials in clusters), sum(successes for successes, _ in clusters)
    if n == 0:
        return 0.0, 1.0
    rate = successes / n
    among = sum((s - rate * trials) ** 2 for s, trials in clusters)
    usual = n * rate * (1 - rate)
    effect = max(1.0, among / usual) if usual else sum(trials * trials for _, trials in clusters) / n
    return _score_interval(rate, n / effect, level)


def _score_interval(rate: float, n: float, level: float) -> tuple[float, float]:
    z = _z(level)
    centre = rate + z * z / (2 * n)
    margin = z * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    return 0.0 if rate == 0 else (centre - margin) / scale, 1.0 if rate == 1 else (centre + margin) / scale


def mcnemar_exact(b: int, c: int) -> float:
    """The two-sided exact p of McNemar's test. ``b`` and ``c`` count the pairs in which only the first or second
    succeeded.

    It is the binomial probability, at one half, of a split of the ``b + c`` pairs that is at least as uneven; 1 without
    such pairs.

    Raises: ValueError: a count is negative.
    """
    _counts(b, c)
    n, less = b + c, min(b, c)
    if b == c:
        return 1.0
    if n > _MAX_EXACT_PAIRS:  # the sum of the same probabilities, in closed form (DLMF, equation 8.17.5)
        return min(1.0, 2 * _incomplete_beta(n - less, less + 1, 0.5, 0.5))
    tail = term = 1
    for i in range(less):
        term = term * (n - i) // (i + 1)
        tail += term
    return 2 * tail / (1 << n)


def sign_flip_test(differences: Sequence[int]) -> float:
    """The two-sided exact p that tasks' differences come from one distribution about zero (Fisher 1935).

    A difference is the second's successes on a task minus the first's. It is the share of all choices of signs whose
    sum is at least as far from zero; with one trial a task it is McNemar's exact test.
    """
    sizes = Counter(abs(d) for d in differences if d)
    total, most = abs(sum(differences)), sum(size * count for size, count in sizes.items())
    if total == 0:
        return 1.0
    if len(sizes) == 1:
        (size,) = sizes
        up = sum(d > 0 for d in differences)
        return mcnemar_exact(up, most // size - up)
    if most * len(differences) > _MAX_EXACT_SIGNS:  # the normal distribution of the sum
        return math.erfc(total / math.sqrt(2 * sum(size * size * count for size, count in sizes.items())))
    width = sum(sizes.values()) + 1  # bits of a coefficient: none is above the number of choices
    ways = math.prod(((1 << width * size) + 1) ** count for size, count in sizes.items())
    # ways holds, as digits of ``width`` bits, how many choices give each number of positive units, from 0 to ``most``
    tail, digits = 0, ways >> width * ((most + total + 1) // 2)
    while digits:
        tail, digits = tail + (digits & ((1 << width) - 1)), digits >> width
    return min(1.0, 2 * tail / (1 << sum(sizes.values())))


def bootstrap_mean(
    values: Sequence[float], *, level: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = 0
) -> tuple[float, float]:
    """The percentile bootstrap interval of a mean (Efron 1979); the same ``seed`` gives the same interval.

    The interval of a single value is that value; without values it is (nan, nan). For more than ``MAX_RESAMPLED``
    values, the interval comes from the moments of the bootstrap distribution (Cornish and Fisher 1938): it takes time
    in proportion to the values, and is off by less than the randomness of ``DEFAULT_RESAMPLES`` resamples.
    """
    if not values:
        return math.nan, math.nan
    n = len(values)
    if min(values) == max(values):
        return values[0], values[0]
    if n > MAX_RESAMPLED:
        return _mean_quantile(values, (1 - level) / 2), _mean_quantile(values, (1 + level) / 2)
    means = sorted(math.fsum(resample(values)) / n for resample in _resamples(n, resamples, seed))
    return _quantile(means, (1 - level) / 2), _quantile(means, (1 + level) / 2)


@lru_cache(maxsize=8)
def _resamples(n: int, count: int, seed: int) -> Sequence[Callable[[Sequence[float]], Sequence[float]]]:
    """Functions that draw ``n`` of ``n`` values, 2 or more. One bench asks for the same ones again and again."""
    rng = random.Random(seed)
    return [itemgetter(*rng.choices(range(n), k=n)) for _ in range(count)]


def predicted_sum(
    seen: Sequence[float], n: int, *, level: float = 0.95, prior_spread: float = 0.8, prior_weight: int = 4
) -> tuple[float, float]:
    """The interval in which the sum of ``n`` further values is expected, given some values from 0 up.

    A prediction interval for a mean (Hahn and Meeker 1991, "Statistical Intervals", section 4.7) on the relative scale,
    so that it stays above 0. Two values say little about the spread: so the values' relative variance is pooled with
    ``prior_weight`` degrees of freedom of ``prior_spread``, more than the 0.7 at most of episodes' costs within a cell.

    Raises: ValueError: there are no values, or a count is negative.
    """
    _counts(n)
    if not seen:
        raise ValueError("a sum cannot be predicted from no values")
    m, mean = len(seen), fmean(seen)
    if mean == 0 or n == 0:
        return 0.0, 0.0
    freedom = prior_weight + m - 1
    own = sum((value / mean - 1) ** 2 for value in seen)
    spread = math.sqrt((prior_weight * prior_spread**2 + own) / freedom * (1 / m + 1 / n))
    factor = math.exp(_t(level, freedom) * spread)
    return n * mean / factor, n * mean * factor


def pass_at_k(n: int, c: int, k: int) -> float:
    """The unbiased estimate, from ``c`` successes in ``n`` trials, that at least one of ``k`` trials succeeds.

    Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1.

    Raises: ValueError: there are fewer than ``k`` trials.
    """
    _counts(c, n - c)
    if not 1 <= k <= n:
        raise ValueError(f"pass@{k} cannot be estimated from {n} trials; it takes 1 <= k <= n")
    return 1 - math.comb(n - c, k) / math.comb(n, k)


class RateDifference(msgspec.Struct, frozen=True):
    """The second success rate minus the first, with its interval."""

    value: float
    low: float
    high: float


def paired_difference(b: int, c: int, n: int, level: float = 0.95) -> RateDifference:
    """The difference ``(c - b) / n`` of two success rates over the same ``n`` pairs, with Tango's score interval.

    ``b`` pairs in which only the first succeeded, ``c`` in which only the second did. Tango 1998, "Equivalence test and
    confidence interval for the difference in proportions for the paired-sample design": the differences that the score
    test does not reject. It excludes zero exactly if McNemar's asymptotic test rejects at the same level. Without pairs
    the difference is nan, within (-1, 1).

    Raises: ValueError: the counts are negative or inconsistent.
    """
    _counts(b, c, n - b - c)
    if n == 0:
        return RateDifference(math.nan, -1.0, 1.0)
    z, value = _z(level), (c - b) / n
    low = _crossing(lambda d: _tango(b, c, n, d) - z, -1.0, value)
    high = _crossing(lambda d: _tango(b, c, n, d) + z, value, 1.0)
    return RateDifference(value, low, high)


def clustered_difference(tasks: Sequence[tuple[int, int]]) -> RateDifference:
    """The difference of two success rates over repeated tasks: for each, the second's successes minus the first's, and
    its pairs.

    Where the pairs of each task agree, a task counts as one pair, with Tango's interval. Otherwise the interval is
    bootstrapped over the tasks.
    """
    n, differences = sum(pairs for _, pairs in tasks), [d for d, _ in tasks]
    if all(d in (0, pairs, -pairs) for d, pairs in tasks):
        once = paired_difference(sum(d < 0 for d in differences), sum(d > 0 for d in differences), len(tasks))
        return RateDifference(sum(differences) / n, once.low, once.high)
    low, high = bootstrap_mean([d * len(tasks) / n for d in differences])
    return RateDifference(sum(differences) / n, low, high)


def tasks_needed(b: int, c: int, n: int, *, power: float = 0.8, level: float = 0.95) -> int | None:
    """The number of further pairs with which McNemar's test finds, with this power, a difference as large as observed.

    0 if there are enough; None without a difference or pairs, as no number is enough. Connor 1987, "Sample size for
    testing differences in proportions for the paired-sample design" (two-sided, asymptotic).
    """
    _counts(b, c, n - b - c)
    if b == c:
        return None
    discordant, difference = (b + c) / n, (c - b) / n
    z_power = NormalDist().inv_cdf(power)
    root = _z(level) * math.sqrt(discordant) + z_power * math.sqrt(max(0.0, discordant - difference**2))
    return max(0, math.ceil((root / difference) ** 2) - n)


class WelchTest(msgspec.Struct, frozen=True):
    """The statistic of Welch's test, its degrees of freedom, and the two-sided p."""

    t: float
    freedom: float
    p_value: float


def welch_test(first: Sequence[float], second: Sequence[float]) -> WelchTest | None:
    """Whether two samples come from populations with one mean, whatever their variances are (Welch 1947).

    None if there is nothing to test by: a sample has fewer than two values, or neither sample's values differ.
    """
    if min(len(first), len(second)) < 2:
        return None
    of_first, of_second = variance(first) / len(first), variance(second) / len(second)
    if of_first + of_second == 0:
        return None
    t = (fmean(first) - fmean(second)) / math.sqrt(of_first + of_second)
    below = of_first**2 / (len(first) - 1) + of_second**2 / (len(second) - 1)
    freedom = (of_first + of_second) ** 2 / below
    return WelchTest(t, freedom, min(1.0, 2 * student_tail(abs(t), freedom)))


def student_tail(t: float, freedom: float) -> float:
    """The probability that Student's t with these degrees of freedom is greater than ``t``.

    NIST Digital Library of Mathematical Functions, section 8.17: half of the regularised incomplete beta function.

    Raises: ValueError: the degrees of freedom are not positive.
    """
    if not freedom > 0:
        raise ValueError(f"Student's t has more than 0 degrees of freedom (got {freedom})")
    x = freedom / (freedom + t * t)
    tail = _incomplete_beta(freedom / 2, 0.5, x, t * (t / freedom) * x if x else 1.0) / 2
    return tail if t >= 0 else 1 - tail


def _incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (DLMF, equation 8.17.22).

    ``rest`` is ``1 - x``, which the caller knows with more digits.
    """
    if x > (a + 1) / (a + b + 2):  # where the fraction converges slowly
        return 1 - _incomplete_beta(b, a, rest, x)
    if x <= 0:
        return 0.0
    fraction = 1.0
    for m in range(_FRACTION_TERMS, -1, -1):
        fraction = 1 + (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2)) / fraction
        fraction = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / fraction
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(a * math.log(x) + b * math.log(rest) - log_beta) / a / fraction


def _tango(b: int, c: int, n: int, difference: float) -> float:
    """The score statistic of the hypothesis that the rates differ by ``difference``; it falls as that grows."""
    linear = (2 * n + b - c) * difference - b - c  # of a quadratic in the rate of "only the first"
    constant = -b * difference * (1 - difference)
    first_only = (math.sqrt(max(0.0, linear * linear - 8 * n * constant)) - linear) / (4 * n)
    variance = n * (2 * first_only + difference * (1 - difference))
    distance = c - b - n * difference
    if variance <= 0:
        return math.copysign(math.inf, distance) if distance else 0.0
    return distance / math.sqrt(variance)


def _crossing(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses zero between two points, by bisection."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2


def _mean_quantile(values: Sequence[float], share: float) -> float:
    """A quantile of the bootstrap distribution of a mean, by its first three moments. The values are not all equal.

    Cornish and Fisher 1938, "Moments and cumulants in the specification of distributions", to the order 1/sqrt(n).
    """
    n, mean = len(values), fmean(values)
    scale = max(abs(value - mean) for value in values)  # so that no power of a distance under- or overflows
    distances = [(value - mean) / scale for value in values]
    spread = math.sqrt(fmean(d * d for d in distances))
    skewness = fmean((d / spread) ** 3 for d in distances) / math.sqrt(n)
    z = NormalDist().inv_cdf(share)
    quantile = mean + scale * spread / math.sqrt(n) * (z + skewness * (z * z - 1) / 6)
    return min(max(quantile, min(values)), max(values))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of an ordered sample, interpolated linearly."""
    position = share * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


@cache
def _t(level: float, freedom: int) -> float:
    """The two-sided quantile of Student's t, up to 1000."""
    return _crossing(lambda t: student_tail(t, freedom) - (1 - level) / 2, 0.0, 1000.0)


def _z(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"a confidence level must lie between 0 and 1 (got {level})")
    return NormalDist().inv_cdf((1 + level) / 2)


def _counts(*counts: int) -> None:
    if min(counts) < 0:
        raise ValueError("counts must not be negative, nor a part larger than the whole")
