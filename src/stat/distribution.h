/* SPDX-License-Identifier: MIT */
/* The distributions behind the intervals and tests: normal, Student's t, and the fair coin. */
#ifndef WR_STAT_DISTRIBUTION_H
#define WR_STAT_DISTRIBUTION_H

#include <stddef.h>

/* -- normal -- */

/* wr_stat_normal_cdf - Return: P(Z <= @z) of the standard normal distribution. */
double wr_stat_normal_cdf(double z);

/*
 * wr_stat_normal_quantile - the z with P(Z <= z) = @probability
 * @probability: above 0 and below 1
 *
 * Return: z, to about 1e-15 relative.
 * Source: Acklam's rational approximation (relative error 1.15e-9) with one step by
 * Halley's method.
 */
double wr_stat_normal_quantile(double probability);

/* -- Student's t -- */

/*
 * wr_stat_t_tail - the two-sided tail P(|T| > @t)
 * @t: any sign
 * @df: degrees of freedom, above 0, not necessarily whole
 *
 * Return: 0..1, the p value of a t statistic.
 * Source: Abramowitz and Stegun 26.5.27 and 26.7.1; the incomplete beta function by the continued
 * fraction of NIST DLMF 8.17.22, evaluated by Lentz's method.
 */
double wr_stat_t_tail(double t, double df);

/*
 * wr_stat_t_quantile - the two-sided quantile of Student's t: P(|T| <= t) = @level
 * @level: above 0 and below 1; 0.95 for a 95 % interval
 * @df: degrees of freedom, above 0, not necessarily whole
 *
 * Return: t > 0, to better than 1e-6 relative: 2.5706 for 0.95 and 5.
 */
double wr_stat_t_quantile(double level, double df);

/*
 * wr_stat_t_power - P(|T| > @critical) when there is an effect: both tails of the noncentral t
 * @critical: 0 or more
 * @effect: in standard errors (the noncentrality); any sign
 * @df: degrees of freedom, 1 or more, not necessarily whole
 *
 * Return: 0..1, to 1e-8 (1e-2 for effects above 50): 0.7714 for 2.228139, 3 and 10.
 */
double wr_stat_t_power(double critical, double effect, double df);

/*
 * wr_stat_t_effect - the effect that is seen with probability @power; the reverse of the above
 * @power: above P(|T| > @critical) without an effect and below 1
 *
 * Return: in standard errors, above 0.
 */
double wr_stat_t_effect(double critical, double power, double df);

/* -- binomial -- */

/* wr_stat_coin_pmf - Return: the probability of @n_heads heads in @n_throws of a fair coin. */
double wr_stat_coin_pmf(size_t n_heads, size_t n_throws);

#endif
