"""The Lessons page: what do you expect?

Guess first, then look at what the model did. Guess first, then look: lessons that ask, and then show what the model
did.
"""

from ui.lessons.body import body

body()
