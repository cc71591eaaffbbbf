"""Why something ails: what is known of it, likely causes, and what would mend it."""
