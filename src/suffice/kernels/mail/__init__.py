"""What mail is read with: the words of headers, and the text of HTML pages."""
