"""The tables of a store: made in a new one, and added to an older one where it lacks them."""

from sqlalchemy import Connection, inspect, text
from sqlalchemy.schema import CreateColumn

from cortex.memory.store.tables import METADATA, VERSION


def bring_to_current_tables(connection: Connection) -> None:
    """Create what the store lacks, and write its version, in one transaction. Raises what the
    database raises; then nothing was changed.
    """
    with connection.begin():
        METADATA.create_all(connection)  # tables that are there stay as they are
        for table in METADATA.sorted_tables:
            # older rows get the default of the server
            stored = {column["name"] for column in inspect(connection).get_columns(table.name)}
            name = connection.dialect.identifier_preparer.format_table(table)
            for column in table.columns:
                if column.name not in stored:
                    definition = CreateColumn(column).compile(dialect=connection.dialect)
                    connection.exec_driver_sql(f"ALTER TABLE {name} ADD COLUMN {definition}")
            for index in table.indexes:
                index.create(connection, checkfirst=True)
        for statement in (
            "CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)",
            # that of a newer Cortex stays: it may have migrated the team's store a moment ago
            "DELETE FROM alembic_version WHERE version_num < :version",
            "INSERT INTO alembic_version SELECT :version WHERE NOT EXISTS (SELECT 1 FROM alembic_version)",
        ):
            connection.execute(text(statement), {"version": VERSION})
