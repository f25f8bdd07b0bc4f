"""Notes of no project, on many topics: the similarity of a query to them is chance."""

from __future__ import annotations

#: the scale for cosines while there are few notes: every kind, many topics
BACKGROUND = (
    "Decision: The public API answers with cursors instead of page numbers",
    "Decision: We keep one repository for the app and its website",
    "Decision: Passwords are hashed with argon2id",
    "Decision: Images are resized in the browser before they are uploaded",
    "Decision: Feature flags live in the database and are read once a minute",
    "Fact: The build needs Java 21 and eight gigabytes of memory",
    "Fact: Invoices are numbered per country and year",
    "Fact: The staging cluster is switched off at night",
    "Fact: The mobile client still speaks version 2 of the protocol",
    "Fact: Search runs on a read-only replica in another region",
    "Fact: The parser accepts trailing commas in lists but not in maps",
    "Event: The certificate of the mail server expired and nobody was told",
    "Event: Version 4.2 was released with the new editor",
    "Event: A migration locked the orders table for ten minutes",
    "Event: Anna took over the billing service from Tom",
    "Pattern: Tests that touch the clock fail around midnight",
    "Pattern: Always close the file before it is renamed",
    "Pattern: Every new endpoint gets a line in the changelog and a dashboard",
    "Pattern: Memory grows when the queue is drained slowly",
    "Preference: Short functions, no abbreviations in names",
    "Preference: Commit messages in the imperative, in English",
    "Preference: Tabs for Makefiles, four spaces elsewhere",
    "Goal: Start in under a second on a cold cache",
    "Goal: Replace the cron jobs by one scheduler before summer",
    "Observation: The linter disagrees with the formatter about long strings",
    "Observation: Users open the settings page mostly to change the language",
    "Observation: The garbage collector runs twice for each large report",
    "Fact: Colours of the theme come from one JSON file",
    "Fact: Log lines are kept for fourteen days and then compressed",
    "Decision: Webhooks are signed, and sent again for three days",
    "Event: The continuous integration moved to larger machines",
    "Pattern: Circular imports appear when models know their serializers",
)
