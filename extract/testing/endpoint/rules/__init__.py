"""What a request must be: the documents' rules, as tables. Shares no code with the client."""
