# The machine itself: what has to be on it, who may sign in, and what it shows itself as.


