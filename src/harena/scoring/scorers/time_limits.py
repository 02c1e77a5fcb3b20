"""Whether a program's time is over: decisions about values, no I/O and no clock.

A limit of N seconds is one of processor time: a program whose whole tree has used N seconds, and has run for at least
as long, is over. What a program uses less than that may be its own doing (it sleeps, waits, lowers its priority, crowds
itself with children) or the host's. No number that the candidate can steer tells the two apart, so a *control* does: an
honest loop of the platform in a sandbox of its own, beside the candidate, in the same moment. The seconds that the
control got are what a program in this place could have used; FAIR_FACTOR times the limit of these, and the time is
over, whatever the candidate did with it. Only where the control, too, got so little that the wall limit comes first was
the host to blame.

Time in which nothing of it wanted a processor (all its threads slept, or were stopped) is its own, however little the
control gets: a busy host keeps nobody from sleeping.

What the candidate can steer (its own waiting, the pressure on the host) can move the beginning of this count from its
limit to what it has used, and no further.

A program that is asked many things is looked at again and again, however quick each answer is. The time in which its
messages are carried is the platform's and not the program's, so that its processor time decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

WALL_FACTOR = 20.0
WALL_FLOOR_SECONDS = 20.0
"""A program may run for WALL_FACTOR times its limit of wall time, and for at least so much longer than its limit: a
host that gives a twentieth of a core is slow, and no program on it is."""
FAIR_FACTOR = 1.5
"""The control is measured now and then, and not all the time: it has to be this much ahead."""
ALL_USED = 0.98
"""share of a limit at which it counts as used up; what is missing is the start of the program and the precision of the
kernel's count"""
PRESSED_SHARE = 0.1
"""share of the time: pressure on the host's processors above this may have slowed a program down"""
DELAYED_SHARE = 0.02
"""share of the time: a thread that waited longer than this for a processor may have been slowed down"""
FED_SHARE = 0.5
"""share of a core: a host on which an honest loop gets this much starves nobody"""
CARRIED_SECONDS = 0.001
"""wall time that each message takes between this process and the program, and that no program is charged for"""
_MANY_ANSWERS = 500
_BORDER_SECONDS = 0.002
"""processor time of one question and its answer: where it is less, the border may be what it goes to"""
_CROSSED_SECONDS = 0.01
"""wall time of the same on a busy host"""
_CHATTY_SECONDS = 0.1
"""wall time for each message: where it is less, this process may have been what was waited for"""


class Standing(StrEnum):
    """What one look at a program has shown."""

    GOING = "going"
    OVER = "over"
    """its time is over: a timeout"""
    STARVED = "starved"
    """neither it nor the control got its time"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A program and the control, in one moment."""

    wall_seconds: float
    """since the program began"""
    cpu_seconds: float
    """processor time of its whole tree since then"""
    control_share: float | None = None
    """share of one core that an honest loop gets now; None = not asked"""
    pressed: bool = True
    """something says that it may have been slowed down"""
    messages: int = 0
    """how many it has been sent, and has given, in this time"""
    idle: bool = False
    """nothing of it wants a processor in this moment: it sleeps, or is stopped"""

    @property
    def own_seconds(self) -> float:
        """Wall time without that in which messages were carried."""
        return self.wall_seconds - CARRIED_SECONDS * self.messages

    @property
    def is_excused(self) -> bool:
        """It may have been slowed down, or what it said may have waited for this process."""
        return self.pressed or self.wall_seconds < _CHATTY_SECONDS * self.messages


def wall_limit(limit_seconds: float) -> float:
    """The most wall time that a limit of so many seconds can last.

    >>> wall_limit(3), wall_limit(0.5)
    (60.0, 20.5)
    """
    return max(WALL_FACTOR * limit_seconds, WALL_FLOOR_SECONDS + limit_seconds)


def charged_seconds(*, wall_seconds: float, cpu_seconds: float, pressed: bool) -> float:
    """How much of a limit for several programs together one has used that came to an end in time: its wall time, or on
    a host under pressure its processor time, and never less than the wall limit allows."""
    return min(wall_seconds, max(cpu_seconds, wall_seconds / WALL_FACTOR)) if pressed else wall_seconds


def may_be_of_border(*, limit_seconds: float, wall_seconds: float, cpu_seconds: float, answers: int) -> bool:
    """A side whose time is over may have used it for what many short questions and answers cost by themselves. Who
    computes or waits for longer than an answer takes has used it itself.

    >>> may_be_of_border(limit_seconds=10, wall_seconds=30, cpu_seconds=10, answers=60_000)
    True
    """
    if answers < _MANY_ANSWERS or cpu_seconds > _BORDER_SECONDS * answers:
        return False
    return cpu_seconds >= ALL_USED * limit_seconds or wall_seconds <= _CROSSED_SECONDS * answers


class Allowance:
    """The time of one program. Looks must come in order."""

    def __init__(self, limit_seconds: float) -> None:
        self.limit_seconds = limit_seconds
        self._fair: float | None = None
        self._looked_at = 0.0
        self._before: Look | None = None

    def needs_control(self, look: Look) -> bool:
        """A look without the control cannot decide."""
        return look.own_seconds >= self.limit_seconds and look.cpu_seconds < ALL_USED * self.limit_seconds

    def judge(self, look: Look) -> Standing:
        """What a look shows."""
        if look.wall_seconds < self.limit_seconds:
            return Standing.GOING
        if look.cpu_seconds >= ALL_USED * self.limit_seconds:
            return Standing.OVER
        if look.own_seconds >= self.limit_seconds:
            share = min(1.0, look.control_share or 0.0)
            if self._fair is None:
                if not look.is_excused and share >= FED_SHARE:
                    return Standing.OVER
                self._fair = look.cpu_seconds
            else:
                self._fair += self._share_of(look, share) * max(0.0, look.own_seconds - self._looked_at)
            self._looked_at = look.own_seconds
            self._before = look
            if self._fair >= FAIR_FACTOR * self.limit_seconds:
                return Standing.OVER
        return Standing.STARVED if look.wall_seconds >= wall_limit(self.limit_seconds) else Standing.GOING

    def _share_of(self, look: Look, share: float) -> float:
        """What part of a core it could have used since the last look. Who wanted no processor then, wants none now, and
        was neither asked nor answered between was not kept from one: a free host would have given it nothing more."""
        before = self._before
        slept = before is not None and before.idle and look.idle and before.messages == look.messages
        return 1.0 if slept else share

    def seconds_to_look(self, wall_seconds: float, cpu_seconds: float = 0.0) -> float:
        """How long to wait before the next look, after one at `wall_seconds` that showed `cpu_seconds`."""
        if wall_seconds < self.limit_seconds:
            return self.limit_seconds - wall_seconds
        left = min(ALL_USED * self.limit_seconds - cpu_seconds, 0.2 * self.limit_seconds)
        return min(_LONGEST_PAUSE_SECONDS, max(_SHORTEST_PAUSE_SECONDS, left))


_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 1.0
