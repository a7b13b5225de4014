/* SPDX-License-Identifier: MIT */
/*
 * Normal, Student's t, binomial(n, 1/2). lgamma_r() everywhere: lgamma() writes the global signgam
 * and would race between threads.
 */
#include "stat/distribution.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/*
 * Above this t is a normal variable with a correction in 1/df, and closer so than by the beta
 * function, where log-gammas of 10^7 and more cancel.
 */
#define T_LARGE_DF 1e6

#define MAX_STEPS 10000

/*
 * How far ln s reaches, s the deviation seen / the true one: outside lies less than 1e-12 of its
 * distribution, which falls off exponentially to the left and faster than a normal one to the right.
 */
#define LN_DEVIATION_LEFT 28
#define LN_DEVIATION_SD 9
#define LN_DEVIATION_NORMAL_DF 100 /* from here on it is nearly normal to the left, too */
#define LN_DEVIATION_POINTS 512

double wr_stat_normal_cdf(double z)
{
	return 0.5 * erfc(-z * M_SQRT1_2);
}

/* Acklam 2003, "An algorithm for computing the inverse normal cumulative distribution function". */
static double acklam(double p)
{
	static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02,
				   -2.759285104469687e+02, 1.383577518672690e+02,
				   -3.066479806614716e+01, 2.506628277459239e+00};
	static const double b[] = {-5.447609879822406e+01, 1.615858368580409e+02,
				   -1.556989798598866e+02, 6.680131188771972e+01,
				   -1.328068155288572e+01};
	static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01,
				   -2.400758277161838e+00, -2.549732539343734e+00,
				   4.374664141464968e+00,  2.938163982698783e+00};
	static const double d[] = {7.784695709041462e-03, 3.224671290700398e-01,
				   2.445134137142996e+00, 3.754408661907416e+00};
	double q, r;

	if (p < 0.02425) {
		q = sqrt(-2 * log(p));
		return (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
		       ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
	}
	q = p - 0.5;
	r = q * q;
	return (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
	       (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
}

double wr_stat_normal_quantile(double probability)
{
	double z, error, step;

	assert(probability > 0 && probability < 1);
	if (probability > 0.5)
		return -wr_stat_normal_quantile(1 - probability);
	z = acklam(probability);
	error = wr_stat_normal_cdf(z) - probability;
	step = error * sqrt(2 * M_PI) * exp(z * z / 2);
	return z - step / (1 + z * step / 2);
}

static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* A denominator of 0 is moved off it, as Lentz's method wants. */
static double off_zero(double x)
{
	const double tiny = DBL_MIN / DBL_EPSILON;

	return fabs(x) < tiny ? tiny : x;
}

static double lentz_step(double coefficient, double *c, double *d)
{
	*d = 1 / off_zero(1 + coefficient * *d);
	*c = off_zero(1 + coefficient / *c);
	return *c * *d;
}

/* The continued fraction of I_x(a, b); converges fast for x < (a + 1) / (a + b + 2). */
static double beta_fraction(double x, double a, double b)
{
	double c = 1, d = 1 / off_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m < MAX_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double change;

		value *= lentz_step(even, &c, &d);
		change = lentz_step(odd, &c, &d);
		value *= change;
		if (fabs(change - 1) < DBL_EPSILON)
			break;
	}
	return value;
}

/* The regularised incomplete beta function; @y: 1 - @x, which the caller knows without loss. */
static double incomplete_beta(double x, double y, double a, double b)
{
	double front;

	if (x <= 0)
		return 0;
	if (y <= 0)
		return 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(x, a, b) / a;
	return 1 - front * beta_fraction(y, b, a) / b;
}

double wr_stat_t_tail(double t, double df)
{
	double square = t * t;

	assert(df > 0);
	if (isinf(square))
		return 0;
	if (df > T_LARGE_DF) /* Abramowitz and Stegun 26.7.8 */
		return 2 * wr_stat_normal_cdf(-fabs(t) * (1 - 1 / (4 * df)) /
					      sqrt(1 + square / (2 * df)));
	return incomplete_beta(df / (df + square), square / (df + square), df / 2, 0.5);
}

static double t_density(double t, double df)
{
	return exp(log_gamma((df + 1) / 2) - log_gamma(df / 2) - 0.5 * log(df * M_PI) -
		   (df + 1) / 2 * log1p(t * t / df));
}

double wr_stat_t_quantile(double level, double df)
{
	double t, step;

	assert(level > 0 && level < 1 && df > 0);
	t = wr_stat_normal_quantile(0.5 + level / 2);
	if (df > T_LARGE_DF) /* Abramowitz and Stegun 26.7.5 */
		return t + (t * t * t + t) / (4 * df);
	/*
	 * The tail falls and is convex, and z lies left of t: Newton's steps only go right and
	 * can't overshoot.
	 */
	for (int i = 0; i < MAX_STEPS; i++) {
		step = (wr_stat_t_tail(t, df) - (1 - level)) / (2 * t_density(t, df));
		t += step;
		if (!(step > t * 1e-13))
			break;
	}
	return t;
}

/*
 * Given s the probability is a normal one; its mean over x = ln s is taken by the trapezoidal rule,
 * which converges exponentially here because all derivatives vanish at both ends.
 */
double wr_stat_t_power(double critical, double effect, double df)
{
	double sd = sqrt(1 / (2 * df)), left = LN_DEVIATION_SD * sd, step, log_scale, sum = 0;

	assert(critical >= 0 && df >= 1);
	if (df < LN_DEVIATION_NORMAL_DF)
		left = 0.5 + LN_DEVIATION_LEFT / df;
	step = (left + log1p(LN_DEVIATION_SD * sd)) / LN_DEVIATION_POINTS;
	log_scale = M_LN2 + df / 2 * log(df / 2) - log_gamma(df / 2);
	for (int i = 0; i <= LN_DEVIATION_POINTS; i++) {
		double x = i * step - left, s = exp(x), density = exp(log_scale + df * (x - s * s / 2));

		sum += density * (wr_stat_normal_cdf(effect - critical * s) +
				  wr_stat_normal_cdf(-effect - critical * s));
	}
	return fmin(1, sum * step);
}

double wr_stat_t_effect(double critical, double power, double df)
{
	double low = 0, high = 1;

	assert(power > wr_stat_t_tail(critical, df) && power < 1);
	while (wr_stat_t_power(critical, high, df) < power)
		high *= 2;
	while (high - low > 1e-9 * high) {
		double middle = (low + high) / 2;

		if (wr_stat_t_power(critical, middle, df) < power)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

double wr_stat_coin_pmf(size_t n_heads, size_t n_throws)
{
	double n = (double)n_throws, k = (double)n_heads;

	if (n_heads > n_throws)
		return 0;
	return exp(log_gamma(n + 1) - log_gamma(k + 1) - log_gamma(n - k + 1) - n * M_LN2);
}
