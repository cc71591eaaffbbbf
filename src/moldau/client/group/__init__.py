"""Consumer groups, the client's side: members, their assignments, their coordinator."""
