"""Lessons, a text file each, whose questions are guessed first; the right answers are computed from the model.

step = reading.read("lessons/en/it.md").steps[0]
computer = measuring.LessonComputer(load_translator, Path, posing.base(step))
question = posing.pose(step, computer)  # it does not contain the answer
judging.judge(question, posing.truth(step, computer), judging.check_guess(question, 3))
"""
