# ruff: noqa: E501 (a table)
r"""What `math_v1` takes for the same answer: right ones in the forms that models write, and wrong ones beside them."""

from __future__ import annotations

import pytest

from harena.training.data.prompts import PromptRow
from harena.training.rewards import reward_recipe
from harena.training.rewards.boxed import last_box, same_answer

SAME = [
    # fractions, decimals, integers
    (r"\frac{1}{2}", r"\dfrac{1}{2}"), (r"\frac{1}{2}", r"\tfrac12"), (r"\frac{1}{2}", r"\frac12"), (r"\frac{1}{2}", "1/2"),
    (r"\frac{1}{2}", "0.5"), (r"\frac{1}{2}", ".5"), ("0.5", r"\frac12"), (r"-\frac{3}{4}", r"\frac{-3}{4}"), (r"-\frac34", "-3/4"),
    (r"-\frac{3}{4}", r"\frac{3}{-4}"), (r"\frac{3}{2}", r"1\frac{1}{2}"), (r"\frac{3}{2}", "1.5"), (r"\frac{6}{4}", r"\frac32"), ("5", "5.0"), ("5", "5."),
    ("5", "+5"), ("-5", "\u22125"), ("-5", "- 5"), ("5", "05"), (r"\frac{1}{2}", r"{\frac{1}{2}}"), (r"\frac{17}{21}", "\\frac {17} {21}"),
    # thousands
    ("1000", "1,000"), ("1,000,000", "1000000"), ("32348", r"32{,}348"), ("32348", r"32\,348"), ("32,348", r"\$32,348"), ("12345", "12 345"),
    ("1,234.5", "1234.5"),
    # what only says how it looks
    ("5", r"\text{5}"), ("5", r"\mathbf{5}"), ("5", "$5$"), ("5", r"\(5\)"), ("(1,2)", r"\left(1,2\right)"), ("(1,2)", r"\left( 1, \, 2 \right)"),
    (r"2\pi", r"2\,\pi"), ("x+1", r"\displaystyle x + 1"), (r"\frac{1}{2}", r"\displaystyle\frac{1}{2}"), ("3", r"{3}"), (r"\{1,2\}", r"\left\{ 1,2 \right\}"),
    ("x^2", "x^{2}"), (r"\sqrt{2}", r"\sqrt2"), (r"\sqrt{2}", "\u221a2"), (r"\sqrt{2}", "sqrt(2)"), (r"2\pi", "2\u03c0"), (r"2\pi", "2pi"),
    # units, text, percent, degrees, money
    (r"5\text{ cm}", "5"), ("5", r"5\text{ cm}"), ("5", "5 cm"), ("5", r"5\,\text{cm}^2"), ("5", r"5\ \mathrm{m/s}"), ("5", r"5\text{ m}"), ("12", "12 inches"), ("12", r"12 \text{ square units}"),
    (r"\frac{1}{2}\text{ hours}", r"\frac12"), ("10", r"10\text{ dollars}"), ("10", r"\$10"), (r"\$10.50", "10.5"), ("50", r"50\%"), (r"50\%", "50"), (r"50\%", "0.5"), ("0.5", r"50\%"), (r"50\%", r"\frac12"),
    ("90", r"90^\circ"), (r"90^{\circ}", "90"), ("90", "90\u00b0"), ("90", r"90\text{ degrees}"), ("90", r"90\degree"), ("3", "3 hours"), ("60", "60 miles per hour"), ("7", r"7\text{ apples}"),
    # names before it, equations
    ("5", "x=5"), ("x=5", "5"), ("5", "x = 5"), ("x=5", "x=5"), ("y=2x+3", "2x+3"), ("y=2x+3", "y = 3 + 2x"), ("2x+3", "f(x)=2x+3"), ("(0,1)", r"x\in(0,1)"), ("x^2+y^2=4", "y^2+x^2=4"), ("x^2+y^2=4", "4=x^2+y^2"),
    # roots, constants
    (r"\frac{\sqrt{3}}{2}", r"\sqrt{3}/2"), (r"\frac{\sqrt{3}}{2}", r"\frac12\sqrt3"), (r"\frac{\sqrt{2}}{2}", r"\frac{1}{\sqrt{2}}"), (r"2\sqrt{2}", r"\sqrt{8}"), (r"2\sqrt{3}", r"2\cdot\sqrt{3}"),
    (r"2\sqrt{3}", r"\sqrt{3}\cdot 2"), (r"\frac{2\pi}{3}", r"\frac{2}{3}\pi"), (r"\frac{2\pi}{3}", r"2\pi/3"), (r"\sqrt[3]{2}", r"2^{1/3}"), (r"\frac{1+\sqrt{5}}{2}", r"\frac{\sqrt{5}+1}{2}"),
    (r"\frac{1+\sqrt{5}}{2}", r"\frac{1}{2}+\frac{\sqrt5}{2}"), (r"1+\sqrt{2}", r"\sqrt{2}+1"), (r"-2+\sqrt{7}", r"\sqrt{7}-2"), ("3+2i", "2i+3"), ("3-i", "-i+3"), (r"e^2", "e^{2}"), (r"\ln 2", r"\ln(2)"), (r"\log_2 3", r"\log_{2}{3}"),
    ("1024", "2^{10}"), (r"3\times10^5", "300000"), ("300000", r"3 \times 10^{5}"), ("2^{10}", "1024"), ("0.001", r"10^{-3}"),
    # formulas
    ("x^2+1", "1+x^2"), ("(x-1)(x+1)", "(x+1)(x-1)"), ("(x-1)(x+1)", r"(x+1)\cdot(x-1)"), ("2(x+1)^2", "2(1+x)^2"), ("xy", "yx"), ("2xy", r"2x \cdot y"), (r"\frac{x+1}{2}", "(x+1)/2"), (r"\frac{x}{2}", r"\frac12x"),
    (r"\frac{1}{x}", "1/x"), (r"\frac{1}{x}", "x^{-1}"), ("-x+1", "1-x"), ("-(x-1)", "1-x"), (r"\sin\theta", r"\sin(\theta)"), (r"\sin^2 x", r"(\sin x)^2"), ("a_1+a_2", "a_2+a_1"), ("a_{1}", "a_1"), (r"\frac{a}{b}", "a/b"), ("n!", "n!"),
    (r"\binom{n}{2}", r"\binom{n}{2}"),
    # lists, sets, plus and minus
    ("1,2,3", "1, 2, 3"), ("1,2,3", "3,2,1"), ("1,2", r"1 \text{ and } 2"), ("1,2", "1 and 2"), ("1,2", r"1\text{ or }2"), ("1, 2", r"\{1,2\}"), (r"\{1,2\}", r"\{2,1\}"), ("-1,1", r"\pm 1"), (r"\pm1", "1,-1"), ("-2, 2", r"x=\pm 2"),
    (r"2\pm\sqrt{3}", r"2+\sqrt{3}, 2-\sqrt{3}"), (r"\frac{1\pm\sqrt5}{2}", r"\frac{1+\sqrt5}{2},\frac{1-\sqrt5}{2}"), (r"1,\frac{1}{2}", r"0.5,1"), (r"\emptyset", r"\varnothing"),
    # tuples, intervals, unions
    ("(1,2)", "(1, 2)"), ("(1,2)", "1,2"), (r"\left(\frac12,3\right)", "(0.5,3)"), ("[0,1)", r"\left[0,1\right)"), (r"(1,\infty)", r"(1,+\infty)"), (r"(1,\infty)", "(1,\u221e)"), (r"(-\infty,1)\cup(2,\infty)", r"(2,\infty)\cup(-\infty,1)"), (r"(1,2) \cup [3,4]", "(1,2)\u222a[3,4]"),
    ("(1,2),(3,4)", "(3,4), (1,2)"), (r"\left(3, \frac{\pi}{2}\right)", r"(3,\pi/2)"), ("(-1,2)", "(\u22121,2)"), ("(1,-2,0)", "(1,-2,0)"), ("x>3", "x > 3"), (r"x\leq 3", r"x \le 3"), (r"x\ge3", "x\u22653"),
    # matrices
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}"), (r"\begin{pmatrix} 1/2 \\ 3 \end{pmatrix}", r"\begin{pmatrix} \frac12 \\ 3 \end{pmatrix}"),
    # words, choices, bases
    (r"\text{Evelyn}", "Evelyn"), ("Evelyn", r"\text{evelyn}"), (r"\text{(B)}", "B"), ("B", "(B)"), (r"\textbf{(B)}", r"\text{B}"), (r"\text{even}", r"\text{Even}"), (r"\text{No solution}", "no solution"), ("2516_8", "2516_{8}"), ("2516_8", "2516"), ("4:30", "4:30"), (r"\text{A, B}", "A, B"),
    ("1,2", r"x = 1 \text{ or } x = 2"), ("1,2", "x=1, x=2"), (r"\frac{3}{4}", r"\frac{3}{4}."), ("16", r"16\text{ cubic inches}"), (r"\frac{1}{2}", r"\left(\frac{1}{2}\right)"), (r"x^{2}+2x+1", r"x^2 + 2 x + 1"), ("6", r"6 \mbox{ cm}^2"),
    (r"\frac{\pi}{6}", r"\pi/6"), (r"-\frac{\pi}{6}", r"\frac{-\pi}{6}"), (r"\sqrt{13}", r"\sqrt{13}\text{ units}"), (r"11\sqrt{2}", r"11 \sqrt {2}"), (r"\frac{9}{7}", r"\cfrac{9}{7}"), ("0", "-0"), (r"3 \sqrt{13}", r"3\sqrt{13}"), (r"\text{east}", "East"), ("p - q", "p-q"), ("-50", "-50.0"), (r"\frac{3840289}{1}", "3840289"),
    # in the styles of chat models: names, chains, intervals, colours, units
    (r"\frac{3}{4}", r"\frac{3}{4} \text{ of an hour}"), (r"\frac{3}{4}", r"\dfrac{3}{4}\,\text{hours}"), (r"2\frac{1}{3}", r"\frac{7}{3}"), (r"\frac73", r"2 \frac{1}{3}"),
    (r"\frac73", "2 1/3"), (r"1\frac{4}{5}", "1.8"), (r"\frac{\sqrt{6}}{3}", r"\sqrt{\frac{2}{3}}"), (r"\sqrt{\frac23}", r"\frac{\sqrt6}{3}"),
    (r"\frac{5\sqrt{3}}{3}", r"\frac{5}{\sqrt{3}}"), (r"6+9\pi", r"9\pi + 6"), (r"\frac{4}{3}\pi", r"\frac{4\pi}{3}"), ("[-2,7]", r"-2\le x\le 7"), ("[-2,7]", r"x \in [-2, 7]"),
    (r"(-\infty, 2)", "x < 2"), (r"(-\infty,2]", r"x \leq 2"), (r"[3,\infty)", r"x\geq3"), ("(3,9)", "3<x<9"), (r"x\in[-2,7]", "[-2,7]"),
    (r"(-\infty,-1)\cup(1,\infty)", r"x<-1 \text{ or } x>1"), (r"[-5,1]\cup[5,11]", r"[-5, 1] \cup [5, 11]"), (r"\mathbb{R}", r"(-\infty,\infty)"), (r"(-\infty,\infty)", r"\mathbb{R}"),
    (r"\text{all real numbers}", r"\mathbb{R}"), ("3, 5, 7", "3,5,7"), ("3,5,7", "x = 3, 5, 7"), ("3,5,7", r"3, 5, \text{ and } 7"), ("3,5,7", r"3, 5 \text{ and } 7"),
    ("3,5,7", r"\{3, 5, 7\}"), ("1,-2", r"x=1\text{ and }x=-2"), ("1,-2", "x_1 = 1, x_2 = -2"), ("1,-2", "x=-2, 1"), (r"\{-1,0,1\}", "-1,0,1"), ("3", r"\{3\}"), ("-3,3", r"\pm3"),
    (r"\begin{pmatrix} 1 & 0 \\ 0 & 1 \end{pmatrix}", r"\begin{bmatrix}1&0\\0&1\end{bmatrix}"), (r"\begin{pmatrix} 3 \\ -7 \end{pmatrix}", r"\begin{pmatrix}3\\-7\end{pmatrix}"),
    (r"\begin{pmatrix} 3 \\ -7 \end{pmatrix}", "(3,-7)"), (r"\begin{pmatrix} -18 \\ -49 \\ 96 \end{pmatrix}", r"\begin{pmatrix} -18 \\[1ex] -49 \\[1ex] 96 \end{pmatrix}"),
    (r"\begin{pmatrix} -1/3 & 2/3 \\ 5 & 7 \end{pmatrix}", r"\begin{pmatrix} -\frac{1}{3} & \frac{2}{3} \\ 5 & 7 \end{pmatrix}"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4\end{pmatrix}", r"\left(\begin{array}{cc} 1 & 2 \\ 3 & 4 \end{array}\right)"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4\end{pmatrix}", r"\left[\begin{matrix} 1 & 2 \\ 3 & 4 \end{matrix}\right]"),
    (r"\begin{pmatrix} 1 \\ 2\end{pmatrix}", r"\mathbf{v} = \begin{pmatrix} 1 \\ 2 \end{pmatrix}"), (r"\begin{pmatrix} 1 \\ 2\end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \\ \end{pmatrix}"),
    (r"\begin{pmatrix} 1 \\ 2\end{pmatrix}", r"\begin{pmatrix} 1 \cr 2 \end{pmatrix}"), (r"90^\circ", r"90^\circ"), ("90", r"90^{\circ}"), ("90", "90 degrees"),
    (r"90^\circ", r"90 \text{ degrees}"), ("120", r"\angle ABC = 120^\circ"), ("120", r"\theta = 120^\circ"), ("120", r"m\angle A = 120"), ("5", "AB = 5"), ("5", "|AB| = 5"),
    ("8", r"\text{Area} = 8"), ("8", r"\text{area}=8\text{ square units}"), ("8", r"8 \text{ sq. units}"), ("15", r"\text{Total} = 15"), ("5", "n = 5"), ("5", "a + b = 5"),
    ("12", "xy = 12"), ("-4", "f(3) = -4"), ("10", r"\binom{5}{2} = 10"), ("56", r"\dbinom{8}{3}=56"), ("7", "3 + 4 = 7"), ("120", "5! = 120"), (r"\frac{1}{6}", r"P = \frac{1}{6}"),
    (r"\frac16", r"P(A)=\frac16"), (r"\frac16", r"\frac{6}{36}=\frac{1}{6}"), (r"\frac13", r"\frac{1}{3} \approx 0.333"), ("2.5", r"\frac{5}{2} = 2.5"), ("17", r"17 \text{ students}"),
    ("17", r"\text{17 students}"), ("17", "17 students"), ("17", r"\textbf{17}"), ("14", r"x = 14^\circ"), (r"\$18.90", "18.90"), ("18.90", r"\$18.90"), ("18.9", r"\text{\$}18.90"),
    ("18.90", r"18.90\text{ dollars}"), ("32,348", r"\$32{,}348"), ("5", r"\text{\$5}"), ("1,500", "1500 dollars"), (r"20\%", "20"), ("20", r"20\%"), ("20", r"20\text{ percent}"),
    ("20", "20 percent"), ("66.7", r"66.7\%"), ("A", r"\text{A}"), ("A", r"\textbf{(A)}"), ("A", r"\textbf{(A) } 5"), ("(A)", "A"), ("C", r"\text{(C) }12"), ("C", r"(C)\ 12"),
    ("B", r"\mathrm{(B)}"), ("D", "D."), ("D", r"\text{D)}"), ("E", r"\textbf{(E)}\ 25"), (r"\text{Saturday}", "Saturday"), (r"\text{parabola}", r"\text{Parabola}"),
    (r"\text{ellipse}", r"\text{an ellipse}"), ("Yes", r"\text{Yes}"), ("Yes", "yes."), (r"\text{Navin}", r"\textbf{Navin}"), (r"\text{odd}", r"\textit{odd}"),
    ("June 20", r"\text{June 20}"), ("6:00 p.m.", r"6\text{:}00\text{ p.m.}"), ("10:30", "10{:}30"), ("x^2+3x+2", "x^2 + 3x + 2"), ("(x+1)(x+2)", "(x + 2)(x + 1)"), ("y = 2x - 1", "2x-1"),
    ("x^2+y^2-4=0", "x^2+y^2=4"), ("2x+3y-6=0", "2x+3y=6"), ("3x-4y+2z-5=0", "3x - 4y + 2z - 5 = 0"), ("p(x)=x^2+1", "x^2+1"), ("x^3+3x-6", "x^{3} + 3x - 6"),
    (r"\frac{x-1}{2}", r"\frac{1}{2}(x-1)"), (r"\frac{x-1}{2}", r"\frac{x}{2}-\frac{1}{2}"), ("4x^2-1", "-1+4x^2"), (r"8\pi", r"8\pi\text{ square inches}"), (r"8\pi", "8 pi"),
    (r"8\pi", r"8\pi \, \text{cm}^3"), (r"2\sqrt{3}-1", r"-1 + 2\sqrt{3}"), (r"\sqrt{3}+\sqrt{2}", r"\sqrt{2}+\sqrt{3}"), (r"3\sqrt{2}", r"\sqrt{18}"), (r"\sqrt{18}", r"3\sqrt2"),
    (r"\frac{3+\sqrt{7}}{2}", r"\frac{1}{2}(3+\sqrt{7})"), (r"\frac{3}{2}i", r"\frac{3i}{2}"), ("1+2i", "1 + 2i"), (r"e^{i\pi/3}", r"e^{\frac{i\pi}{3}}"),
    (r"\frac{\pi}{3}", r"\theta=\frac{\pi}{3}"), ("2^{99}", "2^{99}"), ("2^8", "256"), ("10^{6}", "1,000,000"), (r"6.02\times 10^{23}", r"6.02 \cdot 10^{23}"),
    (r"1\times 10^{-3}", "0.001"), ("11001_2", "11001_{2}"), ("11001_2", r"11001_{\text{two}}"), ("11001_2", r"11001_{\text{2}}"), ("11001_2", "(11001)_2"), ("4343_6", "4343_{6}"),
    ("AB_{16}", r"\text{AB}_{16}"), (r"\left(\frac{3}{5},\frac{8}{3}\right]", r"\left(\frac35,\frac83\right]"), ("(6,31,-1)", "(6, 31, -1)"), ("(2,5)", "x = 2, y = 5"),
    ("(2,5)", "(x,y)=(2,5)"), ("(2,5)", "(x, y) = (2, 5)"), ("(2,5)", r"x=2 \text{ and } y=5"), ("(1,2,3)", "(a,b,c) = (1,2,3)"), ("(1,2,3)", "a=1, b=2, c=3"),
    (r"(3,\frac{\pi}{2})", r"\left(3,\; \frac{\pi}{2}\right)"), (r"\left(-\frac12, 4\right)", "(-0.5,4)"), (r"0.\overline{3}", r"0.\overline{3}"), (r"\infty", r"+\infty"),
    (r"-\infty", r"-\infty"), (r"\text{undefined}", r"\text{Undefined}"), (r"\text{DNE}", "DNE"), (r"\emptyset", r"\{\}"), (r"\text{no solution}", r"\text{No solutions}"),
    ("0", r"\text{0}"), ("1:2", "1 : 2"), ("1:2", r"1\!:\!2"), ("2:3", r"2\text{ : }3"), ("5", r"5\text{ m/s}"), ("5", r"5\,\frac{\text{m}}{\text{s}}"), ("5", r"5 \text{ m s}^{-1}"),
    ("5", r"5\;\mathrm{km}\,\mathrm{h}^{-1}"), ("12", r"12\text{ cm}^3"), ("12", r"12\,\text{units}^2"), ("12", r"12\text{ (units)}"), ("12", r"\mathbf{12}"), ("12", r"\color{blue}{12}"),
    ("12", r"\textcolor{red}{12}"), ("12", r"\underline{12}"), ("12", r"\large 12"), ("12", r"\Huge{12}"), ("12", "~12~"), ("12", r"\ 12 \ "), ("12", r"12 \checkmark"), ("12", r"\;12\;"),
    ("12", r"\phantom{0}12"), ("12", "{12}"), ("12", r"\displaystyle{12}"), ("12", r"\text{ }12"), ("12", r"\text{The answer is }12"), ("12", r"\text{Answer: }12"), ("12", "12\n"),
    ("12", r"12 \quad"), ("12", r"\,12"), ("12", "\uff11\uff12"), ("1/2", "\u00bd"), ("12", r"\approx 12"), (r"\frac{1}{2}", "\\frac{1}{2}\\\\"), ("x^2", "x\u00b2"), ("x^3", "x\u00b3"),
    (r"\sqrt{5}", "\u221a5"), (r"3\sqrt{5}", "3\u221a5"), (r"\pi", "\u03c0"), (r"2\pi/3", "2\u03c0/3"), ("-1", "\u22121"), (r"x\ge 2", "x \u2265 2"), (r"3\cdot 2^{n}", r"3 \times 2^n"),
    ("3^{n-1}", "3^{(n-1)}"), ("n(n+1)/2", r"\frac{n(n+1)}{2}"), (r"\frac{n(n+1)}{2}", "n(n+1)/2"), (r"\binom{10}{3}", r"\dbinom{10}{3}"), (r"\binom{10}{3}", r"{10 \choose 3}"),
    ("a^2b^3", "a^2 b^3"), ("|x|", r"\lvert x\rvert"), (r"\lfloor x\rfloor", r"\left\lfloor x \right\rfloor"), (r"\frac{1}{x+1}", r"\frac1{x+1}"), (r"\frac{2x}{3}", r"\frac{2}{3}x"),
    (r"-\frac{2x}{3}", r"-\frac{2}{3}x"), (r"\frac{-2}{3}", r"-\frac{2}{3}"), (r"\frac{3}{2}", r"\frac{\;3\;}{\;2\;}"), (r"\tan^{-1}(2)", r"\arctan 2"), (r"\arctan 2", r"\tan^{-1} 2"),
    (r"\sec x", r"\frac{1}{\cos x}"), (r"\sqrt[3]{4}", "4^{1/3}"), ("2^{2/3}", r"\sqrt[3]{4}"), ("(a,b)", "(a, b)"), ("x=0,1", "0,1"),
    (r"-\frac{1}{2},3", r"x = -\frac{1}{2} \text{ or } x = 3"), (r"-\frac12,3", r"-0.5,\,3"), ("12", r"12 = 3 \cdot 4"), (r"\frac12", r"\frac{1}{2}=0.5"), ("0.5", r"\frac{1}{2}=0.5"),
    ("50", r"x = 50^\circ"), ("(2,3)", r"x=2,\ y=3"), (r"-\frac{3}{4}", r"m = -\frac{3}{4}"), (r"5\sqrt{2}", r"5\sqrt{2} \approx 7.07"), (r"5\sqrt{2}", r"d = 5\sqrt{2}\text{ units}"),
    (r"36\pi", r"V = 36\pi\text{ cubic inches}"), (r"x\le 3", r"(-\infty,3]"), ("x>3", r"(3,\infty)"), ("x > 3", "3 < x"), ("-1<x<3", "(-1,3)"), ("-1<x<3", r"x\in(-1,3)"), ("x=3", "3"),
    (r"\text{(B)}", r"\text{B}"), (r"\text{(B)}", r"\textbf{(B)}\ 12"), ("B", "B) 12"), ("C", r"\text{C}"), (r"\text{Tuesday}", "Tuesday."), (r"\text{hyperbola}", r"\text{Hyperbola}"),
    (r"4\text{ hours}", "4 hours"), (r"4\text{ hours}", "4"), (r"4 \text{ hours}", r"4\text{ hrs}"), (r"15\text{ ft}", "15 feet"), (r"\$12.50", r"\$12.50"),
    ("12.50", r"\$12.50\text{ dollars}"), ("3x+2", "f(x)=3x+2"), (r"f^{-1}(x)=\frac{x-2}{3}", r"\frac{x-2}{3}"), (r"\frac{x-2}{3}", r"f^{-1}(x)=\frac{x-2}{3}"),
    (r"y = \frac12x+3", r"\frac{1}{2}x+3"), (r"y=\frac12x+3", "y = 0.5x + 3"), (r"12.5\%", "12.5"), (r"\left(\frac{1}{2},-3\right)", r"\left( \dfrac{1}{2}, -3 \right)"),
    ("3,-1", "x = 3, -1"), ("3,-1", r"x=3\text{ or }x=-1"), ("3,-1", r"x \in \{3, -1\}"), ("3,-1", r"\{-1,3\}"), ("2,3,5", r"2, 3,\text{ and }5"), ("1000", "10^3"), ("8!", "40320"),
    ("40320", "40320"), ("0.4375", r"\frac{7}{16}"), ("a^2+b^2", "b^2+a^2"), ("n^2", "n^{2}"), ("2n+1", "2n + 1"), ("-2", "x=-2"), ("6", r"6\text{ (six)}"), ("15", r"15\text{ minutes}"),
    (r"\text{A,C,D}", "A, C, D"), ("1/4", r"25\%"), (r"\frac{1}{4}", "0.25"), ("z=1+i", "1+i"), ("1+i", "z = 1 + i"), ("x^2+4x+4=0", "x^2 + 4x + 4 = 0"),
    ("(x-2)^2+(y+1)^2=9", "(x - 2)^2 + (y + 1)^2 = 9"), (r"\frac{x^2}{4}+\frac{y^2}{9}=1", r"\frac{y^2}{9} + \frac{x^2}{4} = 1"), (r"\sqrt{x+1}", "(x+1)^{1/2}"), ("e^{2x}", r"\exp(2x)"),
    (r"\ln|x|+C", r"\ln |x| + C"), (r"\frac{x^3}{3}+C", r"\frac{1}{3}x^3 + C"), ("0.05", r"5\times10^{-2}"), (r"4.5\times10^{4}", "45000"), (r"99\%", "99%"), (r"\text{true}", "True"),
    (r"\text{7th}", r"7\text{th}"), ("i", r"\mathrm{i}"), ("2i", r"2\mathrm{i}"), (r"\text{-3}", "-3"),
    (r"\begin{pmatrix} 2 & 1 \\ 0 & 3 \end{pmatrix}", r"\mathbf{A} = \begin{pmatrix} 2 & 1 \\ 0 & 3 \end{pmatrix}"),
    (r"\begin{pmatrix} 2 \\ 3 \end{pmatrix}", r"\left\langle 2, 3 \right\rangle"), ("(2,3)", r"\langle 2,3\rangle"), (r"60^\circ", "60"),
    (r"\frac{\pi}{3}", r"\frac{\pi}{3}\text{ radians}"), (r"\frac{\pi}{3}", r"\frac{\pi}{3} \text{ rad}"),
    (r"5\text{ m}", r"5\text{ meters}"), (r"5\text{ cm}", "m=5"), (r"3\text{ ft}", r"3\text{ feet}"),
    # values with many digits
    (r"\frac{\sqrt{2}}{2^{50}}", r"\frac{1}{2^{49}\sqrt{2}}"), (r"2^{100}\sqrt{2}+1", r"1+2^{100}\sqrt2"), (r"e^{-30}", r"\frac{1}{e^{30}}"), (r"10^{12}\pi+1", r"1+10^{12}\pi"),
    (r"\ln 8", r"3\ln 2"), (r"e^{i\pi/3}", r"e^{-5i\pi/3}"), (r"\tan x", r"\frac{\sin x}{\cos x}"), (r"\sqrt[3]{-2}", r"-\sqrt[3]{2}"),
    ("x^{2021}+1", "1+x^{2021}"), (r"\sqrt{2}", "1.41421356237"), ("1.41421356237", r"\sqrt2"), (r"\arcsin\frac13", r"\sin^{-1}(1/3)"), (r"\sinh(-x)", r"-\sinh x"),
    # units, and things that are counted
    ("12", r"12\text{ positive integers}"), ("12", r"12\text{ miles per hour}"), ("12", r"12\text{ years old}"), ("12", r"12\text{ cm tall}"), ("12", r"12\text{ people}"), ("12", r"12\text{ in.}"), ("12", r"12\text{ p.m.}"),
    ("12", r"12\ \text{cm}\cdot\text{s}"), ("12", r"12\text{ kg}\cdot\text{m/s}^2"), ("12", r"12\,\frac{m}{s}"), ("12", "12 m"), ("12", r"12\text{ m}"), ("12", r"12\text{ (twelve)}"), ("42", r"42\text{ (forty-two)}"), ("12", r"12\text{ of the cookies}"),
    ("1", r"1\text{ apple}"), (r"\frac34", r"\frac{3}{4}\text{ pizza}"), ("0.5", r"0.5\text{ mile}"), ("12", r"12\text{ square units}"), ("12", r"12\text{ more apples}"), ("12", r"12\text{ students in total}"), ("12", r"12\text{ ways to sit}"),
    ("12", r"12\text{ dollars each}"), ("12", r"12\text{ sq. ft.}"), ("12", r"12\text{ N}"), (r"12\text{ below zero}", r"12.0\text{ below zero}"), (r"12\text{ somethings}", "12"), ("2+3i", r"2+3\mathrm{i}"), ("12x", r"12\mathrm{x}"), ("12", r"12\text{ outcomes per }\text{player}"),
    ("12", r"12\text{ total}"), ("12", r"12\text{ km/h}"), ("12", r"12\text{ different ways}"), ("12", r"12^\circ\text{C}"), ("12", r"12\text{ red balls}"), ("12", r"12\text{ inches of rain}"), ("12", r"12\text{ minutes from now}"),
    # bases, and tuples
    ("12", "12_{10}"), ("12_{10}", "12"), ("1010_2", "1010"), ("AB_{16}", "AB"), ("(1,2)", "x=1, y=2"), ("(1,1)", "x=1, y=1"),
    # choices
    ("A", "A. 12"), ("A", "A: 12"), ("A", r"\text{Option A}"), ("A", r"\text{Choice A}"), ("A", r"\text{option (A)}"), ("A", r"\text{A. }5"), ("A", r"(A)\ 5 \text{ and } 6"), ("A", r"(\text{A})"), ("C", r"\text{(C) not enough information}"),
    ("E", r"\text{(E) None of these}"), ("B", r"\textbf{(B) }\text{A circle}"), ("A", r"(A)\ \overline{AB}"), ("A", r"(A)\ \triangle ABC"), ("C", r"\text{(C) I and II only}"), ("D", r"\text{(D) no solution}"), ("A", r"\textbf{(A)}\ x<2 \text{ or } x>3"), ("A", r"\text{(A) She is late}"),
    ("12", r"\textbf{(C) }12"), ("12", r"\textbf{(C)}\ 12"), ("12", r"\mathrm{(C)}\ 12"), ("12", r"(C)\ 12"), ("12", r"\text{C. 12}"), ("12", r"\text{C) 12}"), ("12", "C: 12"), (r"\frac12", r"\textbf{(B)}\ \frac{1}{2}"), ("(1,2)", r"\textbf{(B)}\ (1,2)"),
    (r"\textbf{(C)}\ 12", "C"), (r"\textbf{(C)}\ 12", "(C) 12"), (r"\text{(B) 3}", r"\textbf{(B)}"),
    # a quantity before its value
    ("5", "f'(2)=5"), ("5", "f^{-1}(2)=5"), ("5", r"(f\circ g)(1)=5"), ("5", r"\gcd(10,15)=5"), ("5", r"\text{gcd}(10,15)=5"), ("12", r"\operatorname{lcm}(4,6)=12"), ("12", r"\text{lcm}(4,6)=12"), ("12", r"\mathrm{lcm}(4,6)=12"), ("5", r"\lim_{x\to0}f(x)=5"),
    ("5", r"\int_0^1 5\,dx=5"), ("5", r"\sum_{i=1}^{5}1=5"), ("5", r"\lfloor 5.2\rfloor=5"), ("5", "[ABC]=5"), ("12", "x^2+y^2=12"), ("12", "a/b=12"), ("12", r"\frac{a}{b}=12"), (r"\frac12", r"\cos\theta=\frac12"), ("12", r"\|v\|=12"), ("12", r"\vert z\vert=12"),
    (r"\frac34", r"\Pr(A)=\frac34"), (r"\frac34", r"\mathbb{P}(X=1)=\frac34"), ("5", r"\text{Answer}=5"), ("12", "x:=12"), ("12", r"\sqrt{144}=12\text{ cm}"), ("12", r"\text{Total: }12"), ("12", r"\text{Number of ways: }12"), ("12", r"\text{approximately }12"),
    # congruences
    ("5", r"x\equiv 5\pmod 7"), ("5", r"5\pmod 7"), ("5", r"x\equiv5\pmod{7}"), (r"5\pmod 7", r"5\pmod{7}"),
    # how LaTeX writes it
    (r"\frac34", r"3\over4"), (r"\frac34", r"{3}\over{4}"), (r"\frac34", r"{3\over4}"), (r"\frac34", r"\nicefrac{3}{4}"), (r"\frac34", r"\sfrac{3}{4}"), (r"\frac34", r"\mathbf{\frac{3}{4}}"), ("12", r"\bf 12"), ("12", r"{\bf 12}"), ("12", r"\mathtt{12}"), ("12", r"\emph{12}"),
    ("12", r"\hspace{1cm}12"), ("12", r"\therefore 12"), ("12", r"12\blacksquare"), ("-1", r"{-}1"), ("2+3i", "2+i3"), ("2+3i", r"2+3\imath"), (r"0.\overline3", r"0.\bar{3}"), (r"0.\overline{3}", r"0.\dot{3}"), ("12", r"12\cancel{\text{ cm}}"), ("12", r"\text{Rs. }12"),
    # words, ratios, times
    ("1,000,000", r"1\text{ million}"), ("2500000", r"2.5\text{ million}"), (r"\text{No solution}", r"\text{There is no solution}"), ("3:2", r"\frac32"), ("3:2", "3/2"), ("3:2", r"3\text{ to }2"), ("3:2", r"3\colon2"), (r"10:30\text{ a.m.}", r"10:30\text{ AM}"), (r"10:30\text{ a.m.}", r"10{:}30\text{ AM}"),
    # sets and points
    (r"(-\infty,2)\cup(3,\infty)", r"\{x\mid x<2\text{ or }x>3\}"), (r"(-\infty,2)\cup(3,\infty)", r"\{x : x<2\text{ or }x>3\}"), (r"(-\infty,2)\cup(3,\infty)", r"(-\infty,2)\text{ or }(3,\infty)"), (r"(-\infty,2)\cup(3,\infty)", r"]-\infty,2[\cup]3,\infty["),
    ("(1,2)", "P(1,2)"), ("(1,2)", r"\text{the point }(1,2)"), ("(1,2)", r"x=1 \quad y=2"), ("y=2x+3", "f(x)=2x+3"),
    # more of those
    ("12", r"12\text{ degrees Celsius}"), ("12", r"12\text{ games won}"), ("12", r"12\text{ goals scored}"), ("12", r"12\text{ cm squared}"), ("12", r"12\text{ meters per second squared}"), ("12", r"12\text{ distinct real roots}"), ("12", r"12\text{ distinct values of }x"),
    ("12", r"12\text{ times}"), ("12", r"12\text{ times as many}"), ("12", r"12\text{ more}"), ("12", r"12\text{ right angles}"), ("12", r"12\text{ negative integers}"), ("12", r"12\text{ multiples of five}"), ("12", r"12\text{ extraneous solutions}"),
    ("6", r"6\text{ (mod 7)}"), ("6", r"6\mod 7"), ("5", r"\max\{3,5\}=5"), ("-2", r"\det\begin{pmatrix}1&2\\3&4\end{pmatrix}=-2"), ("11", r"\vec{a}\cdot\vec{b}=11"), ("13", r"m+n = 4+9 = \mathbf{13}"), (r"\frac12", r"\sin 30^\circ=\frac12"), ("1001", r"{14\choose4}=1001"),
    # numbers as programs write them, and units of one quantity
    ("1e-05", "10^{-5}"), ("1e-05", "0.00001"), ("1.2e-5", r"1.2\times 10^{-5}"), ("1.2e-5", "1.2E-05"), ("3.5E4", "35000"), ("0.0003", "3e-4"), ("300", "3e+2"), ("2e-1", "2e-1"), ("2e3", "2000"), ("1.5", r"1\frac12"), ("12.5", r"12\frac{1}{2}"), ("2.50", "2 1/2"), (r"\text{(A) }7", "7"), (r"\textbf{(C)}\ \frac{1}{2}", "0.5"), (r"\textbf{(C)}\ 12", "C"), (r"\textbf{(D)}\ \text{Alice}", r"\text{Alice}"), (r"\binom{2024}{12}", r"\binom{2024}{2012}"), ("1e-05, 3", r"3, 0.00001"),
    (r"120\text{ m/s}", r"120\text{ meters per second}"), (r"60\text{ mph}", r"60\text{ miles per hour}"), (r"18\text{ cm}^2", r"18\text{ square centimeters}"), (r"18\text{ ft}^2", r"18\text{ feet squared}"), (r"5\text{ lbs}", r"5\text{ pounds}"), (r"5\text{ L}", r"5\text{ liters}"),
    (r"12\text{ inches}", r"12\text{ in.}"), (r"5\text{ apples}", r"5\text{ kg of apples}"), (r"18\text{ cm}^2", r"18\text{ cm}"), (r"2\text{ hours}", r"2\text{ hours per day}"), (r"12\text{ t}", r"12\text{ tons}"), (r"60\frac{\text{miles}}{\text{hour}}", r"60\text{ mph}"),
]  # fmt: skip
OTHER = [
    ("5", "6"), ("5", "-5"), ("5", "55"), (r"\frac12", r"\frac13"), (r"\frac12", r"\frac21"), ("0.5", "0.51"), (r"\frac13", "0.33"), ("0.33", r"\frac13"), ("1000", "1,00"), ("1000", "1001"),
    ("5", ""), ("5", r"\text{}"), ("5", r"5\text{ or }6"), ("5", "5,6"), ("5", "5, 5"), ("5", r"\{5,6\}"), ("1,2", "1"), ("1,2", "1,2,3"), ("1,2,2", "1,2"), ("5", r"1 \text{ or } 2 \text{ or } 3 \text{ or } 4 \text{ or } 5"), ("5", r"\pm 5"), (r"\pm5", "5"),
    ("5", "5x"), ("5", "x"), ("5", "?"), ("5", r"\text{five hundred}"), ("x", "y"), ("2x", "2y"), ("x=5", "y=5"), ("y=2x+3", "y=3x+2"), ("x+1", "x-1"), (r"\sqrt2", "1.414"), (r"\pi", "3.14"), (r"2\pi", r"\pi"), ("3+2i", "3-2i"),
    # the task itself
    ("405", r"3^4 \cdot 5"), ("5", "2+3"), ("6", r"2\cdot 3"), ("120", "5!"), ("7x", "3x+4x"), ("(x-1)(x+1)", "x^2-1"), ("x^2-1", "(x-1)(x+1)"), ("x^2+2x+1", "(x+1)^2"), (r"8\sqrt{2}", r"\sqrt{50}+\sqrt{18}"), ("2(x+1)", "2x+2"), ("0", "1-1"), ("1", "x/x"), ("x", r"\frac{x^2}{x}"),
    ("45", "1+2+3+4+5+6+7+8+9"), ("(x-1)(x+1)(x^2+1)", "(x^2-1)(x^2+1)"), (r"\frac{\sqrt3}{2}", r"\sin 60"), ("4", "|-4|"), (r"\frac{1}{2}", r"\sin(\frac{\pi}{6})"), ("7", r"\sqrt{49}+0"), ("3", r"\log_2 8"), ("1", r"\sin^2 x+\cos^2 x"),
    # tuples and sets
    ("(1,2)", "(2,1)"), ("(1,2)", "[1,2]"), ("(1,2)", "(1,2]"), ("[0,1)", "(0,1)"), (r"(1,\infty)", r"(-\infty,1)"), (r"(1,2)\cup(3,4)", "(1,2)"), ("(1,2)", "(1,2,3)"), ("(1,2)", "2,1"), (r"\{1,2\}", r"\{1\}"), ("(1,2),(3,4)", "(1,2)"), ("x>3", "x<3"), ("x>3", r"x\ge 3"), ("x>3", "3"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&3\\2&4\end{pmatrix}"), (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1&2\end{pmatrix}"), (r"\begin{vmatrix}1&2\\3&4\end{vmatrix}", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}"),
    ("B", "A"), ("B", "A, B, C, D"), ("Evelyn", "nylevE"), ("Evelyn", "Evelyn or Bob"), (r"\text{even}", r"\text{odd}"), (r"\text{Yes}", r"\text{No}"), ("2516_8", "2516_7"), ("2516_8", "2517"), ("4:30", "4:31"), ("50", "0.5"), (r"5\%", "5.1"), (r"\frac{x}{2}", r"\frac{2}{x}"), ("x^2", "x^3"), ("x^2", "x"), (r"\sqrt{2}", "2"), (r"\sqrt[3]{2}", r"\sqrt{2}"),
    (r"\text{no solution}", "0"), ("10^{9}", "10^{10}"), ("-2+\\sqrt{7}", "2-\\sqrt{7}"), ("3", "3^{1000000}"), ("a_1", "a_2"), ("abc", "ab"), ("5", "\\boxed{}"), ("12", "1 2"), ("100", "1 00"),
    ("5", r"5\text{ million}"), ("5", r"5\text{ dozen}"), ("5", "5 thousand"), ("5", r"\text{not }5"), ("5", r"x\ne 5"), ("5", r"\cancel{4}5"), ("2", r"\boxed{1},\boxed{2}"), ("0", r"0\cdot 5"), ("5", "4.9999999999"), ("5", "5^1^1"), ("5", "5!"), ("1", r"\frac{0}{0}"), ("5", r"1,2,3,4,5,6"), ("5", r"[1,10]"), ("5", r"5\in\{1,2\}"), ("5", "5>4"), ("5", r"\overline{5}"),
    # in those styles
    ("5", "5 or 6"), ("5", r"5\text{ or }6"), ("5", r"\text{not }5"), ("5", r"\neg 5"), ("5", "5^2"), ("5", r"5\%\text{ of }10"), ("5", "5k"), ("5", r"5\text{k}"),
    ("5", r"5\text{ million}"), ("5", r"5\times 10^3"), ("5", "5e3"), ("5", r"\sim 5-6"), ("5", "5-6"), ("5", r"5\pm1"), ("5", r"\sqrt{25}"), ("5", r"\lfloor 5.5\rfloor"), ("5", "2+3=x"),
    ("5", "x=2+3"), ("5", r"5\text{ is wrong, }6"), ("5", r"\text{I think }6\text{, not }5"), ("5", "5,5"), ("5", "1,2,3,4,5"), ("5", r"x\in\{1,\dots,10\}"), ("5", ">5"), ("5", r"\le5"),
    ("5", r"\geq 5"), ("5", "5..6"), ("5", "0.5"), ("5", ".5"), ("5", "5.5"), ("5", "50"), ("5", "05/1000"), ("5", r"5\text{ and }6"), ("5", "x=5,y=6"), ("5", r"\frac{5}{1}x"),
    ("5", r"5\pi"), ("5", "5i"), ("5", "-5"), ("5", "|5"), ("5", r"\text{five or six}"), ("5", r"\overline{5}"), ("5", r"5\ldots"), ("5", r"5 \bmod 7"), ("5", r"5\pmod{3}"),
    ("5", r"5 \text{ modulo } 7"), ("5", "a=4=5"), ("5", "6=5"), ("5", "4 = 5 = 6"), ("5", "5 = 6"), ("5", r"5\ne6"), ("5", "x=6=5"), ("5", "1=1, 5=5"), ("5", r"5 \implies 6"),
    ("5", r"6 \text{ (5 is wrong)}"), ("5", r"\text{(A) }5\text{ (B) }6"), ("A", r"\text{(A) or (B)}"), ("A", "(A)(B)"), ("A", "A,B"), ("A", "AB"), ("A", r"\textbf{(B) }A"),
    ("A", r"\text{(B) A}"), ("C", r"\text{(C) }12 \text{ (D) }13"), ("(1,2)", "x=2,y=1"), ("(1,2)", "y=1,x=2"), ("(1,2)", "(1,2),(3,4)"), ("[1,2]", "1<x<2"), ("(1,2)", r"1\le x\le 2"),
    ("x<2", "x>2"), (r"(-\infty,2)", r"x\le2"), (r"(-\infty,2)", "x>2"), ("1,2", r"\pm1"), ("1,2", "(1,2,3)"), ("3,5", "[3,5]"), ("3,5", "(5,3)"), (r"\{1,2\}", "(1,2)"),
    ("(1,2)", r"\{1,2\}"), (r"\{1,2\}", "[1,2]"), (r"\frac12", r"\frac24+0"), (r"\frac12", r"\frac{2}{1}"), (r"\frac{1}{3}", "0.333"), ("0.333", r"\frac13"), (r"\frac12", "1:2"),
    (r"2\frac13", r"\frac{2}{3}"), (r"2\frac13", r"2\cdot\frac13"), (r"\frac{2}{3}", r"2\frac13"), ("3.14", r"\pi"), (r"\pi", r"\frac{22}{7}"), ("y=2x-1", "y=2x+1"), ("x+2y=4", "x+2y=5"),
    ("x^2+y^2=4", "x^2-y^2=4"), ("x+y=0", "0=0"), ("x+2y=4", "x=4"), ("x^2=4", "x=2"), ("y=x", "y^2=x^2"), ("y=2x-1", "1=1"), ("x+y=2", "(x+y)^2=4"), ("xy=1", "x=1/y"),
    (r"\text{ellipse}", r"\text{not an ellipse}"), (r"\text{ellipse}", r"\text{ellipse or circle}"), (r"\text{odd}", r"\text{odd or even}"), ("Yes", r"\text{Yes and no}"),
    ("Yes", "Yes/No"), (r"\mathbb{R}", r"\mathbb{Z}"), (r"(-\infty,\infty)", r"\mathbb{Q}"), (r"0.\overline{3}", "0.3"), (r"\frac13", "0.3"), (r"\frac{4}{11}", "0.36"),
    (r"0.\overline{36}", r"0.3\overline{6}"), ("11001_2", "11001_3"), ("11001_2", "25"), ("25", "11001_2"), (r"20\%", "0.02"), ("20", "0.2"), ("0.2", "20"),
    (r"90^\circ", r"90\text{ radians}"), (r"\$5", r"5\text{ cents}"), ("5", r"5\text{ dozen}"), ("5", r"5\text{ hundred}"), ("60", r"1\text{ hour}"),
    ("5", r"\text{between }5\text{ and }6"), ("5", r"\text{at least }5"), ("5", r"\text{more than }5"), ("5", r"\text{less than }5"), ("5", r"\text{minus }5"), ("5", r"\text{negative }5"),
    ("5", r"\text{twice }5"), ("5", r"\text{The answer is not }5"), ("5", r"\text{Total} = 4+1"), ("7", "3+4"), ("7", "7 = 3 + 5"), ("7", "3 + 5 = 7"), ("7", "3+4=8"),
    ("10", r"\binom{5}{2}"), (r"\begin{pmatrix}1\\2\end{pmatrix}", "(2,1)"), (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", "(1,2,3,4)"),
    (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"2\begin{pmatrix}1&2\\3&4\end{pmatrix}"), (r"\begin{pmatrix}1&2\\3&4\end{pmatrix}", r"\begin{pmatrix}1&2\\3&4\end{pmatrix}^{-1}"),
    (r"\begin{pmatrix}1\\2\end{pmatrix}", r"-\begin{pmatrix}1\\2\end{pmatrix}"), (r"\begin{pmatrix}1\\2\end{pmatrix}", r"\begin{pmatrix}1\\2\end{pmatrix},\begin{pmatrix}2\\1\end{pmatrix}"),
    ("5", "f(5)=6"), ("6", "f(6)=5"), ("5", "x=6, y=5"), ("5", "5=6"), ("5", "a=5=6"), ("5", r"\text{not } x = 5"), ("5", r"5 \approx 9"), ("9", r"5\approx9"), ("5", r"4.95\approx5"),
    ("5", "x<5"), ("5", "x^2=5"), ("5", "2x=5"), ("5", "-x=5"), ("5", r"x \text{ is half of } 5"), ("5", "1/x=5"), ("(1,2)", r"1\le x<2"), ("(1,2)", r"(1<x<2) \cup (3<x<4)"),
    ("x<2", "2<x"), ("-1<x<3", "1<x<3"), ("(-1,3)", "x<3"), (r"(-\infty,\infty)", r"\mathbb{Z}"), ("x+y=2", "x-y=2"), ("x+y=2", "x+y=-2"), ("(x-2)^2+(y+1)^2=9", "x^2-4x+y^2+2y=4"),
    ("(x-1)(x+1)=0", "x^2-1=0"), ("y=2x-1", "2x-y=1"), ("y=2x-1", "y-2x=-1"), ("5 hours", "5 minutes"), (r"5\text{ hours}", r"5\text{ days}"), ("A", r"\text{(A) no, (B)}"),
    ("A", "(A) 5 (B) 6"), ("A", "A) or B)"), ("A", r"(A) \text{ and } (C)"), ("Yes", "Yes or No"), ("12", r"\binom{4}{2}"), ("6", r"\binom{4}{2}"), ("6", r"\binom{4}{2}=7"),
    ("7", r"\binom{4}{2}=7"), ("5", r"\text{answer is not }5"), ("5", r"\text{The answer is }6\text{ or }5"), ("5", r"\phantom{5}"), ("5", r"\phantom{4}6"), ("15", r"\phantom{1}5"),
    ("5", r"\phantom{1}5=6"), ("5", r"\underline{\ }5=x6"), ("11_2", "11_3"), ("11_{2}", r"11_{\text{three}}"), ("12", r"3 \times 4 = 12 = 13"), ("13", "12=13"), ("(2,3)", "(3,2)=(y,x)"),
    ("(2,3)", "(y,x)=(2,3)"), ("(2,3)", r"\langle3,2\rangle"), ("3", r"\begin{pmatrix}3\end{pmatrix},4"), (r"1\frac12", "11/2"), (r"\frac{11}{2}", "1 1/2"), (r"\frac32", "11/2"),
    (r"90^\circ", r"90\text{ rad}"), (r"\frac{x-1}{2}", r"\frac{1}{2}x-1"), ("x-1", r"\frac{1}{2}(x-1)"), ("5", r"\text{maybe }5"), ("5", r"\text{except }5"),
    ("ABC", "abc"), ("5 m", "5 cm"), (r"5\text{ m}", r"5\text{ km}"), ("5", r"\text{if }x=5"), ("5", r"\text{Let }x=5"), ("5", r"\text{half}=5"),
    # far below one, or beside a much larger part
    (r"e^{-30}", r"e^{-31}"), (r"e^{-30}", r"e^{-40}"), (r"e^{-30}", "0"), ("0", r"e^{-30}"), (r"\frac{\sqrt2}{2^{50}}", r"\frac{\sqrt2}{2^{49}}"), (r"\frac{\sqrt2}{2^{50}}", r"\frac{\sqrt3}{2^{50}}"), (r"3\pi\times 10^{-15}", r"2\pi\times10^{-15}"),
    (r"2^{100}\sqrt2+1", r"2^{100}\sqrt2+2"), (r"2^{100}\sqrt2+1", r"2^{100}\sqrt2+100000"), (r"10^{12}\pi+1", r"10^{12}\pi+2"), (r"e^{10}+\frac1{10000000}", r"e^{10}+\frac2{10000000}"), (r"\sqrt2", "1.41421357"), (r"\sqrt2", "1.41421356239"),
    (r"e^{-10^{10}}", r"e^{-10^{11}}"), (r"x+10^{-20}\pi", r"x+10^{-21}\pi"), (r"\sin 10^{99}", r"\sin(10^{99}+1)"), (r"\pi", r"\frac{355}{113}"),
    # words behind a number that are no unit of it
    ("12", r"12\mathrm{i}"), ("12", r"12\text{i}"), ("12", r"12\,\mathrm{i}"), ("12", r"12\mathrm{e}"), ("12", r"12\mathrm{x}"), ("12", r"12\text{ x}"), ("12", r"12\mathrm{n}"), ("12", r"12\mathit{n}"), ("12", r"12\text{ is wrong}"), ("12", r"12\text{ is not the answer}"), ("12", r"12\text{ is impossible}"), ("12", r"12\text{ (wrong)}"), ("12", r"12\text{ would be wrong}"), ("12", r"12\text{ does not work}"), ("12", r"12\text{ fails}"), ("12", r"12\text{ is extraneous}"), ("12", r"12\text{ at most}"), ("12", r"12\text{ is too large}"), ("12", r"12\text{ percent of }x"), ("12", r"12\text{ less than }x"), ("12", r"12\text{ to the fifth}"), ("12", r"12\text{ raised to five}"), ("12", r"12\text{ base five}"), ("12", r"12\text{ in base five}"), ("12", r"12\text{ (base five)}"), ("12", r"12\text{ in binary}"), ("12", r"12\text{ point five}"), ("12", r"12\text{ half}"), ("12", r"12\text{ repeating}"), ("12", r"12\text{ bar}"), ("12", r"12\text{ inverse}"), ("12", r"12\text{ negative}"), ("12", r"12\text{ dozens}"), ("12", r"12\text{ twelfths}"), ("12", r"12\text{ times five}"), ("12", r"12\text{ more than five}"), ("12", r"12\text{ is one of the wrong answers}"), ("12", r"12\text{ not the sums}"), ("12", r"12\text{ hundreds}"), ("12", r"12\text{ (thirteen)}"), ("12", r"12\text{ thirteen}"), ("12", r"12\text{ squared}"), ("12", r"12\text{ minus ones}"), ("12", r"12\text{ below zero}"), ("12", r"12\text{ no wait thirteen}"), ("12", r"12m"), ("12", r"12\,x"), ("12", r"12\frac{x}{s}"), ("12", r"x=12\text{ is extraneous}"), ("1", r"1\text{ half}"), ("0.5", r"0.5\text{ wrong}"),
    # a base that is not wanted, and two roots for a pair
    ("12", "12_5"), ("12", "12_{5}"), ("12", r"12_{\text{five}}"), ("12", r"12_{\text{5}}"), ("5", "5_6"), ("a_1", "a"), ("a", "a_1"), ("(1,2)", "x=1, x=2"), ("x=1,x=2", "(1,2)"), ("(1,2)", "x_1=2,x_2=1"),
    # a choice with other ones, or with what is said about it
    ("A", "(A)BCDE"), ("A", "(A) BCDE"), ("A", "(A)/B/C/D/E"), ("A", r"(A)\text{/B/C/D}"), ("A", r"(A)\ 5\ B\ 6\ C\ 7\ D\ 8"), ("A", r"(A)\ \mathbf{B}\ \mathbf{C}\ \mathbf{D}"), ("A", "(A) 1 B 2"), ("A", r"(A)\;B"), ("A", r"(A) \text{ B is right}"),
    ("A", r"\text{(A) is wrong}"), ("A", r"\text{(A) (wrong)}"), ("A", "(A){B}{C}"), ("A", "(A)?"), ("A", r"\text{(A) isn't right}"), ("B", r"\text{(B) A is right}"), ("B", r"\text{(B) A too}"), ("A", r"\text{A. B. C.}"), ("A", "A:B"), ("A", r"\text{Option B}"), ("A", r"\text{Option A or B}"), ("A", r"\text{(A) or (B)}"),
    ("12", r"(C)\ 12\ (D)\ 13"), ("12", r"(C)\ 13"), ("12", r"\text{(C) 12 is wrong}"), (r"\textbf{(C)}\ 12", "D"), (r"\textbf{(C)}\ 12", "(C) 12 (D) 13"), (r"\textbf{(C)}\ 12", "(D) 12"), (r"\text{Evelyn}", r"\text{Evelyn?}"),
    # beside those forms
    ("5", "f'(2)=6"), ("5", r"\gcd(10,15)=6"), ("5", r"\lfloor 5.2\rfloor"), ("5", r"\sum_{i=1}^{5}1"), ("5", "5=f(2)=6"), ("12", r"\lfloor 5.2\rfloor=12=13"), ("5", r"x=1\text{ and }y=5"), ("12", "a^2=12"), ("5", "x=1 y=5"), ("5", r"\int_0^1 5\,dx"), ("5", r"\text{not }f(2)=5"),
    ("5", r"x\equiv 12\pmod 7"), ("5", r"5\pmod 4"), ("5", r"x\not\equiv 5\pmod 7"), ("5", r"2x\equiv 5\pmod 7"), ("5", r"12\pmod 7"), (r"5\pmod 7", r"5\pmod{8}"), ("5", r"5\bmod 7"), (r"\frac34", r"4\over3"), (r"\frac34", r"1+3\over4"), ("3:2", "2:3"), ("3:2", "2/3"), ("3:2", "1.5"), ("3:2", r"2\text{ to }3"),
    ("4:30", "2:15"), ("2:3", "3:2"), (r"10:30\text{ a.m.}", r"10:30\text{ PM}"), ("12", r"\text{wrong: }12"), ("12", r"\text{not: }12"), ("12", r"\text{at most: }12"), ("12", r"\text{about half of }12"), ("1", r"1\text{ million}"), ("1000000", r"1\text{ billion}"), ("5", r"5\cancel{6}"),
    (r"(-\infty,2)\cup(3,\infty)", r"(-\infty,2)\text{ or }[3,\infty)"), (r"(-\infty,2)\cup(3,\infty)", r"\{x\mid x<2\text{ and }x>3\}"), (r"[2,3]", r"]2,3["), ("(1,2)", "P(2,1)"), ("(1,2)", r"\text{not the point }(1,2)"), ("(1,2)", r"x=2 \quad y=1"), ("y=2x+3", "f(x)=3x+2"), ("x=2y+3", "f(x)=2y+3"), ("2+3i", "2+i^3"), ("2+3i", "3+i2"),
    (r"0.\overline{3}", r"0.\bar{6}"), (r"\text{No solution}", r"\text{There is one solution}"), ("-1", "{+}1"), ("2^{-1}", "2^{-}1"),
    # beside those
    ("12", r"12\text{ square}"), ("12", r"12\text{ inches and a third}"), ("12", r"12\text{ percent of ten}"), ("12", r"12\text{ times x}"), ("12", r"12\text{ negative}"), ("12", r"12\text{ values of five squared}"), ("1", r"1\text{ negative}"), ("1", r"1\text{ of five}"),
    ("5", r"\sin 30=5=6"), ("5", r"5\cos 0=6!"), ("5", r"\max\{3,5\}"), ("5", r"6\mod 7"), ("6", r"13\mod 7"), ("5", r"\cos 0=7=5!"), ("11", r"\vec{a}=(11,0)"),
    # units of one quantity
    (r"120\text{ g}", r"120\text{ kg}"), (r"120\text{ ml}", r"120\text{ liters}"), (r"120\text{ J}", r"120\text{ kilojoules}"), (r"5\text{ lbs}", r"5\text{ oz}"), (r"120\text{ m}^2", r"120\text{ cubic meters}"), (r"5\text{ sq ft}", r"5\text{ sq.~in.}"), (r"120\text{ m/s}", r"120\text{ km/s}"),
    (r"60\text{ mph}", r"60\text{ km/h}"), (r"60\text{ mph}", r"60\text{ meters per second}"), ("10 cm", "10 mm"), (r"5\text{ gallons}", r"5\text{ quarts}"), (r"7\text{ MB}", r"7\text{ gigabytes}"), (r"20\text{ Celsius}", r"20\text{ Fahrenheit}"),
    # numbers as programs write them
    ("2e-1", "0.2"), ("5e+3", "5000"), ("1.2e-5", r"1.2\times 10^{-4}"), ("3e4", "3000"), ("2e^3", "2e3"), ("1.5", r"2\frac12"), (r"\textbf{(C)}\ 12", "13"), (r"\textbf{(C)}\ 12", "B"), (r"\textbf{(C)}\ 12", r"\text{(B) }12"), (r"\textbf{(C)}\ 12", r"\text{not }12"), (r"\textbf{(C)}\ 12", "12, 13"), (r"\binom{2024}{12}", r"\binom{2024}{13}"), ("1.5", r"1+\frac12"), ("1.5", r"\frac12+\frac12+\frac12"),
]  # fmt: skip


@pytest.mark.parametrize(("wanted", "said"), SAME)
def test_an_answer_in_another_usual_form_is_the_same(wanted: str, said: str) -> None:
    assert same_answer(wanted, said)


@pytest.mark.parametrize(("wanted", "said"), OTHER)
def test_another_answer_is_not(wanted: str, said: str) -> None:
    assert not same_answer(wanted, said)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        (r"So it is \boxed{5}.", "5"),
        (r"$\boxed{\frac{1}{2}}$", r"\frac{1}{2}"),
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),
        (r"\boxed 5", "5"),
        (r"\fbox{5}", "5"),
        (r"\framebox{5}", "5"),
        ("\\boxed\n{5}", "5"),
        (r"$\bbox[5px]{5}$", "5"),
        (r"It is not $\boxed{5}$, but $\boxed{6}$.", "6"),
        (r"It is not \boxed{5}.", None),
        ("First \\boxed{3}.\nThen \\boxed{4}.", "4"),
        (r"First $\boxed{3}$. Then $\boxed{4}$.", "4"),
        (r"\boxed{4}, that is \boxed{4.0}", "4.0"),
        (r"\boxed{1} and \boxed{2}", "1, 2"),
        (r"\boxed{1}\boxed{2}\boxed{3}", "1, 2, 3"),
        (r"\boxed{5} (in \boxed{} as asked)", "5"),
        (r"\boxed{5", None),
        ("5", None),
        (r"\boxed{}", None),
        (r"\boxedx{5}", None),
    ],
)
def test_what_the_last_box_says(text: str, box: str | None) -> None:
    assert last_box(text) == box


@pytest.mark.parametrize(
    ("expected", "said", "value"),
    [
        (r"\frac12", r"<think>\boxed{3}</think>It is \boxed{0.5}.", 1.0),
        (r"\frac12", r"<think>It is \boxed{0.5}", 0.0),
        (r"\frac12", r"It is 0.5.", 0.0),
        (r"We add, so it is $\boxed{\frac12}$.", r"\boxed{1/2}", 1.0),
        ("2", r"\boxed{1} or \boxed{2}", 0.0),
        ("2", "\\boxed{2}\n\\boxed{1}", 0.0),
        ("1,2", r"The solutions are \boxed{1} and \boxed{2}.", 1.0),
    ],
)
async def test_the_recipe_reads_the_last_box(expected: str, said: str, value: float) -> None:
    row = PromptRow(id="r", prompt="?", expected_output=expected)
    assert (await reward_recipe("math_v1", {}).reward(row, said)).value == value


@pytest.mark.parametrize(
    "said",
    ["(" * 900, "{" * 900, "\\frac" * 150, "1" + "a" * 900, "1,2" * 300, "9" * 900, "9^" * 300 + "9", "-" * 900, "1!" + "!" * 400,
     "\\{" * 300, "\\sqrt" * 150 + "2", "1\\text{" + "and " * 200 + "}", "x_" * 300, "|" * 500, "((1,2)," * 100, "2^{9999999999}", "\x01" * 500, "1" + "a" * 990 + "!", "1 " + "metermeter" * 99, "1" + " cm" * 330,
     "x=" * 450 + "7", "5\\approx" * 100, "{\\choose" * 80, "x<1 or " * 120 + "x<1", "(a," * 300 + "a)=5", "(" + "a," * 450 + "b)=1", "\x01a" * 300 + "^", "f(" * 400 + "=5", "a " * 490 + "=5", "\\binom{999}{500}" * 50, "\\sqrt{" * 40 + "2^{9999999999/7}" + "}" * 40,
     "2^{9999999999/7}", "e^{" * 50 + "9" + "}" * 50, "+".join(["\\arctan x"] * 80), "\\sin e^{99}" * 60],
)  # fmt: skip
def test_hostile_answers_end(said: str) -> None:
    assert not same_answer("5", said)
    assert same_answer(said, said) or not said.strip()
    last_box("\\boxed{" * 100 + said + "}" * 3)
