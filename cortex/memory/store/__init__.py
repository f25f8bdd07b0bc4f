"""The notes on disk: tables, transactions, back-ups, erasure, and sealing. `note_store` writes in
transactions, each a list of `records`; `driver` opens the database, plain or by SQLCipher.
"""
