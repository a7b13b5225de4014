/* SPDX-License-Identifier: MIT */
/* Wishes become links: what is set for one direction, for both, or not at all; and what can't be meant. */
#include "lab/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "lab/bed.h"

static const struct wr_lab_way_wish nothing = {.rate_bps = WR_UNSET, .delay_ns = WR_UNSET};

static struct wr_lab_wish no_wish(void)
{
	return (struct wr_lab_wish){
		.both = nothing, .ends = {nothing, nothing}, .rtt_ns = WR_UNSET, .mtu_bytes = WR_UNSET, .seed = WR_UNSET};
}

static void no_wish_is_a_wire(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct wr_lab_config config;

	(void)state;
	assert_int_equal(wr_lab_config_resolve(&wish, &config, NULL), 0);
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		assert_true(config.ways[end].rate_bps == WR_UNSET && config.ways[end].queue_bytes == WR_UNSET);
		assert_true(config.ways[end].delay_ns == 0 && config.ways[end].loss.ratio == 0);
	}
	assert_int_equal(config.mtu_bytes, 1500);
	assert_true(config.offload);
}

static void a_queue_is_one_bdp_and_a_megabyte_at_least(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct wr_lab_config config;

	(void)state;
	wish.both.rate_bps = 1000000000;
	wish.rtt_ns = 100 * WR_NS_PER_MS;
	assert_int_equal(wr_lab_config_resolve(&wish, &config, NULL), 0);
	assert_int_equal(config.ways[0].queue_bytes, 12500000);
	assert_int_equal(config.ways[0].delay_ns + config.ways[1].delay_ns, 100000000);
	wish.both.rate_bps = 10000000;
	assert_int_equal(wr_lab_config_resolve(&wish, &config, NULL), 0);
	assert_int_equal(config.ways[1].queue_bytes, 1048576);
	wish.both.queue = "10ms";
	assert_int_equal(wr_lab_config_resolve(&wish, &config, NULL), 0);
	assert_int_equal(config.ways[1].queue_bytes, 12500);
	wish.ends[WR_LAB_FAR].queue = "64K";
	assert_int_equal(wr_lab_config_resolve(&wish, &config, NULL), 0);
	assert_int_equal(config.ways[WR_LAB_NEAR].queue_bytes, 12500);
	assert_int_equal(config.ways[WR_LAB_FAR].queue_bytes, 65536);
}

static void one_direction_overrides_both(void **state)
{
	struct wr_lab_wish wish = no_wish();
	struct wr_lab_config config;

	(void)state;
	wish.both.rate_bps = 100000000;
	wish.ends[WR_LAB_FAR].rate_bps = 10000000;
	wish.both.loss = "2%";
	wish.ends[WR_LAB_NEAR].loss = "0";
	wish.ends[WR_LAB_NEAR].delay_ns = 30 * WR_NS_PER_MS;
	assert_int_equal(wr_lab_config_resolve(&wish, &config, NULL), 0);
	assert_int_equal(config.ways[WR_LAB_NEAR].rate_bps, 100000000);
	assert_int_equal(config.ways[WR_LAB_FAR].rate_bps, 10000000);
	assert_true(config.ways[WR_LAB_NEAR].loss.ratio == 0);
	assert_true(config.ways[WR_LAB_FAR].loss.ratio == 0.02);
	assert_int_equal(config.ways[WR_LAB_NEAR].delay_ns, 30000000);
	assert_int_equal(config.ways[WR_LAB_FAR].delay_ns, 0);
}

static void assert_refused(const struct wr_lab_wish *wish, const char *word)
{
	struct wr_lab_config config;
	struct weir_err err = {0};

	assert_int_equal(wr_lab_config_resolve(wish, &config, &err), -1);
	assert_int_equal(err.code, WEIR_ERR_USAGE);
	if (!strstr(err.text, word))
		fail_msg("'%s' lacks '%s'", err.text, word);
}

static void nonsense_is_refused_by_name(void **state)
{
	struct wr_lab_wish wish = no_wish();

	(void)state;
	wish.both.queue = "64K";
	assert_refused(&wish, "--queue without --rate");
	wish = no_wish();
	wish.ends[WR_LAB_FAR].queue = "64K";
	wish.ends[WR_LAB_NEAR].rate_bps = 1000000;
	assert_refused(&wish, "--far-queue without a rate");
	wish = no_wish();
	wish.rtt_ns = 1;
	wish.ends[WR_LAB_FAR].delay_ns = 5;
	assert_refused(&wish, "--far-delay");
	wish = no_wish();
	wish.ends[WR_LAB_NEAR].loss = "150%";
	assert_refused(&wish, "--near-loss");
	wish = no_wish();
	wish.both.rate_bps = 1000000;
	wish.both.queue = "many";
	assert_refused(&wish, "--queue");
	wish.both.queue = "9999G";
	assert_refused(&wish, "--queue");
	wish = no_wish();
	wish.offload = "maybe";
	assert_refused(&wish, "--offload");
}

/* What elements read themselves is refused by the option that was written, and says what is wrong. */
static void elements_refuse_nonsense(void **state)
{
	static const struct {
		size_t wish;
		const char *text, *words;
		bool rate, delay;
	} cases[] = {
#define CASE(member, text, words, rate, delay) {offsetof(struct wr_lab_way_wish, member), text, words, rate, delay}
		CASE(loss, "ge:p=1%", "--near-loss: bursts need", false, false),
		CASE(loss, "ge:p=1%,r=0", "--near-loss: 'r=0' is outside", false, false),
		CASE(loss, "ge:p=1%,r=1%,x=1", "'x=1' is not understood", false, false),
		CASE(loss, "every:0", "outside 1 to", false, false),
		CASE(loss, "every:1.5", "not a whole number", false, false),
		CASE(loss, "1%,", "a value is missing", false, false),
		CASE(duplicate, "150%", "--near-duplicate: share '150%' is more", false, false),
		CASE(police, "fast", "--near-police: rate 'fast'", false, false),
		CASE(police, "burst=64K", "begins with no rate", false, false),
		CASE(police, "1mbit,burst=100", "'burst=100' is outside", false, false),
		CASE(outage, "2s", "--near-outage: '2s' has no length", false, false),
		CASE(outage, "2s,for=2s,every=1s", "would never end", false, false),
		CASE(outage, "2s,for=1s,hold", "hold needs a rate", false, false),
		CASE(outage, "0,for=1ms,every=1.5ms,hold", "1 ms at least must lie between", true, false),
		CASE(jitter, "5ms", "--near-jitter: '5ms' is more than the delay", false, false),
		CASE(jitter, "5ms,gaussian", "'gaussian' is not understood", false, true),
		CASE(reorder, "1%", "--near-reorder: a distance in segments needs a rate", false, false),
		CASE(reorder, "1%,by=3,late=1ms", "contradict", true, false),
		CASE(codel, "5ms", "--near-codel: CoDel without a rate", false, false),
		CASE(codel, "ecn", "begins with no target", true, false),
		CASE(codel, "5ms,interval=x", "time 'x'", true, false),
		CASE(corrupt, "2", "--near-corrupt: share '2' is more", false, false),
		CASE(ecn, "30K", "--near-ecn: a threshold without a rate", false, false),
		CASE(ecn, "0", "--near-ecn: '0' is outside", true, false),
		CASE(path_mtu, "100", "--near-path-mtu: '100' is outside", false, false),
		CASE(path_mtu, "blackhole", "begins with no size", false, false),
		CASE(txqueuelen, "10", "--near-txqueuelen: a device's queue without", false, false),
		CASE(txqueuelen, "0", "--near-txqueuelen: '0' is outside", true, false),
		CASE(ack_policy, "apple", "--near-ack-policy: 'apple' is not understood", false, false),
		CASE(ack_policy, "timer=1us", "'timer=1us' is outside", false, false),
		CASE(ack_policy, "count=1", "'count=1' is outside", false, false),
		CASE(queue, "0p", "--near-queue: '0p' is outside", true, false),
		CASE(queue, "300000p", "is outside 1p to 200000p", true, false),
		CASE(rate_file, "/nonexistent", "--near-rate-file: can't read", false, false),
		CASE(rate_file, "/dev/null", "contradict", true, false),
#undef CASE
	};

	(void)state;
	for (size_t i = 0; i < WR_N_ELEMENTS(cases); i++) {
		struct wr_lab_wish wish = no_wish();

		*(const char **)((char *)&wish.ends[WR_LAB_NEAR] + cases[i].wish) = cases[i].text;
		if (cases[i].rate)
			wish.ends[WR_LAB_NEAR].rate_bps = 1000000;
		if (cases[i].delay)
			wish.ends[WR_LAB_NEAR].delay_ns = 10 * WR_NS_PER_MS;
		assert_refused(&wish, cases[i].words);
	}
}

static void sysctls_name_an_end_a_key_and_a_value(void **state)
{
	static const char *const wrong[] = {"", "near", "near:", "near:=1", "near:net.x", "near:net.x=", "mid:net.x=1", "net.x=near:1"};
	struct wr_lab_sysctl sysctl = {0};
	struct weir_err err;

	(void)state;
	assert_int_equal(wr_lab_sysctl_parse("far:net.ipv4.tcp_rmem=4096 131072 524288", &sysctl, NULL), 0);
	assert_int_equal(sysctl.end, WR_LAB_FAR);
	assert_string_equal(sysctl.key, "net.ipv4.tcp_rmem");
	assert_string_equal(sysctl.value, "4096 131072 524288");
	free(sysctl.key);
	for (size_t i = 0; i < WR_N_ELEMENTS(wrong); i++) {
		assert_int_equal(wr_lab_sysctl_parse(wrong[i], &sysctl, &err), -1);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_wish_is_a_wire),
		cmocka_unit_test(a_queue_is_one_bdp_and_a_megabyte_at_least),
		cmocka_unit_test(one_direction_overrides_both),
		cmocka_unit_test(nonsense_is_refused_by_name),
		cmocka_unit_test(elements_refuse_nonsense),
		cmocka_unit_test(sysctls_name_an_end_a_key_and_a_value),
	};

	return cmocka_run_group_tests_name("lab_config", tests, NULL, NULL);
}
