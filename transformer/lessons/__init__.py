"""Lessons: guess first, then see. A text file each; what is right is computed from the model when it is asked.

lesson = read("lessons/it.md")
measuring = Measuring(Translator.load, Path, base(lesson.steps[0]))
question = pose(lesson.steps[0], measuring)     # nothing in it tells the answer
judge(question, truth(lesson.steps[0], measuring), check_guess(question, 3))
"""

from transformer.lessons.handout import handout
from transformer.lessons.judging import ASKS, check_guess, judge, overlap
from transformer.lessons.measuring import Measuring
from transformer.lessons.posing import base, failing, introduction, pose, truth
from transformer.lessons.reading import Lesson, Step, parse_lesson, read, shelf

__all__ = [
    "ASKS",
    "Lesson",
    "Measuring",
    "Step",
    "base",
    "check_guess",
    "failing",
    "handout",
    "introduction",
    "judge",
    "overlap",
    "parse_lesson",
    "pose",
    "read",
    "shelf",
    "truth",
]
