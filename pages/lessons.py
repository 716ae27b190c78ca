"""The Lessons page: what do you expect?

Lessons ask first, and then show what the model did.
"""

from ui.lessons.body import body

body()
