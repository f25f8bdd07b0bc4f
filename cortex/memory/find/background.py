"""Notes of no project, on many topics: the similarity of a query to them is chance."""

from __future__ import annotations

#: the scale for cosines while there are few notes: every kind, many topics
BACKGROUND = (
    "The public API answers with cursors instead of page numbers",
    "We keep one repository for the app and its website",
    "Passwords are hashed with argon2id",
    "Images are resized in the browser before they are uploaded",
    "Feature flags live in the database and are read once a minute",
    "The build needs Java 21 and eight gigabytes of memory",
    "Invoices are numbered per country and year",
    "The staging cluster is switched off at night",
    "The mobile client still speaks version 2 of the protocol",
    "Search runs on a read-only replica in another region",
    "The parser accepts trailing commas in lists but not in maps",
    "The certificate of the mail server expired and nobody was told",
    "Version 4.2 was released with the new editor",
    "A migration locked the orders table for ten minutes",
    "Anna took over the billing service from Tom",
    "Tests that touch the clock fail around midnight",
    "Always close the file before it is renamed",
    "Every new endpoint gets a line in the changelog and a dashboard",
    "Memory grows when the queue is drained slowly",
    "Short functions, no abbreviations in names",
    "Commit messages in the imperative, in English",
    "Tabs for Makefiles, four spaces elsewhere",
    "Start in under a second on a cold cache",
    "Replace the cron jobs by one scheduler before summer",
    "The linter disagrees with the formatter about long strings",
    "Users open the settings page mostly to change the language",
    "The garbage collector runs twice for each large report",
    "Colours of the theme come from one JSON file",
    "Log lines are kept for fourteen days and then compressed",
    "Webhooks are signed, and sent again for three days",
    "The continuous integration moved to larger machines",
    "Circular imports appear when models know their serializers",
)
