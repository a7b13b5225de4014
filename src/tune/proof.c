/* SPDX-License-Identifier: MIT */
/*
 * The proof: pairs of fresh connections in the order AB BA AB ..., so that a drift of the path hits both settings
 * alike. In a lab the sysctls of the advice are themselves in force during the B runs, and given back after each.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "os/host.h"
#include "stat/paired.h"
#include "tune/tune.h"

#define WMEM "net.ipv4.tcp_wmem"
#define RMEM "net.ipv4.tcp_rmem"

static int limit_set(struct wr_tuner *tuner, bool far, const char *key, const char *value, struct weir_err *err)
{
	if (!value[0])
		return 0;
	return far ? wr_peer_sysctl(tuner->peer, key, value, err) : wr_sysctl_write(key, value, err);
}

static int limits_set(struct wr_tuner *tuner, const struct wr_limits *to, struct weir_err *err)
{
	if (limit_set(tuner, false, WMEM, to->wmem[WR_SIDE_NEAR], err) < 0 ||
	    limit_set(tuner, false, RMEM, to->rmem[WR_SIDE_NEAR], err) < 0 ||
	    limit_set(tuner, true, WMEM, to->wmem[WR_SIDE_FAR], err) < 0 ||
	    limit_set(tuner, true, RMEM, to->rmem[WR_SIDE_FAR], err) < 0)
		return -1;
	return 0;
}

static int run_after(struct wr_tuner *tuner, const struct wr_settings *after, struct wr_trial *trial,
		     struct weir_err *err)
{
	int rc;

	if (!after->sysctls)
		return wr_tuner_try(tuner, &after->plan, tuner->run_s, trial, NULL, err);
	if (limits_set(tuner, &after->limits, err) < 0) {
		(void)limits_set(tuner, &after->before, NULL);
		return -1;
	}
	rc = wr_tuner_try(tuner, &after->plan, tuner->run_s, trial, NULL, err);
	/* A far end that is gone takes its namespace's settings along; near's own come back in any case. */
	if (limits_set(tuner, &after->before, rc < 0 ? NULL : err) < 0 && rc == 0)
		rc = -1;
	return rc;
}

static void evaluate(struct wr_tuner *tuner, const double *before_rtt_us, const double *after_rtt_us)
{
	struct wr_ab_proof *proof = &tuner->tuning->proof;
	double scratch[2 * WR_MAX_PAIRS];
	struct wr_stat_paired paired;

	if (wr_stat_paired(&paired, proof->before_runs_bps, proof->after_runs_bps, proof->pairs, 1, scratch) != WR_STAT_DONE)
		return;
	proof->before_bps = wr_stat_median(proof->before_runs_bps, proof->pairs, scratch);
	proof->after_bps = wr_stat_median(proof->after_runs_bps, proof->pairs, scratch);
	proof->before_rtt_us = wr_stat_median(before_rtt_us, proof->pairs, scratch);
	proof->after_rtt_us = wr_stat_median(after_rtt_us, proof->pairs, scratch);
	proof->ratio = paired.ratio;
	proof->ci95_ratio[0] = paired.ratio_ci95.low;
	proof->ci95_ratio[1] = paired.ratio_ci95.high;
	proof->p = paired.sign_flip_p;
	proof->mde_ratio = paired.min_effect_ratio;
}

double wr_tune_proof_seconds(const struct wr_tuner *tuner)
{
	return 2 * (double)tuner->options->pairs * (tuner->run_s + wr_tuner_overhead_s(tuner));
}

int wr_tune_prove(struct wr_tuner *tuner, const struct wr_settings *after, struct weir_err *err)
{
	struct wr_ab_proof *proof = &tuner->tuning->proof;
	double before_rtt_us[WR_MAX_PAIRS], after_rtt_us[WR_MAX_PAIRS];
	size_t n_pairs = tuner->options->pairs;

	proof->sysctls = after->sysctls;
	for (size_t i = 0; i < n_pairs; i++) {
		for (size_t j = 0; j < 2; j++) {
			bool is_after = (i + j) % 2 == 1;
			struct wr_trial trial;
			int rc;

			wr_tuner_say(tuner, "proof: pair %zu of %zu, %s", i + 1, n_pairs,
				     is_after ? "with the new settings" : "as before");
			rc = is_after ? run_after(tuner, after, &trial, err)
				      : wr_tuner_try(tuner, &tuner->options->plan, tuner->run_s, &trial, NULL, err);
			if (rc != 0)
				return rc;
			(is_after ? proof->after_runs_bps : proof->before_runs_bps)[i] = trial.bps;
			(is_after ? after_rtt_us : before_rtt_us)[i] = trial.rtt_us;
		}
		proof->pairs = i + 1;
	}
	evaluate(tuner, before_rtt_us, after_rtt_us);
	return 0;
}
