"""Lessons: guess first, then see. A text file each; what is right is computed from the model when it is asked.

lesson = read("lessons/en/it.md")
measuring = Measuring(load_translator, Path, base(lesson.steps[0]))
question = pose(lesson.steps[0], measuring)     # nothing in it tells the answer
judge(question, truth(lesson.steps[0], measuring), check_guess(question, 3))
"""

from headlight.teaching.lessons.handout import handout
from headlight.teaching.lessons.judging import QUESTION_KINDS, check_guess, judge, overlap
from headlight.teaching.lessons.measuring import LessonComputer
from headlight.teaching.lessons.posing import base, failing, introduction, pose, truth
from headlight.teaching.lessons.reading import Lesson, Step, parse_lesson, read, shelf, transfer_step
from headlight.teaching.lessons.transfer import sentence_of

__all__ = [
    "QUESTION_KINDS",
    "Lesson",
    "LessonComputer",
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
    "sentence_of",
    "shelf",
    "transfer_step",
    "truth",
]
