"""The controller: one broker decides for all which broker leads which partition."""
