/* SPDX-License-Identifier: MIT */
/* Socket options as text: names and numbers are read, nonsense and what a peer may not ask for is refused by name. */
#include "os/sockopt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static int parse(struct wr_sockopt_list *list, const char *text, bool far, struct weir_err *err)
{
	memset(err, 0, sizeof *err);
	return wr_sockopt_parse(list, text, far, err);
}

static void rows_are_sound(void **state)
{
	(void)state;
	for (const struct wr_sockopt *row = wr_sockopts; row->name; row++) {
		assert_true(row->summary[0] && strlen(row->name) < WR_SETTING_TEXT && !strpbrk(row->name, "=,+:"));
		for (const struct wr_sockopt *other = wr_sockopts; other < row; other++) {
			assert_string_not_equal(row->name, other->name);
			assert_true(row->level != other->level || row->number != other->number);
		}
	}
}

static void lists_are_read(void **state)
{
	struct wr_sockopt_list list;
	struct weir_err err;

	(void)state;
	assert_int_equal(parse(&list, "", false, &err), 0);
	assert_int_equal(list.n_values, 0);
	assert_int_equal(parse(&list, "TCP_NODELAY=1,SO_PRIORITY=0x6+SOL_SOCKET:9=1,41:67=-1,SO_MAX_PACING_RATE=12G", false, &err),
			 0);
	assert_int_equal(list.n_values, 5);
	assert_int_equal(list.values[0].row.number, 1);
	assert_int_equal(list.values[1].value, 6);
	assert_int_equal(list.values[2].row.level, 1);
	assert_string_equal(list.values[2].text, "SOL_SOCKET:9");
	assert_int_equal(list.values[3].value, -1);
	assert_int_equal(list.values[4].value, 12LL << 30);
}

static void nonsense_is_refused(void **state)
{
	/* text, what the words must name */
	static const char *const rows[][2] = {
		{"TCP_NODELAY", "OPT=VALUE"},	 {"=1", "OPT=VALUE"},		 {"TCP_NODELAY=", "whole number"},
		{"TCP_NODELAY=x", "whole number"}, {"TCP_NODELAI=1", "TCP_NODELAI"}, {"TCP_NODELAY=1,", "missing"},
		{",TCP_NODELAY=1", "OPT=VALUE"}, {"SO_SNDBUF=1", "of its own"},	 {"SO_RCVBUFFORCE=1", "of its own"},
		{"SO_PRIORITY=1,SO_PRIORITY=2", "twice"}, {"SO_PRIORITY=1,SOL_SOCKET:12=2", "twice"},
		{"TCP_NODELAY=99999999999", "outside"}, {"SO_MAX_PACING_RATE=-1", "outside"}, {"6:=1", "6:"},
		{":12=1", ":12"}, {"6:123456=1", "6:123456"}, {"SOL_NOTHING:1=1", "SOL_NOTHING"},
		{"TCP_NODELAY==1", "whole number"},
	};
	struct wr_sockopt_list list;
	struct weir_err err;
	char many[400] = "";

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		assert_int_equal(parse(&list, rows[i][0], false, &err), -1);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
		if (!strstr(err.text, rows[i][1]) || strncmp(err.text, "--set", 5) != 0)
			fail_msg("%s: \"%s\"", rows[i][0], err.text);
	}
	for (int i = 0; i < 17; i++)
		snprintf(many + strlen(many), sizeof many - strlen(many), "%s6:%d=1", i ? "," : "", 100 + i);
	assert_int_equal(parse(&list, many, false, &err), -1);
}

/* What a peer may ask of a server: only what its own connection feels. */
static void peers_are_bounded(void **state)
{
	static const char *const allowed[] = {"TCP_NODELAY=1", "TCP_QUICKACK=0", "SO_PRIORITY=6", "TCP_MAXSEG=536",
					      "SO_MAX_PACING_RATE=1000000", "TCP_NOTSENT_LOWAT=16K"};
	static const char *const refused[] = {
		"SO_MARK=1", "SO_BINDTOIFINDEX=1", "SO_PRIORITY=7", "SO_PRIORITY=-1", "SO_BUSY_POLL=1000", "SO_RESERVE_MEM=1G",
		"SOL_SOCKET:36=1", "SOL_SOCKET:33=1000000000", "1:32=1", "6:19=1", "IP_TOS=184", "SO_RCVLOWAT=1G", "SO_RCVBUF=1G",
		"SO_SNDBUFFORCE=1G", "TCP_TX_DELAY=1000", "TCP_RTO_MIN_US=1",
	};
	struct wr_sockopt_list list;
	struct weir_err err;

	(void)state;
	for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
		assert_int_equal(parse(&list, allowed[i], true, &err), 0);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		if (parse(&list, refused[i], true, &err) == 0)
			fail_msg("%s is taken from a peer", refused[i]);
		assert_true(strncmp(err.text, "--far-set", 9) == 0);
	}
}

static void what_is_set_is_read_back(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct wr_setting settings[WR_MAX_SETTINGS];
	struct wr_sockopt_list list;
	struct weir_err err;

	(void)state;
	assert_int_equal(parse(&list, "TCP_NODELAY=7,SO_PRIORITY=3,SO_MAX_PACING_RATE=5000000000,TCP_QUICKACK=0", false, &err), 0);
	assert_int_equal(wr_sockopt_apply(fd, &list, false, &err), 0);
	assert_int_equal(wr_sockopt_apply(fd, &list, true, &err), 0);
	assert_int_equal(wr_sockopt_read(fd, &list, settings), 4);
	assert_int_equal(settings[0].requested, 7);
	assert_int_equal(settings[0].effective, 1);
	assert_int_equal(settings[1].effective, 3);
	assert_int_equal(settings[2].effective, 5000000000);
	assert_int_equal(settings[3].effective, 0);
	assert_int_equal(parse(&list, "6:999=1", false, &err), 0);
	assert_int_equal(wr_sockopt_apply(fd, &list, false, &err), -1);
	assert_true(err.code == WEIR_ERR_HOST && strstr(err.text, "6:999"));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(lists_are_read),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(peers_are_bounded),
		cmocka_unit_test(what_is_set_is_read_back),
	};

	return cmocka_run_group_tests_name("sockopt", tests, NULL, NULL);
}
