/* SPDX-License-Identifier: MIT */
/*
 * Three levels. The caller waits, passes signals on and is the lifeline. Init, pid 1 of a new PID namespace, makes
 * the bed, starts link, far and near, and its end takes everything along: the kernel kills a PID namespace with its
 * init. Init dies with the caller by PR_SET_PDEATHSIG and, where that comes too late, by the lifeline's end of file.
 * Source: pid_namespaces(7), prctl(2).
 */
#include "lab/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
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
#include "lab/link.h"
#include "os/clock.h"
#include "os/host.h"
#include "os/linux/netns.h"

#define GRACE_NS (5 * WR_NS_PER_S)
/* A signal to the whole process group reaches near directly; the caller's copy arrives within this time. */
#define SAME_SIGNAL_NS (500 * WR_NS_PER_MS)
#define LISTEN_WAIT_NS (2 * WR_NS_PER_S)
#define LISTEN_POLL_MS 2
#define FAR_END_NS (1 * WR_NS_PER_S)
/* Lateness beyond 2 ms and a fiftieth of the RTT changes what is measured. */
#define LATE_NS (2 * WR_NS_PER_MS)
#define LATE_RTT_SHARE 50

/* The state of init. -1: no such process. */
struct init {
	const struct wr_lab_settings *settings;
	struct wr_lab_bed bed;
	struct wr_lab_counters *counters; /* shared with the link */
	struct wr_lab_stats stats;
	struct wr_lab_capture *captures[WR_LAB_N_ENDS];
	pid_t link, far, near;
	int far_status, near_status;
	int lifeline, signals;
	sigset_t old_mask;
	int64_t direct_int_ns, last_int_ns, kill_at_ns; /* 0: not yet, never */
};

static void say(const struct init *init, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(const struct init *init, const char *format, ...)
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

/* Before exec: what the tool changed for itself must not reach the commands. */
static void restore_signals(const sigset_t *mask)
{
	signal(SIGPIPE, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static void set_environment(const struct init *init, int end)
{
	const char *path = getenv("PATH");
	char inode[32], led[8192];

	snprintf(inode, sizeof inode, "%llu", (unsigned long long)wr_netns_inode(init->bed.netns_fds[end]));
	setenv("WEIR_LAB", inode, 1);
	setenv("WEIR_CONGESTION", init->settings->congestion, 1);
	snprintf(led, sizeof led, "%s:%s", init->settings->weir_folder, path ? path : "/usr/local/bin:/usr/bin:/bin");
	setenv("PATH", led, 1);
}

/* One file for both directions when they name the same. */
static int begin_captures(struct init *init, struct weir_err *err)
{
	const struct wr_lab_way *ways = init->settings->link.ways;
	struct timespec now;
	int64_t offset_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	offset_ns = now.tv_sec * (int64_t)WR_NS_PER_S + now.tv_nsec - wr_clock_ns();
	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		if (!ways[end].pcap)
			continue;
		if (end > 0 && ways[0].pcap && strcmp(ways[0].pcap, ways[end].pcap) == 0)
			init->captures[end] = init->captures[0];
		else if (wr_lab_capture_new(&init->captures[end], ways[end].pcap, offset_ns, err) < 0)
			return -1;
	}
	return 0;
}

static void end_captures(const struct init *init)
{
	wr_lab_capture_free(init->captures[0]);
	if (init->captures[1] != init->captures[0])
		wr_lab_capture_free(init->captures[1]);
}

static _Noreturn void run_link(const struct init *init)
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
	say(init, "the link stopped: %s", err.text);
	_exit(WEIR_ERR_HOST);
}

static _Noreturn void run_far(const struct init *init)
{
	const char *text = init->settings->far_command;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO); /* stdout is the near command's alone */
	set_environment(init, WR_LAB_FAR);
	restore_signals(&init->old_mask);
	if (text)
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	else
		execl("/proc/self/exe", "weir", "serve", "--quiet", (char *)NULL);
	say(init, "can't run %s: %s", text ? "/bin/sh" : "weir serve", strerror(errno));
	_exit(127);
}

void wr_lab_session_take_terminal(bool own_group)
{
	if (!isatty(STDIN_FILENO))
		return;
	if (own_group)
		setpgid(0, 0);
	signal(SIGTTOU, SIG_IGN); /* which asking from the background would bring */
	tcsetpgrp(STDIN_FILENO, getpgrp());
	signal(SIGTTOU, SIG_DFL);
}

static _Noreturn void run_near(const struct init *init)
{
	struct weir_err err = {0};

	if (wr_netns_enter(init->bed.netns_fds[WR_LAB_NEAR], &err) < 0) {
		say(init, "%s", err.text);
		_exit(WEIR_ERR_HOST);
	}
	set_environment(init, WR_LAB_NEAR);
	if (init->settings->foreground)
		wr_lab_session_take_terminal(true);
	restore_signals(&init->old_mask);
	execvp(init->settings->command[0], init->settings->command);
	say(init, "can't run %s: %s", init->settings->command[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int start(struct init *init, pid_t *pid, void (*run)(const struct init *init), struct weir_err *err)
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
static void reap(struct init *init)
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

static bool table_has_listener(const char *table)
{
	char path[64], line[512];
	bool found = false;
	FILE *in;

	/* Init itself is still in far's namespace. */
	snprintf(path, sizeof path, "/proc/self/net/%s", table);
	in = fopen(path, "re");
	while (in && !found && fgets(line, sizeof line, in)) {
		unsigned state;

		found = sscanf(line, "%*d: %*[0-9A-Fa-f]:%*x %*[0-9A-Fa-f]:%*x %x", &state) == 1 && state == 0x0a;
	}
	if (in)
		fclose(in);
	return found;
}

/* Whether the far command left anyone behind, as a daemon does: a process besides init and the link. */
static bool others_live(void)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	int n = 0;

	while (folder && (entry = readdir(folder)))
		n += entry->d_name[0] >= '1' && entry->d_name[0] <= '9';
	if (folder)
		closedir(folder);
	return n > 2;
}

static const char *far_name(const struct init *init)
{
	return init->settings->far_command ? init->settings->far_command : "weir serve";
}

/* Until far listens; a far command that fails first is an error, one that never listens is not. */
static int wait_for_far(struct init *init, struct weir_err *err)
{
	int64_t until_ns = wr_clock_ns() + (int64_t)LISTEN_WAIT_NS;

	while (wr_clock_ns() < until_ns) {
		reap(init);
		if (table_has_listener("tcp") || table_has_listener("tcp6"))
			return 0;
		if (init->far < 0 && init->far_status == 0 && !others_live())
			return 0;
		if (init->far < 0 && init->far_status != 0) {
			wr_err_set(err, WEIR_ERR_HOST, "far", "'%s' on far ended with status %d before it listened",
				   far_name(init), init->far_status);
			return wr_err_hint(err, "its own words stand above; it ran in far's namespace by sh -c");
		}
		poll(NULL, 0, LISTEN_POLL_MS);
	}
	say(init, "'%s' on far does not listen on a TCP port after 2 s; going on", far_name(init));
	return 0;
}

/* Whether only weir runs at both ends, to which the congestion control is named. */
static bool only_weir(const struct wr_lab_settings *settings)
{
	const char *slash = strrchr(settings->command[0], '/');

	return !settings->far_command && strcmp(slash ? slash + 1 : settings->command[0], "weir") == 0;
}

/* Near's side of the congestion control: does it exist, and what do programs other than weir use. */
static int check_congestion(struct init *init, struct weir_err *err)
{
	const char *wanted = init->settings->congestion;
	wr_auto_fd int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char current[64], available[256];

	wr_sysctl_read("net.ipv4.tcp_congestion_control", current, sizeof current);
	wr_sysctl_read("net.ipv4.tcp_available_congestion_control", available, sizeof available);
	if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, wanted, (socklen_t)strlen(wanted)) < 0) {
		wr_err_errno(err, WEIR_ERR_USAGE, "setsockopt TCP_CONGESTION", errno, "congestion control '%s'", wanted);
		return wr_err_hint(err, "this kernel offers: %s", available);
	}
	if (current[0] && strcmp(current, wanted) != 0 && !only_weir(init->settings))
		say(init, "weir uses %s here; other programs keep this host's default congestion control, %s", wanted, current);
	return 0;
}

/* Lateness beyond it changes what is measured. */
static uint64_t late_bound_ns(const struct wr_lab_settings *settings)
{
	const struct wr_lab_way *ways = settings->link.ways;

	return LATE_NS + (ways[WR_LAB_NEAR].delay_ns + ways[WR_LAB_FAR].delay_ns) / LATE_RTT_SHARE;
}

static int start_all(struct init *init, struct weir_err *err)
{
	const char *far = init->settings->far_command;

	init->counters = mmap(NULL, sizeof *init->counters, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (init->counters == MAP_FAILED)
		return wr_err_memory(err, "counters");
	init->stats = init->settings->stats;
	init->stats.late_bound_ns = late_bound_ns(init->settings);
	if (wr_lab_stats_begin(&init->stats, init->counters, err) < 0 || begin_captures(init, err) < 0)
		return -1;
	if (wr_lab_bed_init(&init->bed, &init->settings->link, init->settings->sysctls, init->settings->n_sysctls, err) < 0 ||
	    check_congestion(init, err) < 0 || start(init, &init->link, run_link, err) < 0)
		return -1;
	for (int end = 0; end < WR_LAB_N_ENDS; end++)
		close(init->bed.tun_fds[end]);
	if (!init->bed.hosts)
		say(init, "there is no /etc/hosts: near is 198.18.0.1, far is 198.18.0.2");
	if (!far || far[0]) {
		if (start(init, &init->far, run_far, err) < 0 || wait_for_far(init, err) < 0)
			return -1;
	}
	return start(init, &init->near, run_near, err);
}

static void forward(struct init *init, int number)
{
	if (init->near > 0)
		kill(init->near, number);
}

/* A SIGINT that the terminal or a group kill gave to near as well: a second one within the grace ends its life. */
static void count_int(struct init *init, int64_t now_ns)
{
	if (init->last_int_ns && now_ns - init->last_int_ns < (int64_t)GRACE_NS)
		init->kill_at_ns = now_ns;
	init->last_int_ns = now_ns;
}

static void on_direct_signal(struct init *init, int64_t now_ns)
{
	struct signalfd_siginfo info;

	while (read(init->signals, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGINT) {
			init->direct_int_ns = now_ns;
			count_int(init, now_ns);
		}
	}
	reap(init);
}

/* The caller got a signal from kill(2). A SIGINT that init has just seen itself went to the whole group. */
static void on_lifeline(struct init *init, int64_t now_ns)
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
static void watch(struct init *init)
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
			say(init, "'%s' on far ended with status %d", far_name(init), init->far_status);
		if (had_link && init->link < 0)
			say(init, "the link process died: the ends can't reach each other any more");
		had_far = init->far > 0;
		had_link = init->link > 0;
	}
}

/* Far may have a file to finish; what is left after a second dies with the namespace. */
static void end_far(struct init *init)
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
static void end_link(struct init *init)
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
static void note_shortcomings(struct init *init)
{
	const struct wr_lab_way *ways = init->settings->link.ways;
	char late[WR_UNIT_TEXT];

	for (int end = 0; end < WR_LAB_N_ENDS; end++) {
		uint64_t late_ns = wr_lab_histogram_quantile(&init->counters->ways[end].lateness, 0.99);
		uint64_t n = wr_lab_bed_overflows(&init->bed, end);

		if (wr_lab_stats_is_late(&init->counters->ways[end], init->stats.late_bound_ns))
			say(init, "the link was late: one in a hundred of %s's packets left %s after it was due: the CPU had"
				  " too much to do", wr_lab_end_names[end], wr_time_text(late, (double)late_ns));
		init->counters->ways[end].n_overflow_packets = n;
		if (n && !ways[end].device_packets)
			say(init, "%s sent faster than the link could read: %llu packets were lost in its device",
			    wr_lab_end_names[end], (unsigned long long)n);
	}
}

static _Noreturn void run_init(struct init *init)
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

/* What the caller handles while the lab lives, unless it was started with it ignored (nohup, background). */
static void block_signals(sigset_t *old_mask)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action;
	sigset_t mask;

	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	signal(SIGCHLD, SIG_DFL);
	for (size_t i = 0; i < WR_N_ELEMENTS(numbers); i++) {
		if (sigaction(numbers[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
			sigaddset(&mask, numbers[i]);
	}
	sigprocmask(SIG_BLOCK, &mask, old_mask);
}

/* The caller's part: pass on what came from kill(2); the terminal's own SIGINT has reached near already. */
static void wait_for_init(pid_t pid, int lifeline, int *status)
{
	sigset_t mask;
	siginfo_t info;

	sigprocmask(SIG_SETMASK, NULL, &mask);
	for (;;) {
		uint8_t number;

		if (waitpid(pid, status, WNOHANG) == pid)
			return;
		if (sigwaitinfo(&mask, &info) < 0)
			continue;
		number = (uint8_t)info.si_signo;
		if (number != SIGCHLD && !(number == SIGINT && info.si_code == SI_KERNEL))
			(void)!send(lifeline, &number, 1, MSG_NOSIGNAL);
	}
}

static int make_namespace(struct weir_err *err)
{
	int saved;

	if (unshare(CLONE_NEWPID) == 0)
		return 0;
	saved = errno;
	wr_err_errno(err, WEIR_ERR_HOST, "unshare CLONE_NEWPID", saved, "can't make a PID namespace");
	if (saved == EPERM)
		wr_err_hint(err, "it needs CAP_SYS_ADMIN: run it as root (sudo), in a container with --privileged");
	return -1;
}

/*
 * Fork init into a namespace of its own; later children of the caller are ordinary ones again, which the leak checker
 * needs too.
 */
static int fork_init(pid_t *pid, struct weir_err *err)
{
	wr_auto_fd int own_namespace = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	int saved;

	if (make_namespace(err) < 0)
		return -1;
	fflush(NULL);
	*pid = fork();
	saved = errno;
	if (*pid == 0)
		return 0;
	if (own_namespace >= 0)
		(void)setns(own_namespace, CLONE_NEWPID);
	if (*pid < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "fork", saved, "can't start the lab's first process");
	return 0;
}

int wr_lab_session_run(const struct wr_lab_settings *settings, int *status, struct weir_err *err)
{
	struct init init = {.settings = settings, .link = -1, .far = -1, .near = -1};
	wr_auto_fd int own = -1;
	int ends[2], raw = 0, rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socketpair", errno, "can't make the lifeline");
	own = ends[0];
	init.lifeline = ends[1];
	block_signals(&init.old_mask);
	rc = fork_init(&pid, err);
	if (rc == 0 && pid == 0) {
		close(own);
		run_init(&init);
	}
	close(init.lifeline);
	if (rc == 0)
		wait_for_init(pid, own, &raw);
	sigprocmask(SIG_SETMASK, &init.old_mask, NULL);
	if (rc < 0)
		return -1;
	if (err && recv(own, err, sizeof *err, MSG_DONTWAIT) == (ssize_t)sizeof *err)
		return -1;
	if (WIFSIGNALED(raw))
		return wr_err_set(err, WEIR_ERR_HOST, "lab", "the lab's first process was killed by signal %d", WTERMSIG(raw));
	*status = WEXITSTATUS(raw);
	return 0;
}
