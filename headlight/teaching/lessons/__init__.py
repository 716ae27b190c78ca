"""Lessons: guess first, then see. A text file each; what is right is computed from the model when it is asked.

step = reading.read("lessons/en/it.md").steps[0]
computer = measuring.LessonComputer(load_translator, Path, posing.base(step))
question = posing.pose(step, computer)  # nothing in it tells the answer
judging.judge(question, posing.truth(step, computer), judging.check_guess(question, 3))
"""
