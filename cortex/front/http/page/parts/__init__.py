"""Parts that several views of the page use."""
