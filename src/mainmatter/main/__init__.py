"""`main`, our own method, all of it.

method    START HERE: describe a page, judge its blocks, choose among them; the parameters, saving and loading
features  what it sees of each block; names: what pages call their elements
net       the net's arrays and its forward pass
choice    from probabilities to kept blocks: the highest expected F, comments, the headline, users' controls
reasons   why, one sentence a block
examples  what it learns from, with augmentation; training: the backward pass, the loss, the optimizer
dumps     what it sees of plain text without markup; site: what many pages of a site repeat
"""
