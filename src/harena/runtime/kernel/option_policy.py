"""Which options of sockets and of processes a sandbox may set: allow-lists for `setsockopt` and `prctl`.

Both take a number that a filter of system calls can read, and each number reaches another part of the kernel. Left out
is every option that makes the kernel hold something which no cgroup counts and no namespace divides:

    error queues             IP_RECVERR, SO_TIMESTAMPING, SO_ZEROCOPY, SO_WIFI_STATUS: they hold packets for the sender
    programs of the kernel   SO_ATTACH_*, PR_SET_SECCOMP: compiled into one pool of the whole host, without which no
                             other sandbox can start
    flow labels              4,096 for the whole host
    blocks of a socket       options of packets, keys of TCP, upper layers, names of memory: kept beside the socket
    memberships of groups    of IPv6 without a bound; there is no interface for them here, which is what is said
    corks                    a datagram that is never sent
    connections of nobody    TCP_LINGER2: how long one that its program has closed waits for the other end's close, two
                             minutes instead of none; their number is the whole host's (net.ipv4.tcp_max_orphans), and
                             beyond it the kernel breaks connections that anybody closes

What is left out answers as on a kernel that does not have it. Larger buffers are granted without effect: a program that
asks for them works with the usual ones, and what a socket may hold stays the host's default. So is IP_RECVERR, without
which glibc asks no name server: a socket that is connected hears of errors without it. So are TCP_LINGER2 and
SO_LINGER: who closes the last descriptor of a socket would wait for as long as the program said, and that may be the
kernel's one worker that closes files for the whole host (garbage of unix sockets), or a process that was sent the
descriptor.
Numbers: the kernel's own headers (Linux 6.18), the same on both machines.
"""

from __future__ import annotations

EPERM, ENODEV, EINVAL, ENOPROTOOPT = 1, 19, 22, 92
ALLOW, GRANT = -1, 0
"""what is answered, where it is no errno: the kernel decides; success, without effect"""


def _parse(text: str) -> dict[str, int]:
    return {name: int(number, 0) for name, _, number in (entry.partition("=") for entry in text.split())}


_IP, _SOCKET, _TCP, _UDP, _IPV6 = 0, 1, 6, 17, 41

_ALLOWED_OF_SOCKETS = {
    _SOCKET: _parse("""
        SO_DEBUG=1 SO_REUSEADDR=2 SO_DONTROUTE=5 SO_BROADCAST=6 SO_KEEPALIVE=9 SO_OOBINLINE=10 SO_NO_CHECK=11
        SO_PRIORITY=12 SO_BSDCOMPAT=14 SO_REUSEPORT=15 SO_PASSCRED=16 SO_RCVLOWAT=18 SO_SNDLOWAT=19
        SO_RCVTIMEO_OLD=20 SO_SNDTIMEO_OLD=21 SO_BINDTODEVICE=25 SO_TIMESTAMP_OLD=29 SO_PASSSEC=34
        SO_TIMESTAMPNS_OLD=35 SO_RXQ_OVFL=40 SO_PEEK_OFF=42 SO_MAX_PACING_RATE=47 SO_INCOMING_CPU=49
        SO_BINDTOIFINDEX=62 SO_TIMESTAMP_NEW=63 SO_TIMESTAMPNS_NEW=64 SO_RCVTIMEO_NEW=66 SO_SNDTIMEO_NEW=67
        SO_PASSPIDFD=76 SO_PASSRIGHTS=83
    """),
    _IP: _parse("""
        IP_TOS=1 IP_TTL=2 IP_RECVOPTS=6 IP_RETOPTS=7 IP_PKTINFO=8 IP_MTU_DISCOVER=10 IP_RECVTTL=12 IP_RECVTOS=13
        IP_FREEBIND=15 IP_PASSSEC=18 IP_ORIGDSTADDR=20 IP_MINTTL=21 IP_CHECKSUM=23 IP_BIND_ADDRESS_NO_PORT=24
        IP_RECVFRAGSIZE=25 IP_MULTICAST_IF=32 IP_MULTICAST_TTL=33 IP_MULTICAST_LOOP=34 IP_DROP_MEMBERSHIP=36
        MCAST_LEAVE_GROUP=45 IP_MULTICAST_ALL=49 IP_UNICAST_IF=50 IP_LOCAL_PORT_RANGE=51
    """),
    _TCP: _parse("""
        TCP_NODELAY=1 TCP_MAXSEG=2 TCP_CORK=3 TCP_KEEPIDLE=4 TCP_KEEPINTVL=5 TCP_KEEPCNT=6 TCP_SYNCNT=7
        TCP_DEFER_ACCEPT=9 TCP_WINDOW_CLAMP=10 TCP_QUICKACK=12 TCP_CONGESTION=13 TCP_USER_TIMEOUT=18 TCP_FASTOPEN=23
        TCP_NOTSENT_LOWAT=25 TCP_FASTOPEN_CONNECT=30 TCP_INQ=36
    """),
    _UDP: _parse("UDP_NO_CHECK6_TX=101 UDP_NO_CHECK6_RX=102 UDP_SEGMENT=103 UDP_GRO=104"),
    _IPV6: _parse("""
        IPV6_2292PKTINFO=2 IPV6_2292HOPLIMIT=8 IPV6_FLOWINFO=11 IPV6_UNICAST_HOPS=16 IPV6_MULTICAST_IF=17
        IPV6_MULTICAST_HOPS=18 IPV6_MULTICAST_LOOP=19 IPV6_DROP_MEMBERSHIP=21 IPV6_MTU_DISCOVER=23 IPV6_MTU=24
        IPV6_V6ONLY=26 IPV6_MULTICAST_ALL=29 MCAST_LEAVE_GROUP=45 IPV6_RECVPKTINFO=49 IPV6_PKTINFO=50
        IPV6_RECVHOPLIMIT=51 IPV6_RECVHOPOPTS=53 IPV6_RECVRTHDR=56 IPV6_RECVDSTOPTS=58 IPV6_DONTFRAG=62
        IPV6_RECVTCLASS=66 IPV6_TCLASS=67 IPV6_AUTOFLOWLABEL=70 IPV6_ADDR_PREFERENCES=72 IPV6_MINHOPCOUNT=73
        IPV6_RECVORIGDSTADDR=74 IPV6_UNICAST_IF=76 IPV6_RECVFRAGSIZE=77 IPV6_FREEBIND=78
    """),
}
_ANSWERED_OF_SOCKETS = {
    _SOCKET: {7: GRANT, 8: GRANT, 13: GRANT, 32: EPERM, 33: EPERM, 36: EPERM},
    # SO_SNDBUF, SO_RCVBUF, SO_LINGER; SO_SNDBUFFORCE, SO_RCVBUFFORCE, SO_MARK need a privilege
    _TCP: {8: GRANT},  # TCP_LINGER2
    _IP: {11: GRANT, **dict.fromkeys((35, 39, 42, 46), ENODEV)},  # IP_RECVERR; IP_ADD_MEMBERSHIP and its like
    _IPV6: {25: GRANT, **dict.fromkeys((20, 27, 42, 46), ENODEV)},
    # IPV6_RECVERR; IPV6_ADD_MEMBERSHIP, IPV6_JOIN_ANYCAST and their like
}

SOCKET_OPTIONS: dict[int, dict[int, int]] = {
    level: {**dict.fromkeys(names.values(), ALLOW), **_ANSWERED_OF_SOCKETS.get(level, {})}
    for level, names in _ALLOWED_OF_SOCKETS.items()
}
"""level -> option -> answer; ENOPROTOOPT for all others"""

_ALLOWED_OF_PROCESSES = _parse("""
    PR_SET_PDEATHSIG=1 PR_GET_PDEATHSIG=2 PR_GET_DUMPABLE=3 PR_SET_DUMPABLE=4 PR_GET_KEEPCAPS=7 PR_SET_KEEPCAPS=8
    PR_GET_TIMING=13 PR_SET_TIMING=14 PR_SET_NAME=15 PR_GET_NAME=16 PR_GET_SECCOMP=21 PR_CAPBSET_READ=23
    PR_CAPBSET_DROP=24 PR_GET_TSC=25 PR_SET_TSC=26 PR_GET_SECUREBITS=27 PR_SET_SECUREBITS=28 PR_SET_TIMERSLACK=29
    PR_GET_TIMERSLACK=30 PR_MCE_KILL_GET=34 PR_SET_CHILD_SUBREAPER=36 PR_GET_CHILD_SUBREAPER=37 PR_SET_NO_NEW_PRIVS=38
    PR_GET_NO_NEW_PRIVS=39 PR_GET_TID_ADDRESS=40 PR_SET_THP_DISABLE=41 PR_GET_THP_DISABLE=42 PR_CAP_AMBIENT=47
    PR_SVE_SET_VL=50 PR_SVE_GET_VL=51 PR_GET_SPECULATION_CTRL=52 PR_SET_SPECULATION_CTRL=53 PR_PAC_RESET_KEYS=54
    PR_SET_TAGGED_ADDR_CTRL=55 PR_GET_TAGGED_ADDR_CTRL=56 PR_GET_IO_FLUSHER=58 PR_SET_SYSCALL_USER_DISPATCH=59
    PR_PAC_SET_ENABLED_KEYS=60 PR_PAC_GET_ENABLED_KEYS=61 PR_SME_SET_VL=63 PR_SME_GET_VL=64 PR_SET_MDWE=65
    PR_GET_MDWE=66 PR_GET_AUXV=0x41555856
""")
_PR_SET_SECCOMP, _PR_SET_MM, _PR_SET_PTRACER, _PR_SCHED_CORE = 22, 35, 0x59616D61, 62

PROCESS_OPTIONS: dict[int, int] = {
    **dict.fromkeys(_ALLOWED_OF_PROCESSES.values(), ALLOW),
    **dict.fromkeys((_PR_SET_MM, _PR_SET_PTRACER, _PR_SCHED_CORE), EPERM),
}
"""option -> answer; EINVAL for all others, as PR_SET_SECCOMP"""

PROCESS_OPTIONS_OF_TEMPLATES = {**PROCESS_OPTIONS, _PR_SET_SECCOMP: ALLOW}
"""a launch loads the filter of its sandbox"""
