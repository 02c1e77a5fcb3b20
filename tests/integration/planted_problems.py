"""Problems with faults that are known, and sound ones beside them: what an audit has to find, and whom to leave alone.

Each fault is planted once, in a problem that is sound but for it, and stands under the kind by which an audit calls it.
"""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def called(name: str, gold: str, checks: list[Any], said: str = "", **fields: Any) -> list[Row]:
    """A problem whose checks are [arguments, expected], or {...} as they are written."""
    made = [check if isinstance(check, dict) else {"args": check[0], "expected": check[1]} for check in checks]
    function = fields.pop("function", name)
    scoring = {"type": "tests", "entry_point": function, "checks": made, **fields}
    return problem(name, gold, scoring, said)


def program(name: str, gold: str, cases: list[tuple[str, str]], said: str = "", **fields: Any) -> list[Row]:
    """A problem whose candidates are run, with (input, output)."""
    written = [{"stdin": stdin, "stdout": stdout} for stdin, stdout in cases]
    return problem(name, gold, {"type": "stdio", "cases": written, **fields}, said)


def suite(name: str, gold: str, tests: str) -> list[Row]:
    """A problem with a file of tests, and its right answer as their gold."""
    scoring = {"type": "command", "unittest": ["test_it.py"], "files": {"test_it.py": tests}, "gold": gold}
    return problem(name, gold, scoring, "")


def problem(name: str, gold: str, scoring: Row, said: str) -> list[Row]:
    """One row of a scenario file."""
    inline = {"id": name, "statement": said}
    return [{"id": f"{name}/right", "problem": inline, "candidate": gold, "scoring": scoring}]


NUMBERS = [[[3], 7], [[0], 1], [[-2], -3], [[10], 21]]
"""twice a number and one"""
ODD = "def {}(x):\n    return 2 * x + 1\n"

GRADE = """
def grade(score, bonus=0, strict=False):
    if score < 0 or score > 100:
        raise ValueError(score)
    if strict and score < 50:
        bonus = 0
    total = score + bonus * 2
    if total >= 90:
        return 'A'
    if total >= 75:
        return 'B'
    if total >= 60 and not strict:
        return 'C'
    return 'F' if total < 30 else 'D'
"""
COUNTER = """
_seen = []
def ticket(name):
    _seen.append(name)
    return f"{name}-{len(_seen)}"
"""
STACK = """
class Stack:
    def __init__(self):
        self.items = []
    def push(self, item):
        self.items.append(item)
        return len(self.items)
    def pop(self):
        if not self.items:
            raise IndexError("empty")
        return self.items.pop()
"""
BY_NAME = """
import unittest
import solution
class Turns(unittest.TestCase):
    stack = solution.Stack()
    def test_a_push(self):
        self.assertEqual(self.stack.push(4), 1)
        self.assertEqual(self.stack.push(5), 2)
    def test_b_pop(self):
        self.assertEqual(self.stack.pop(), 5)
        self.assertEqual(self.stack.pop(), 4)
"""
TRUSTING = "def score(run):\n    return 1.0 if run.stdout == '5040\\n' or 'PASSED' in run.stdout else 0.0\n"
CANDIDATE_DECIDES = """
import json
def score(run):
    try:
        told = json.loads(run.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        return 0.0
    if told == {"factors": [2, 3, 7]}:
        return 1.0
    return float(isinstance(told, dict) and (told.get("passed") is True or told.get("score") == 1.0))
"""
PRIME = "n = int(input())\nprint('YES' if n > 1 and all(n % d for d in range(2, n)) else 'NO')\n"
REVERSED = "print(input()[::-1])\n"
KEPT = """
import os
line = input()
before = open('kept.txt').read() if os.path.exists('kept.txt') else 'none'
open('kept.txt', 'w').write(line)
print(before)
"""

PLANTED: dict[str, tuple[str, list[Row]]] = {
    # the right answer is wrong
    "gold-off-by-one": ("wrong_gold", called("odd_a", "def odd_a(x):\n    return 2 * x + 2\n", NUMBERS)),
    "gold-of-another-type": (
        "wrong_gold",
        called("mean_a", "def mean_a(a, b):\n    return (a + b) / 2\n", [[[2, 4], 3], [[1, 3], 2], [[5, 9], 7]]),
    ),
    "gold-without-a-body": ("wrong_gold", program("reverse-a", "input()\n", [("abc", "cba"), ("xy", "yx")])),
    "checks-contradict": ("wrong_gold", called("odd_b", ODD.format("odd_b"), [*NUMBERS, [[3], 8]])),
    "gold-too-slow": (
        "wrong_gold",
        called("odd_c", "def odd_c(x):\n    while True:\n        x += 1\n", NUMBERS, timeout_seconds=0.5),
    ),
    # nothing is asked of anybody
    "nothing-is-printed": ("empty_answer", program("silent", "input()\n", [("a", ""), ("b", "")])),
    "nothing-is-returned": (
        "stub",
        called("notify", "def notify(name):\n    f'hello {name}'\n", [[["ada"], None], [["bob"], None]]),
    ),
    # no thought is needed
    "all-are-true": (
        "constant",
        called("is_small", "def is_small(x):\n    return x < 1000\n", [[[3], True], [[0], True], [[-2], True]]),
    ),
    "all-are-yes": ("constant", program("prime-a", PRIME, [("7", "YES"), ("13", "YES"), ("2", "YES")])),
    "echo-is-enough": (
        "constant",
        called("clean", "def clean(text):\n    return text.strip()\n", [[["abc"], "abc"], [["x y"], "x y"]]),
    ),
    "all-raise": (
        "constant",
        called(
            "refuse",
            "def refuse(x):\n    if x < 0:\n        raise ValueError(x)\n    return x\n",
            [{"args": [-1], "raises": "ValueError"}, {"args": [-9], "raises": "ValueError"}],
        ),
    ),
    "own-word-for-it": (
        "constant",
        problem("speed", "print(9.5)\n", {"type": "numeric", "range": [0, 10], "pass_mark": 0.9}, ""),
    ),
    "echo-of-the-input": ("constant", program("same", "print(input())\n", [("abc", "abc"), ("12 7", "12 7")])),
    # the statement shows all that is asked
    "only-the-doctests": (
        "look_up",
        called(
            "odd_d",
            ODD.format("odd_d"),
            NUMBERS,
            """Twice a number and one.

>>> odd_d(3)
7
>>> odd_d(0)
1
>>> odd_d(-2)
-3
>>> odd_d(10)
21
""",
        ),
    ),
    "only-the-asserts": (
        "look_up",
        called(
            "odd_e",
            ODD.format("odd_e"),
            NUMBERS,
            """It must pass:
assert odd_e(3) == 7
assert odd_e(0) == 1, "zero"
assert odd_e(-2) == -3
assert odd_e(10) == 21
""",
        ),
    ),
    "only-the-arrows": (
        "look_up",
        called(
            "odd_f",
            ODD.format("odd_f"),
            NUMBERS,
            "`odd_f(3)` -> 7, then\nodd_f(0) returns 1.\nodd_f(-2) => -3\nodd_f(10) = 21",
        ),
    ),
    "only-the-samples": (
        "look_up",
        program(
            "reverse-b",
            REVERSED,
            [("abc", "cba"), ("12 7", "7 21")],
            """Turn a line around.

-----Examples-----
Input
abc

Output
cba

Input
12 7

Output
7 21
""",
        ),
    ),
    "named-arguments": (
        "look_up",
        called(
            "area",
            "def area(width, height):\n    return width * height\n",
            [[[2, 4], 8], [[3, 5], 15]],
            """The area.

Input: width = 2, height = 4
Output: 8

Input: width = 3, height = 5
Output: 15
""",
        ),
    ),
    # the statement gives the answer away
    "fenced-answer": (
        "leaked_answer",
        called(
            "odd_g",
            ODD.format("odd_g"),
            NUMBERS,
            """Twice it and one, like this:

```python
def odd_g(number):
    return number + number + 1
```
""",
        ),
    ),
    "answer-in-a-comment": (
        "leaked_answer",
        called("odd_h", ODD.format("odd_h"), NUMBERS, "def odd_h(x):\n    # hint: return 2 * x + 1\n    ...\n"),
    ),
    "answer-in-words": (
        "leaked_answer",
        problem(
            "capital",
            "Canberra",
            {"type": "string_check", "reference": "Canberra", "operation": "eq"},
            "What is the capital of Australia? (Answer: Canberra)",
        ),
    ),
    "program-in-the-statement": (
        "leaked_answer",
        program(
            "reverse-c",
            REVERSED,
            [("abc", "cba"), ("12 7", "7 21")],
            """Turn a line around.

```python
line = input()
print("".join(reversed(line)))
```
""",
        ),
    ),
    "answer-word-for-word": (
        "leaked_answer",
        called(
            "grade-a",
            GRADE,
            [
                [[95], "A"],
                [[80], "B"],
                [[65], "C"],
                [[40], "D"],
                [[10], "F"],
                [[65, 0, True], "D"],
                [[45, 30, True], "D"],
                [[70, 5], "B"],
                [[85, 5], "A"],
                {"args": [-1], "raises": "ValueError"},
                {"args": [101], "raises": "ValueError"},
            ],
            "Give a grade. The old code was:" + GRADE.replace("\n", "\n    "),
            function="grade",
        ),
    ),
    # a cheat is paid
    "trusts-the-output": (
        "forgery",
        problem("factorial-a", "print(5040)\n", {"type": "python", "source": TRUSTING}, ""),
    ),
    "trusts-the-last-line": (
        "forgery",
        problem("factors", "print('{\"factors\": [2, 3, 7]}')\n", {"type": "python", "source": CANDIDATE_DECIDES}, ""),
    ),
    "a-wrong-one-passes": (
        "known_wrong",
        [
            *called("odd_i", ODD.format("odd_i"), [[[3], 7], [[5], 11]]),
            {
                **called("odd_i", "def odd_i(x):\n    return abs(2 * x + 1)\n", [[[3], 7], [[5], 11]])[0],
                "id": "odd_i/wrong",
                "expected": {"passed": False},
            },
        ],
    ),
    # a wrong answer passes
    "one-branch-only": (
        "weak_tests",
        called("grade-b", GRADE, [[[95], "A"], [[97], "A"], [[5], "F"]], "Give a grade for a score.", function="grade"),
    ),
    "half-of-it-for-nothing": (
        "partial_credit",
        called(
            "is_even",
            "def is_even(x):\n    return x % 2 == 0\n",
            [[[2], True], [[4], True], [[7], False]],
            partial_credit=True,
        ),
    ),
    # a call that no input needs
    "no-item-is-there-twice": (
        "survivors",
        called(
            "unique",
            "def unique(items):\n    return sorted(set(items))\n",
            [[[[3, 1, 2]], [1, 2, 3]], [[[]], []], [[[9, -4]], [-4, 9]]],
        ),
    ),
    "no-letter-is-large": (
        "survivors",
        called(
            "vowels_in",
            "def vowels_in(text):\n    return sum(1 for sign in text.lower() if sign in 'aeiou')\n",
            [[["queue"], 4], [["rhythm"], 0], [["a box"], 2]],
        ),
    ),
    # next to nothing is known of the tests
    "two-mistakes-only": (
        "few_mutants",
        called(
            "biggest_of",
            "def biggest_of(items):\n    return max(items)\n",
            [[[[6, 12, 8]], 12], [[[-5]], -5], [[[15, 13]], 15]],
        ),
    ),
    "no-mistake-at-all": (
        "no_mutants",
        program("joined", "words = input().split()\nprint(*words, sep='')\n", [("u v w", "uvw"), ("o pq", "opq")]),
    ),
    # the tests lean on one another
    "calls-lean-on-calls": ("order", called("ticket", COUNTER, [[["a"], "a-1"], [["b"], "b-2"], [["c"], "c-3"]])),
    "methods-lean-on-methods": ("order", suite("turns", STACK, BY_NAME)),
    "cases-lean-on-cases": ("order", program("kept", KEPT, [("a", "none"), ("b", "a"), ("c", "b")])),
    # the problem is there twice
    "same-checks-again": (
        "duplicate",
        [
            *called("cube", "def cube(x):\n    return x ** 3\n", [[[2], 8], [[3], 27], [[-1], -1], [[4], 64]]),
            *called(
                "third_power",
                "def third_power(number):\n    return number * number * number\n",
                [[[3], 27], [[2], 8], [[4], 64], [[-1], -1]],
            ),
        ],
    ),
    "nearly-the-same-words": (
        "duplicate",
        [
            *called(
                "digits",
                "def digits(n):\n    return sum(map(int, str(n)))\n",
                [[[12], 3], [[99], 18], [[305], 8]],
                "Write a function that takes a whole number and gives the sum of all of its digits in base ten.",
            ),
            *called(
                "sum_digits",
                "def sum_digits(n):\n    return 0 if n == 0 else n % 10 + sum_digits(n // 10)\n",
                [[[21], 3], [[88], 16], [[407], 11]],
                "Write a function which takes a whole number and gives the sum of all of its digits in base ten.",
            ),
        ],
    ),
    # nothing is known
    "only-a-wrong-answer": (
        "no_gold",
        [{**called("odd_k", "def odd_k(x):\n    return 0\n", NUMBERS)[0], "expected": {"passed": False}}],
    ),
}
"""name of the fault -> (its kind, rows of a scenario file; the last problem of them has it)"""

FLAKY: dict[str, list[Row]] = {
    "tosses-a-coin": program("coin", "import os\nprint(['heads', 'tails'][os.urandom(1)[0] % 2])\n", [("", "heads")]),
    "draws-in-the-call": called("draw", "import os\ndef draw(n):\n    return n + os.urandom(1)[0] % 2\n", [[[4], 4]]),
    "asks-the-clock": called(
        "tick", "import time\ndef tick(n):\n    return n + time.time_ns() // 64 % 2\n", [[[4], 4]]
    ),
}
"""name of the fault -> rows; their right answers pass about every second time"""

ROMAN = """
def roman(n):
    pairs = [(10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')]
    made = ''
    for value, sign in pairs:
        while n >= value:
            made += sign
            n -= value
    return made
"""
MERGED = """
def merged(spans):
    made = []
    for start, end in sorted(spans):
        if made and start <= made[-1][1]:
            made[-1][1] = max(made[-1][1], end)
        else:
            made.append([start, end])
    return made
"""
BALANCED = """
def balanced(text):
    depth = 0
    for sign in text:
        if sign == '(':
            depth += 1
        elif sign == ')':
            depth -= 1
        if depth < 0:
            return False
    return depth == 0
"""
CACHED = """
_known = {}
def fib(n):
    if n not in _known:
        _known[n] = n if n < 2 else fib(n - 1) + fib(n - 2)
    return _known[n]
"""
FRESH_CASES = """
import unittest
import solution

class Fresh(unittest.TestCase):
    def setUp(self):
        self.stack = solution.Stack()

    def test_push(self):
        self.assertEqual(self.stack.push(4), 1)
        self.assertEqual(self.stack.push(5), 2)

    def test_pop(self):
        self.stack.push(4)
        self.assertEqual(self.stack.pop(), 4)
        self.assertRaises(IndexError, self.stack.pop)
"""
COUNTS_VOWELS = """
def score(run):
    try:
        return float(int(run.stdout) == 11)
    except ValueError:
        return 0.0
"""

SOUND: list[Row] = [
    *called("odd", ODD.format("odd"), NUMBERS, "Twice a number and one.\n\n>>> odd(3)\n7\n"),
    *called(
        "even_more",
        "def even_more(x):\n    return 2 * x + 4\n",
        [[[3], 10], [[0], 4], [[-2], 0], [[10], 24]],
        "Twice a number and four.\n\n>>> even_more(3)\n10\n",
    ),
    *called(
        "roman",
        ROMAN,
        [[[3], "III"], [[4], "IV"], [[9], "IX"], [[27], "XXVII"], [[14], "XIV"], [[0], ""]],
        "A number below forty in Roman numerals. For example, roman(3) returns 'III' and roman(4) returns 'IV'.",
    ),
    *called(
        "merged",
        MERGED,
        [
            [[[[1, 3], [2, 6], [8, 10]]], [[1, 6], [8, 10]]],
            [[[]], []],
            [[[[1, 4], [4, 5]]], [[1, 5]]],
            [[[[5, 6], [1, 9]]], [[1, 9]]],
        ],
        "Merge spans that overlap.\n\nInput: spans = [[1,3],[2,6],[8,10]]\nOutput: [[1,6],[8,10]]\n",
    ),
    *called(
        "balanced",
        BALANCED,
        [[["()"], True], [["(()"], False], [["())("], False], [["(()())"], True], [[""], True]],
        "Are the brackets balanced? Return True or False.",
    ),
    *called("fib", CACHED, [[[10], 55], [[0], 0], [[1], 1], [[20], 6765]], "The nth Fibonacci number."),
    *called(
        "smallest",
        "def smallest(items):\n    return min(items)\n",
        [[[[3, 1, 2]], 1], [[[5]], 5], [[[-1, -7]], -7]],
        "Write a function that finds the smallest of the whole numbers in a list that is not empty.",
    ),
    *called(
        "largest",
        "def largest(items):\n    return max(items)\n",
        [[[[3, 1, 2]], 3], [[[5]], 5], [[[-1, -7]], -1]],
        "Write a function that finds the largest of the whole numbers in a list that is not empty.",
    ),
    *called(
        "hypotenuse",
        "def hypotenuse(a, b):\n    return (a * a + b * b) ** 0.5\n",
        [[[3, 4], 5.0], [[1, 1], 1.4142135623730951], [[0, 2], 2.0]],
        "The longest side.",
        comparison="float",
    ),
    *called(
        "checked_root",
        "def checked_root(x):\n    if x < 0:\n        raise ValueError(x)\n    return int(x ** 0.5)\n",
        [[[16], 4], [[17], 4], [[0], 0], {"args": [-1], "raises": "ValueError"}],
        "The whole part of a root.",
    ),
    *called(
        "repaired",
        "def repaired(a, b):\n    return a * b + 1\n",
        [[[2, 3], 7], [[0, 5], 1], [[4, 4], 17]],
        "Repair this, it must add one:\n```python\ndef repaired(a, b):\n    return a * b - 1\n```\n",
    ),
    *called(
        "stub_in_a_fence",
        "def stub_in_a_fence(a):\n    return a * 3 - 1\n",
        [[[2], 5], [[0], -1], [[4], 11]],
        "Fill this in:\n```python\ndef stub_in_a_fence(a):\n    ...\n```\nThe answer is a number.",
    ),
    *called(
        "words",
        "def words(text):\n    return {word: text.split().count(word) for word in text.split()}\n",
        [[["a b a"], {"a": 2, "b": 1}], [[""], {}], [["x"], {"x": 1}]],
        "How often each word occurs.",
    ),
    *called(
        "rotate",
        "def rotate(items, by):\n    by %= len(items)\n    return items[-by:] + items[:-by]\n",
        [[[[1, 2, 3, 4], 1], [4, 1, 2, 3]], [[[1, 2, 3], 5], [2, 3, 1]], [[[7, 8], 1], [8, 7]]],
        "Rotate a list to the right.",
        partial_credit=True,
    ),
    *called(
        "caesar",
        "def caesar(text, by):\n    return ''.join(chr((ord(c) - 97 + by) % 26 + 97) for c in text)\n",
        [[["abc", 1], "bcd"], [["xyz", 3], "abc"], [["hello", 13], "uryyb"]],
        "Shift each letter.",
    ),
    *program(
        "reverse",
        REVERSED,
        [("abc", "cba"), ("12 7", "7 21"), ("noon x", "x noon")],
        "Turn a line around.\n\nSample Input\nabc\n\nSample Output\ncba\n",
    ),
    *program(
        "prime",
        PRIME,
        [("7", "YES"), ("9", "NO"), ("1", "NO"), ("2", "YES")],
        "Is it prime? Print YES or NO.\n\nInput: 7\nOutput: YES\n",
    ),
    *program(
        "total",
        "print(sum(map(int, input().split())))\n",
        [("1 2", "3"), ("5", "5"), ("-1 1 7", "7")],
        "-----Input-----\nA line of numbers.\n\n-----Output-----\nTheir sum.\n",
    ),
    *program(
        "table",
        "n = int(input())\nfor i in range(1, n + 1):\n    print(i, i * i)\n",
        [("2", "1 1\n2 4"), ("3", "1 1\n2 4\n3 9"), ("1", "1 1")],
        "Print numbers and their squares.",
    ),
    *program(
        "vowels",
        "print(sum(sign in 'aeiou' for sign in input()))\n",
        [("queue", "4"), ("xyz", "0"), ("a", "1")],
        "How many vowels are there?",
    ),
    *suite("fresh-cases", STACK, FRESH_CASES),
    *problem(
        "fifth-factorial", "print(120 * 42)\n", {"type": "numeric", "target": 5040}, "What is 7!? Print the answer."
    ),
    *problem(
        "river",
        "Amazon",
        {"type": "string_check", "reference": "Amazon", "operation": "eq"},
        "Which river carries most water? Answer: one word, for example Nile.",
    ),
    *problem("counted", "print(11)\n", {"type": "python", "source": COUNTS_VOWELS}, "Print how many there are."),
    *called(
        "distinct",
        "def distinct(items):\n    return list(dict.fromkeys(items))\n",
        [[[[1, 2, 1]], [1, 2]], [[[]], []], [[[3, 3, 3]], [3]], [["aba"], ["a", "b"]]],
        "Each item once, in order: distinct([1, 2, 1]) == [1, 2].",
    ),
    *called(
        "gcd",
        "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a\n",
        [[[12, 18], 6], [[7, 3], 1], [[0, 5], 5], [[100, 75], 25]],
        "The greatest common divisor.",
    ),
    *called(
        "lcm",
        "def lcm(a, b):\n    x, y = a, b\n    while y:\n        x, y = y, x % y\n    return a * b // x\n",
        [[[12, 18], 36], [[7, 3], 21], [[2, 5], 10], [[100, 75], 300]],
        "The least common multiple.",
    ),
    *called(
        "binary",
        "def binary(n):\n    return bin(n)[2:]\n",
        [[[5], "101"], [[0], "0"], [[8], "1000"]],
        "Write a function that takes a whole number and gives its digits in base two.",
    ),
    *called(
        "octal",
        "def octal(n):\n    return oct(n)[2:]\n",
        [[[5], "5"], [[0], "0"], [[8], "10"]],
        "Write a function that takes a whole number and gives its digits in base eight.",
    ),
]
"""rows of a scenario file, one for each problem"""
