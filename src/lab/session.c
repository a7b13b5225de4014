/* SPDX-License-Identifier: MIT */
/*
 * Three levels. The caller waits, passes signals on and is the lifeline. Init, pid 1 of a new PID namespace, does the
 * rest, and its end takes everything along: the kernel kills a PID namespace with its init. Init dies with the caller by
 * PR_SET_PDEATHSIG and, where that comes too late, by the lifeline's end of file. Source: pid_namespaces(7), prctl(2).
 */
#include "lab/session.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "lab/init.h"

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

int wr_lab_session_run(const struct wr_lab_settings *settings, int *status, struct weir_err *err)
{
	struct wr_lab_init init = {.settings = settings, .link = -1, .far = -1, .near = -1};
	wr_auto_fd int own = -1;
	int ends[2], raw = 0, rc;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return wr_err_errno(err, WEIR_ERR_HOST, "socketpair", errno, "can't make the lifeline");
	own = ends[0];
	init.lifeline = ends[1];
	block_signals(&init.old_mask);
	rc = wr_userns_fork(&init.userns, &pid, err);
	if (rc == 0 && pid == 0) {
		close(own);
		wr_lab_init_run(&init);
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
