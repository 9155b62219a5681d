"""Commands that write pages which compute."""
