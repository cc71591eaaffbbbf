"""Changes of the tables of MariaDB and MySQL, from the log of rows."""
