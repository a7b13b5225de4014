/* SPDX-License-Identifier: MIT */
/*
 * Starts what the lab consists of, then only waits: for near's end, for far's and the link's before it, for signals that
 * the caller passes on, and for the caller's own end.
 */
#include "lab/init.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/units.h"
#include "lab/ends.h"
#include "lab/link.h"
#include "model/lateness.h"
#include "os/clock.h"
#include "os/host.h"

#define DEFAULT_CONGESTION "cubic"
#define GRACE_NS (5 * WR_NS_PER_S)
/* A signal to the whole process group reaches near directly; the caller's copy arrives within this time. */
#define SAME_SIGNAL_NS (500 * WR_NS_PER_MS)
#define FAR_END_NS (1 * WR_NS_PER_S)

void wr_lab_init_say(const struct wr_lab_init *init, const char *format, ...)
{
	char line[512];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof line, format, args);
	va_end(args);
	init->settings->say(line);
}

static int exit_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The most that an element after the bottleneck adds: delay, jitter, which is no more than that, and being overtaken. */
static uint64_t transit_ns(const struct wr_lab_way *way)
{
	return (way->jitter.spread_ns ? 2 : 1) * way->delay_ns + way->reorder.late_ns;
}

/* One file for both directions when they name the same. */
static int begin_captures(struct wr_lab_init *init, struct weir_err *err)
{
	const struct wr_lab_way *ways = init->settings->link.ways;
	uint64_t most_ns = transit_ns(&ways[WR_LAB_NEAR]), far_ns = transit_ns(&ways[WR_LAB_FAR]);
	struct timespec now;
	int64_t offset_ns;

	most_ns = far_ns > most_ns ? far_ns : most_ns;
	clock_gettime(CLOCK_REALTIME, &now);
	offset_ns = now.tv_sec * (int64_t)WR_NS_PER_S + now.tv_nsec - wr_clock_ns();
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		if (!ways[end].pcap)
			continue;
		if (end > 0 && ways[0].pcap && strcmp(ways[0].pcap, ways[end].pcap) == 0)
			init->captures[end] = init->captures[0];
		else if (wr_lab_capture_new(&init->captures[end], ways[end].pcap, offset_ns, most_ns, err) < 0)
			return -1;
	}
	return 0;
}

static void end_captures(const struct wr_lab_init *init)
{
	wr_lab_capture_free(init->captures[0]);
	if (init->captures[1] != init->captures[0])
		wr_lab_capture_free(init->captures[1]);
}

static _Noreturn void run_link(const struct wr_lab_init *init)
{
	struct weir_err err = {0};
	sigset_t terminate;
	int rc;

	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&terminate);
	sigaddset(&terminate, SIGTERM);
	sigprocmask(SIG_BLOCK, &terminate, NULL);
	close(init->lifeline);
	rc = wr_lab_link_run(init->bed.tun_fds, &init->settings->link, init->captures, init->counters, &err);
	end_captures(init);
	if (rc == 0)
		_exit(0);
	wr_lab_init_say(init, "the link stopped: %s", err.text);
	_exit(WEIR_ERR_HOST);
}

static int start(struct wr_lab_init *init, pid_t *pid, void (*run)(const struct wr_lab_init *init), struct weir_err *err)
{
	fflush(NULL);
	*pid = fork();
	if (*pid < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "fork", errno, "can't start a process");
	if (*pid == 0)
		run(init);
	return 0;
}

/* Collect every child that has ended; orphans of the commands are pid 1's too. */
void wr_lab_init_reap(struct wr_lab_init *init)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == init->near) {
			init->near = -1;
			init->near_status = exit_status(status);
		} else if (pid == init->far) {
			init->far = -1;
			init->far_status = exit_status(status);
		} else if (pid == init->link) {
			init->link = -1;
		}
	}
}

/* Whether only weir runs at both ends, to which the congestion control is named. */
static bool only_weir(const struct wr_lab_settings *settings)
{
	const char *slash = strrchr(settings->command[0], '/');

	return !settings->far_command && strcmp(slash ? slash + 1 : settings->command[0], "weir") == 0;
}

/*
 * What weir uses at both ends, and what other programs do. The default is not insisted on: loading a module takes a
 * privilege that an ordinary user's lab does not have.
 */
static int choose_congestion(struct wr_lab_init *init, struct weir_err *err)
{
	const char *wanted = init->settings->congestion ? init->settings->congestion : DEFAULT_CONGESTION;
	wr_auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char current[WR_LAB_CONGESTION_TEXT] = "", available[256] = "";
	int saved;

	wr_sysctl_read("net.ipv4.tcp_congestion_control", current, sizeof current);
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, wanted, (socklen_t)strlen(wanted)) == 0) {
		snprintf(init->congestion, sizeof init->congestion, "%s", wanted);
		if (current[0] && strcmp(current, wanted) != 0 && !only_weir(init->settings))
			wr_lab_init_say(init, "weir uses %s here; other programs keep this host's default congestion control, %s",
					wanted, current);
		return 0;
	}
	saved = errno;
	if (!init->settings->congestion && current[0]) {
		snprintf(init->congestion, sizeof init->congestion, "%s", current);
		wr_lab_init_say(init, "%s can't be had here (%s): both ends use this host's default congestion control, %s", wanted,
				strerror(saved), current);
		return 0;
	}
	wr_sysctl_read("net.ipv4.tcp_available_congestion_control", available, sizeof available);
	wr_err_errno(err, WEIR_ERR_USAGE, "setsockopt TCP_CONGESTION", saved, "congestion control '%s'", wanted);
	return wr_err_hint(err, "this kernel offers: %s", available);
}

/*
 * Counters in memory that is shared with the link; how late it is in a file, too, which the ends open through /proc and
 * can't change.
 */
static int make_counters(struct wr_lab_init *init, struct weir_err *err)
{
	struct wr_lateness *page;

	init->counters = mmap(NULL, sizeof *init->counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (init->counters == MAP_FAILED)
		return wr_err_memory(err, "counters");
	init->lateness_fd = memfd_create("weir-lateness", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (init->lateness_fd < 0 || ftruncate(init->lateness_fd, sizeof *page) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "memfd_create", errno, "can't make the page of the link's lateness");
	page = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, init->lateness_fd, 0);
	if (page == MAP_FAILED)
		return wr_err_memory(err, "lateness");
	(void)fcntl(init->lateness_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL);
	wr_lateness_begin(page);
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		init->counters->ways[end].lateness = &page->ways[end];
	return 0;
}

static int start_all(struct wr_lab_init *init, struct weir_err *err)
{
	const struct wr_lab_way *ways = init->settings->link.ways;
	const char *far = init->settings->far_command;

	if (wr_userns_become_root(&init->userns, err) < 0)
		return -1;
	if (make_counters(init, err) < 0)
		return -1;
	init->stats = init->settings->stats;
	init->stats.late_bound_ns = wr_lateness_bound_ns(ways[WR_LAB_NEAR].delay_ns + ways[WR_LAB_FAR].delay_ns);
	if (wr_lab_stats_begin(&init->stats, init->counters, err) < 0 || begin_captures(init, err) < 0)
		return -1;
	if (wr_lab_bed_init(&init->bed, &init->settings->link, init->settings->sysctls, init->settings->n_sysctls, err) < 0 ||
	    choose_congestion(init, err) < 0 || start(init, &init->link, run_link, err) < 0)
		return -1;
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		close(init->bed.tun_fds[end]);
	if (!init->bed.hosts)
		wr_lab_init_say(init, "there is no /etc/hosts: near is 198.18.0.1, far is 198.18.0.2");
	if (!far || far[0]) {
		if (start(init, &init->far, wr_lab_far_run, err) < 0 || wr_lab_far_wait(init, err) < 0)
			return -1;
	}
	return start(init, &init->near, wr_lab_near_run, err);
}

static void forward(struct wr_lab_init *init, int number)
{
	if (init->near > 0)
		kill(init->near, number);
}

/* A SIGINT that the terminal or a group kill gave to near as well: a second one within the grace ends its life. */
static void count_int(struct wr_lab_init *init, int64_t now_ns)
{
	if (init->last_int_ns && now_ns - init->last_int_ns < (int64_t)GRACE_NS)
		init->kill_at_ns = now_ns;
	init->last_int_ns = now_ns;
}

static void on_direct_signal(struct wr_lab_init *init, int64_t now_ns)
{
	struct signalfd_siginfo info;

	while (read(init->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGINT) {
			init->direct_int_ns = now_ns;
			count_int(init, now_ns);
		}
	}
	wr_lab_init_reap(init);
}

/* The caller got a signal from kill(2). A SIGINT that init has just seen itself went to the whole group. */
static void on_lifeline(struct wr_lab_init *init, int64_t now_ns)
{
	uint8_t number;

	if (recv(init->lifeline, &number, 1, MSG_DONTWAIT) <= 0)
		_exit(128 + SIGKILL); /* the caller is dead */
	if (number == SIGINT && init->direct_int_ns && now_ns - init->direct_int_ns < (int64_t)SAME_SIGNAL_NS)
		return;
	if (number == SIGINT)
		count_int(init, now_ns);
	if (!init->kill_at_ns)
		init->kill_at_ns = now_ns + (int64_t)GRACE_NS;
	forward(init, number);
}

static int remaining_ms(int64_t until_ns, int64_t now_ns)
{
	if (!until_ns)
		return -1;
	return until_ns <= now_ns ? 0 : (int)((until_ns - now_ns) / (int64_t)WR_NS_PER_MS + 1);
}

/* Wait until near has ended; the far command and the link may end earlier, which is worth a line. */
static void watch(struct wr_lab_init *init)
{
	struct pollfd polls[] = {{.fd = init->signals, .events = POLLIN}, {.fd = init->lifeline, .events = POLLIN}};
	bool had_far = init->far > 0, had_link = true;

	while (init->near > 0) {
		int64_t now_ns = wr_clock_ns();

		int64_t wake_ns = wr_lab_stats_refresh(&init->stats, init->counters, now_ns);

		if (init->kill_at_ns && now_ns >= init->kill_at_ns)
			forward(init, SIGKILL);
		if (init->kill_at_ns && (!wake_ns || init->kill_at_ns < wake_ns))
			wake_ns = init->kill_at_ns;
		poll(polls, WR_N_ELEMENTS(polls), remaining_ms(wake_ns, now_ns));
		now_ns = wr_clock_ns();
		if (polls[0].revents)
			on_direct_signal(init, now_ns);
		if (polls[1].revents)
			on_lifeline(init, now_ns);
		if (had_far && init->far < 0 && init->near > 0)
			wr_lab_init_say(init, "'%s' on far ended with status %d", wr_lab_far_name(init), init->far_status);
		if (had_link && init->link < 0)
			wr_lab_init_say(init, "the link process died: the ends can't reach each other any more");
		had_far = init->far > 0;
		had_link = init->link > 0;
	}
}

/* Far may have a file to finish; what is left after a second dies with the namespace. */
static void end_far(struct wr_lab_init *init)
{
	int64_t until_ns = wr_clock_ns() + (int64_t)FAR_END_NS;

	if (init->far > 0)
		kill(-init->far, SIGTERM);
	while (init->far > 0 && wr_clock_ns() < until_ns) {
		struct pollfd polls[] = {{.fd = init->signals, .events = POLLIN}};

		poll(polls, 1, remaining_ms(until_ns, wr_clock_ns()));
		on_direct_signal(init, wr_clock_ns());
	}
}

/* A link that captures has a buffer to write. */
static void end_link(struct wr_lab_init *init)
{
	int64_t until_ns = wr_clock_ns() + (int64_t)FAR_END_NS;

	if (init->link > 0 && (init->captures[0] || init->captures[1]))
		kill(init->link, SIGTERM);
	else
		return;
	while (init->link > 0 && wr_clock_ns() < until_ns) {
		struct pollfd polls[] = {{.fd = init->signals, .events = POLLIN}};

		poll(polls, 1, remaining_ms(until_ns, wr_clock_ns()));
		on_direct_signal(init, wr_clock_ns());
	}
}

/* What makes the link less than it should have been is said, whether statistics were asked for or not. */
static void note_shortcomings(struct wr_lab_init *init)
{
	const struct wr_lab_way *ways = init->settings->link.ways;
	char late[WR_UNIT_TEXT];

	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		uint64_t late_ns = wr_stat_octaves_quantile(init->counters->ways[end].lateness, 0.99);
		uint64_t n = wr_lab_bed_overflows(&init->bed, end);

		if (wr_lab_stats_is_late(&init->counters->ways[end], init->stats.late_bound_ns))
			wr_lab_init_say(init, "the link was late: one in a hundred of %s's packets left %s after it was due: the CPU had"
				  " too much to do", wr_lab_end_names[end], wr_time_text(late, (double)late_ns));
		init->counters->ways[end].n_overflow_packets = n;
		if (n && !ways[end].device_packets)
			wr_lab_init_say(init, "%s sent faster than the link could read: %llu packets were lost in its device",
			    wr_lab_end_names[end], (unsigned long long)n);
	}
}

_Noreturn void wr_lab_init_run(struct wr_lab_init *init)
{
	struct weir_err err = {0};
	sigset_t mask;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0UL, 0UL, 0UL);
	sigprocmask(SIG_SETMASK, NULL, &mask);
	init->signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (start_all(init, &err) < 0) {
		(void)!send(init->lifeline, &err, sizeof err, MSG_NOSIGNAL);
		_exit(err.code);
	}
	watch(init);
	end_far(init);
	end_link(init);
	note_shortcomings(init);
	wr_lab_stats_end(&init->stats, init->counters);
	fflush(NULL);
	_exit(init->near_status);
}
