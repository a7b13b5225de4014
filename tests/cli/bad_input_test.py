# SPDX-License-Identifier: MIT
"""Bad input: one line that says what is wrong and how to mend it, the right exit code, an error object with --json."""
import pytest

from weirtest import WEIR, call, error_of, free_port, lab, needs_lab, weir

USAGE, PEER = 2, 4

# Arguments after the command, and what the words must name.
WRONG_RUN = [
    (["-t", "5x", "h"], ["--time", "5x"]),
    (["-t", "-1", "h"], ["--time", "-1", "negative"]),
    (["-t", "0.01", "h"], ["--time", "0.01"]),
    (["-t", "inf", "h"], ["--time", "inf"]),
    (["-t", "1e3", "h"], ["--time", "1e3"]),
    (["-t", "", "h"], ["--time"]),
    (["-i", "0", "h"], ["--interval"]),
    (["--sndbuf", "64Q", "h"], ["--sndbuf", "64Q"]),
    (["--sndbuf", "64mbit", "h"], ["--sndbuf", "64mbit"]),
    (["--sndbuf", "-64K", "h"], ["--sndbuf", "-64K", "negative"]),
    (["--sndbuf", "0x10", "h"], ["--sndbuf", "0x10"]),
    (["--sndbuf", "1.2.3", "h"], ["--sndbuf", "1.2.3"]),
    (["--sndbuf", "999999999999G", "h"], ["--sndbuf", "999999999999G"]),
    (["--rcvbuf", "4G", "h"], ["--rcvbuf", "4G"]),
    (["--far-rcvbuf", "99999999999999999999999999999999999999999999999999", "h"], ["--far-rcvbuf"]),
    (["-w", "1T", "h"], ["--window", "1T"]),
    (["-l", "0", "h"], ["--length", "0"]),
    (["-l", "1G", "h"], ["--length", "1G"]),
    (["-n", "0", "h"], ["--bytes"]),
    (["-P", "0", "h"], ["--parallel", "0"]),
    (["-P", "1000000", "h"], ["--parallel", "1000000"]),
    (["-P", "2.5", "h"], ["--parallel", "2.5"]),
    (["-P", "-3", "h"], ["--parallel", "-3"]),
    (["-b", "20miles", "h"], ["--bitrate", "20miles"]),
    (["-b", "1", "h"], ["--bitrate", "1"]),
    (["-p", "0", "h"], ["--port", "0"]),
    (["-p", "65536", "h"], ["--port", "65536"]),
    (["-p", "http", "h"], ["--port", "http"]),
    (["-C", "a-name-that-is-much-too-long", "h"], ["--congestion"]),
    (["--cpu", "first", "h"], ["--cpu", "first", "NEAR[,FAR]"]),
    (["--cpu", "1,", "h"], ["--cpu", "1,"]),
    (["-t"], ["--time", "value"]),
    (["--json=yes", "h"], ["--json", "no value"]),
    (["--sndbufs", "1M", "h"], ["--sndbufs", "--sndbuf"]),
    (["--far-sendbuf", "1M", "h"], ["--far-sendbuf", "--far-sndbuf"]),
    (["--revers3", "h"], ["--revers3", "--reverse"]),
    (["--no-such-thing-at-all", "h"], ["--no-such-thing-at-all", "--help"]),
    (["-x", "h"], ["-x", "--help"]),
    (["-4", "-6", "h"], ["--ipv4", "--ipv6", "contradict"]),
    (["-n", "1M", "-t", "3", "h"], ["--bytes", "--time", "contradict"]),
    (["--json", "--json-stream", "h"], ["--json", "contradict"]),
    (["--read-rate", "1mbit", "h"], ["--read-rate", "--far-read-rate", "-R"]),
    (["--workload", "recrods", "h"], ["--workload", "recrods", "records", "weir list workloads"]),
    (["--workload", "records:sise=60", "h"], ["--workload records", "sise", "size", "weir list workloads"]),
    (["--workload", "records:size=0", "h"], ["--workload records", "size: 0", "1 MiB", "weir list workloads"]),
    (["--workload", "records:batch=1", "h"], ["--workload records", "batch 1", "2 to 10000", "weir list workloads"]),
    (["--workload", "records:wait=never", "h"], ["--workload records", "never", "acked"]),
    (["--workload", "records:size=60,size=70", "h"], ["size", "twice"]),
    (["--workload", "records", "-l", "1K", "h"], ["--workload records", "--length", "size="]),
    (["--workload", "records", "-n", "1M", "h"], ["--workload records", "--bytes", "count="]),
    (["--workload", "x" * 5000, "h"], ["--workload", "255"]),
    (["-R", "--far-read-rate", "1mbit", "h"], ["--far-read-rate", "--read-rate"]),
    ([], ["TARGET", "weir serve"]),
    (["h", "other"], ["other", "TARGET"]),
    (["h:0"], ["h:0", "65535"]),
    (["h:65536"], ["h:65536", "65535"]),
    (["h:http"], ["h:http", "65535"]),
    (["h:"], ["h:", "65535"]),
    ([":5201"], [":5201", "host"]),
    ([""], ["host"]),
    (["[::1"], ["[::1", "[ADDRESS]:PORT"]),
    (["[::1]5201"], ["[::1]5201", "[ADDRESS]:PORT"]),
    (["[]:5201"], ["[]:5201", "host"]),
    (["x" * 300], ["host"]),
]

WRONG_OTHERS = [
    ("serve", ["extra"], ["extra"]),
    ("serve", ["--port", "0"], ["--port"]),
    ("serve", ["--prot", "1"], ["--prot", "--port"]),
    ("serve", ["--max-buffer", "2G"], ["--max-buffer", "2G"]),
    ("serve", ["--max-sessions", "0"], ["--max-sessions"]),
    ("lab", [], ["command", "--"]),
    ("lab", ["--rate", "fast", "--", "true"], ["--rate", "fast"]),
    ("lab", ["--rate", "-1gbit", "--", "true"], ["--rate", "-1gbit"]),
    ("lab", ["--rtt", "10K", "--", "true"], ["--rtt", "10K"]),
    ("lab", ["--loss", "150%", "--", "true"], ["--loss", "150%"]),
    ("lab", ["--queue", "5", "--", "true"], ["--queue", "--rate"]),
    ("lab", ["--rtt", "10ms", "--delay", "5ms", "--", "true"], ["--rtt", "--delay", "contradict"]),
    ("lab", ["--mtu", "100", "--", "true"], ["--mtu", "100"]),
    ("lab", ["--offload", "maybe", "--", "true"], ["--offload", "maybe"]),
    ("lab", ["--sysctl", "nonsense", "--", "true"], ["--sysctl", "nonsense"]),
    ("lab", ["--sysctl", "middle:net.ipv4.tcp_rmem=1", "--", "true"], ["middle"]),
    ("lab", ["--ratee", "1gbit", "--", "true"], ["--ratee", "--rate"]),
    ("lab", ["--", "/no/such/program"], ["/no/such/program"]),
]


def names(outcome_err, words):
    for word in words:
        assert word in outcome_err, (word, outcome_err)


@pytest.mark.parametrize("args,words", WRONG_RUN, ids=lambda value: " ".join(value)[:40] or "nothing")
def test_run_refuses(args, words):
    names(error_of(weir("run", *args), USAGE, "run", as_json=any(arg.startswith("--json") for arg in args)), words)
    if not any(arg.startswith("--json") for arg in args):
        names(error_of(weir("run", "--json", *args), USAGE, "run", as_json=True), words)


@pytest.mark.parametrize("command,args,words", WRONG_OTHERS, ids=lambda value: " ".join(value)[:40] or "nothing")
def test_others_refuse(command, args, words):
    names(error_of(weir(command, *args), USAGE, command), words)


def test_bytes_that_are_no_text():
    """An argument that is not UTF-8 still gets its words and its object."""
    for args in ([b"--sndbuf", b"6\xff\xfe4"], [b"--s\xc3nd", b"1"], [b"h\xff:x"]):
        outcome = call(WEIR, "run", "--json", *[arg.decode("utf-8", "surrogateescape") for arg in args])
        assert outcome.code == USAGE and len(outcome.err_lines) in (1, 2), outcome.err
        assert outcome.json["error"]["code"] == USAGE and outcome.json["error"]["text"]


def test_words_stay_one_line():
    outcome = weir("run", "--sndbuf", "1\n2\n3", "h")
    assert outcome.code == USAGE and len(outcome.err_lines) <= 2, outcome.err
    outcome = weir("run", "h:\x1b[31m\nred")
    assert outcome.code == USAGE and len(outcome.err_lines) <= 2 and "\x1b" not in outcome.err, outcome.err


def test_unknown_command():
    for args in (["frobnicate"], ["help", "frobnicate"], ["-z"]):
        outcome = weir(*args)
        assert outcome.code == USAGE and outcome.out == ""
        assert outcome.err.startswith("weir: ") and "hint: " in outcome.err and " run " in outcome.err
        assert len(outcome.err_lines) == 2


def test_no_command():
    outcome = weir()
    assert outcome.code == USAGE and outcome.out == "" and "usage: weir" in outcome.err


@pytest.mark.parametrize("json", [False, True])
def test_unresolvable(json):
    err = error_of(weir("run", "no-such-host.invalid", *(["--json"] if json else [])), PEER, "run", json)
    names(err, ["no-such-host.invalid"])


@pytest.mark.parametrize("json", [False, True])
def test_refused_port(json):
    target = f"127.0.0.1:{free_port()}"
    err = error_of(weir("run", target, *(["--json"] if json else [])), PEER, "run", json)
    names(err, [target, "refused", "weir serve"])


def test_family_that_the_address_lacks():
    error_of(weir("run", "-6", "127.0.0.1"), PEER, "run")


def test_bind_to_a_foreign_address():
    err = error_of(weir("run", "-B", "192.0.2.1", f"127.0.0.1:{free_port()}"), USAGE, "run")
    names(err, ["--bind", "192.0.2.1"])


def test_congestion_that_is_not_there(server):
    for args in ([], ["-R"]):
        outcome = weir("run", server.target, "-C", "nosuchcc", *args)
        assert outcome.code in (3, 4) and "nosuchcc" in outcome.err, outcome
    server.at_rest()


@needs_lab
@pytest.mark.parametrize("args,most_s", [([], 10), (["--connect-timeout", "1"], 4)])
def test_silent_host(args, most_s):
    """A host that drops everything: an answer within 10 s, by the tool's own clock."""
    outcome = lab("--far-cmd=", "sh", "-c",
                  'ip route add 203.0.113.0/24 via 198.18.0.2; began=$(date +%s%N); ' # far forwards nothing
                  'weir run 203.0.113.9 "$@"; code=$?; echo $(( ($(date +%s%N) - began) / 1000000 )); exit $code',
                  "sh", *args)
    assert outcome.code == PEER, outcome
    assert int(outcome.out) <= most_s * 1000, outcome.out
    assert "did not answer within" in outcome.err and "hint:" in outcome.err


@needs_lab
def test_unroutable_host():
    outcome = lab("--far-cmd=", "sh", "-c", "ip route add unreachable 203.0.113.0/24; exec weir run 203.0.113.9")
    assert outcome.code == PEER and "203.0.113.9" in outcome.err, outcome
