/* SPDX-License-Identifier: MIT */
/* What each row of wr_transports must keep, which row a target means, and targets that are wrong. */
#include "transport/transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include <cmocka.h>

static struct wr_plan nothing_asked(void)
{
	struct wr_plan plan;

	wr_option_defaults(wr_plan_options, &plan);
	return plan;
}

static void rows_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; wr_transports[i]; i++) {
		const struct wr_transport *row = wr_transports[i];

		assert_true(row->name && row->prefix && row->target && row->summary && row->source);
		assert_non_null(row->control);
		assert_ptr_equal(row->control->control, row->control);
		if (!row->inside)
			assert_string_equal(row->control->prefix, row->prefix);
		assert_true(row->connect && row->apply && row->describe && row->sample && row->text);
		assert_true(row->control->resolve && row->control->listen && row->control->accept && row->control->greet);
		assert_true(row->shares || (row->listen && row->accept && row->greet));
		assert_int_equal(!row->port, !row->set_port);
		assert_int_equal(!row->largest, !row->messages);
		assert_ptr_equal(wr_transport_find(row->name), row);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(row->name, wr_transports[j]->name);
	}
	assert_ptr_equal(wr_transport_find(NULL), &wr_transport_tcp);
	assert_null(wr_transport_find("carrier pigeon"));
}

static void target_and_transport_agree(void **state)
{
	static const struct {
		const char *target, *asked, *chosen;
	} rows[] = {
		{"far", NULL, "tcp"},	       {"far:5201", "tcp", "tcp"},   {"[2001:db8::1]:1", NULL, "tcp"},
		{"2001:db8::1", NULL, "tcp"},  {"unix:", NULL, "unix"},	     {"unix:/run/weir", "unix", "unix"},
		{"unix:", "unix-dgram", "unix-dgram"}, {"unix:/run/weir", "unix-seqpacket", "unix-seqpacket"},
		{"vsock:2", NULL, "vsock"},    {"vsock:2:1024", "vsock-seqpacket", "vsock-seqpacket"}, {"mem:", NULL, "mem"},
		{"mem:x", NULL, NULL},	       {"mem:", "unix", NULL},	     {"vsock:1", "unix", NULL},
		{"unix:/run/x", "tcp", NULL},  {"far", "unix", NULL},	     {"far", "no such", NULL},
		{"unixes", NULL, "tcp"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct wr_plan plan = nothing_asked();
		const struct wr_transport *row = NULL;
		struct weir_err err = {0};

		plan.transport = rows[i].asked;
		if (wr_transport_choose(&row, NULL, rows[i].target, &plan, &err) < 0) {
			assert_null(rows[i].chosen);
			assert_int_equal(err.code, WEIR_ERR_USAGE);
			assert_true(err.text[0] && err.hint[0]);
			continue;
		}
		if (!rows[i].chosen || strcmp(row->name, rows[i].chosen) != 0)
			fail_msg("%s is %s", rows[i].target, row->name);
	}
}

static void what_a_transport_lacks_is_refused(void **state)
{
	const struct wr_transport *row;
	struct weir_err err = {0};
	struct wr_plan plan;

	(void)state;
	for (int i = 0; i < 6; i++) {
		plan = nothing_asked();
		plan.congestion = i == 0 ? "cubic" : NULL;
		plan.nodelay = i == 1;
		plan.v4 = i == 2;
		plan.v6 = i == 3;
		plan.bind = i == 4 ? "127.0.0.1" : NULL;
		plan.port = i == 5 ? 5201 : WR_UNSET;
		assert_int_equal(wr_transport_choose(&row, NULL, "far", &plan, &err), 0);
		assert_int_equal(wr_transport_choose(&row, NULL, "unix:/run/weir", &plan, &err), -1);
		assert_int_equal(err.code, WEIR_ERR_USAGE);
	}
}

static void hosts_and_ports(void **state)
{
	static const struct {
		const char *target, *text;
	} rows[] = {
		{"127.0.0.1", "127.0.0.1:5201"}, {"127.0.0.1:17", "127.0.0.1:17"}, {"[::1]:65535", "[::1]:65535"},
		{"::1", "[::1]:5201"},		 {"[::1]", "[::1]:5201"},	   {"127.0.0.1:", NULL},
		{"127.0.0.1:0", NULL},		 {"127.0.0.1:65536", NULL},	   {"127.0.0.1:1x", NULL},
		{":5201", NULL},		 {"[::1", NULL},		   {"[::1]5201", NULL},
		{"", NULL},			 {"[]", NULL},			   {"127.0.0.1:-1", NULL},
	};
	struct wr_plan plan = nothing_asked();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct wr_address found[2];
		struct weir_err err = {0};
		char text[WR_NAME_TEXT];
		size_t n;

		if (wr_transport_tcp.resolve(found, 2, &n, rows[i].target, &plan, &err) < 0) {
			if (rows[i].text)
				fail_msg("'%s': %s", rows[i].target, err.text);
			assert_int_equal(err.code, WEIR_ERR_USAGE);
			continue;
		}
		assert_non_null(rows[i].text);
		assert_int_equal(n, 1);
		assert_string_equal(wr_address_text(text, &found[0]), rows[i].text);
		assert_true(wr_address_is_local(&found[0]));
		wr_transport_tcp.set_port(&found[0], 9);
		assert_int_equal(wr_address_port(&found[0]), 9);
	}
}

static void paths_fit_an_address(void **state)
{
	char path[sizeof((struct sockaddr_un *)0)->sun_path + 1] = "", text[WR_NAME_TEXT];
	struct wr_plan plan = nothing_asked();
	struct weir_err err = {0};
	struct wr_address found;
	size_t n;

	(void)state;
	assert_int_equal(wr_transport_unix.resolve(&found, 1, &n, "", &plan, &err), 1);
	assert_int_equal(wr_transport_unix.resolve(&found, 1, &n, "/run/weir", &plan, &err), 0);
	assert_string_equal(wr_address_text(text, &found), "unix:/run/weir");
	assert_int_equal(wr_address_port(&found), 0);
	assert_true(wr_address_is_local(&found));
	memset(path, 'x', sizeof path - 2);
	assert_int_equal(wr_transport_unix.resolve(&found, 1, &n, path, &plan, &err), 0);
	assert_int_equal(strlen(wr_address_text(text, &found)), WR_NAME_TEXT - 1);
	path[sizeof path - 2] = 'x';
	assert_int_equal(wr_transport_unix.resolve(&found, 1, &n, path, &plan, &err), -1);
	assert_int_equal(err.code, WEIR_ERR_USAGE);
}

static void vsock_targets(void **state)
{
	static const struct {
		const char *target, *text;
	} rows[] = {
		{"1", "vsock:1:5201"},	  {"2:1", "vsock:2:1"}, {"4294967294:4294967294", "vsock:4294967294:4294967294"},
		{"", NULL},		  {"0", NULL},		{"4294967295", NULL},
		{"4294967296", NULL},	  {"1:4294967295", NULL}, {"1:", NULL},
		{"18446744073709551617", NULL}, {"-1", NULL},	{"1 ", NULL},
	};
	struct wr_plan plan = nothing_asked();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct wr_address found;
		struct weir_err err = {0};
		char text[WR_NAME_TEXT];
		size_t n;

		if (wr_transport_vsock.resolve(&found, 1, &n, rows[i].target, &plan, &err) < 0) {
			if (rows[i].text)
				fail_msg("'%s': %s", rows[i].target, err.text);
			assert_int_equal(err.code, WEIR_ERR_USAGE);
			continue;
		}
		assert_non_null(rows[i].text);
		assert_string_equal(wr_address_text(text, &found), rows[i].text);
	}
}

/* The whole way of a mem connection: number, greeting, bytes both ways; and when nobody listens any more. */
static void mem_connects(void **state)
{
	struct wr_socket_wish wish = {.sndbuf_bytes = 1000, .rcvbuf_bytes = WR_UNSET};
	struct wr_opening opening = {.wish = &wish, .greeting = "hello", .n_greeting = 5};
	struct wr_listener listener;
	struct wr_channel near, far;
	struct wr_connection connection;
	struct weir_err err = {0};
	char bytes[8] = "";

	(void)state;
	assert_int_equal(wr_transport_mem.listen(&listener, NULL, 0, NULL, NULL), 0);
	assert_int_equal(wr_transport_mem.accept(&listener, &far), -1);
	assert_int_equal(wr_transport_mem.connect(&near, &listener.address, &opening, NULL), 0);
	assert_int_equal(wr_transport_mem.accept(&listener, &far), 0);
	assert_int_equal(wr_transport_mem.greet(&far, bytes, 5, 0), 0);
	assert_string_equal(bytes, "hello");
	assert_int_equal(wr_transport_mem.greet(&far, bytes, 5, 0), -1);
	wr_transport_mem.describe(&near, &wish, &connection);
	assert_int_equal(connection.sndbuf_eff_bytes, 1000);
	assert_int_equal(wr_channel_send(&far, "back", 4, 0), 4);
	assert_int_equal(wr_channel_receive(&near, bytes, 8, 0), 4);
	wr_channel_close(&near);
	assert_int_equal(wr_channel_receive(&far, bytes, 8, 0), 0);
	wr_channel_close(&far);
	/* One that is not accepted is let go of with the listener. */
	assert_int_equal(wr_transport_mem.connect(&near, &listener.address, &opening, NULL), 0);
	wr_listener_close(&listener);
	assert_int_equal(wr_channel_receive(&near, bytes, 8, 0), 0);
	wr_channel_close(&near);
	wr_transport_mem.set_port(&listener.address, 77);
	assert_int_equal(wr_transport_mem.connect(&near, &listener.address, &opening, &err), -1);
	assert_int_equal(err.code, WEIR_ERR_PEER);
	assert_false(wr_channel_is_open(&near));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_whole),
		cmocka_unit_test(target_and_transport_agree),
		cmocka_unit_test(what_a_transport_lacks_is_refused),
		cmocka_unit_test(hosts_and_ports),
		cmocka_unit_test(paths_fit_an_address),
		cmocka_unit_test(vsock_targets),
		cmocka_unit_test(mem_connects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
