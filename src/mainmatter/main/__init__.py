"""`main`, our own method, all of it: what it sees, the net, the choice, the controls, the reasons, how it learns."""
