-- What made debezium-mariadb-golden.jsonl: MariaDB 10.11 (binlog_format=ROW, binlog_row_metadata=FULL), Debezium MariaDB
-- connector 3.5.0.Final in Apache Kafka Connect 3.9.2; record_debezium.py runs it. Part 1 runs before the connectors are
-- created (it is what the snapshot sees), part 2 after the snapshot. Row values are chosen at the edges of the types.

-- part 1
CREATE DATABASE inv;
CREATE TABLE inv.types (
  id int PRIMARY KEY,
  c_tiny tinyint, c_utiny tinyint unsigned, c_bool boolean, c_small smallint, c_usmall smallint unsigned,
  c_med mediumint, c_umed mediumint unsigned, c_int int, c_uint int unsigned, c_big bigint, c_ubig bigint unsigned,
  c_float float, c_double double, c_real real, c_dec_10_2 decimal(10,2), c_dec_30_10 decimal(30,10), c_dec_5 decimal(5),
  c_udec decimal(9,3) unsigned, c_bit1 bit(1), c_bit9 bit(9), c_bit64 bit(64),
  c_char char(5), c_varchar varchar(20), c_latin varchar(20) character set latin1, c_ucs2 varchar(20) character set ucs2,
  c_tinytext tinytext, c_text text, c_mediumtext mediumtext, c_longtext longtext,
  c_binary binary(4), c_varbinary varbinary(300), c_tinyblob tinyblob, c_blob blob, c_longblob longblob,
  c_date date, c_time time, c_time3 time(3), c_time6 time(6),
  c_dt datetime, c_dt3 datetime(3), c_dt6 datetime(6), c_ts timestamp NULL, c_ts3 timestamp(3) NULL, c_ts6 timestamp(6) NULL,
  c_year year, c_enum enum('a','b','d''e'), c_set set('x','y','z'), c_json json, c_zero int(5) zerofill,
  c_stored int AS (id * 2) STORED, c_virtual int AS (id * 3) VIRTUAL
);
CREATE TABLE inv.plain (
  id bigint AUTO_INCREMENT PRIMARY KEY, name varchar(50) NOT NULL DEFAULT 'anon', big text,
  at timestamp NOT NULL DEFAULT '2024-01-01 00:00:00', n int NOT NULL DEFAULT 7, price decimal(6,2) DEFAULT 1.50,
  kind enum('p','q') NOT NULL DEFAULT 'q', born datetime DEFAULT CURRENT_TIMESTAMP, flag bit(1) NOT NULL DEFAULT b'1',
  day date NOT NULL DEFAULT '2020-02-02', clock time NOT NULL DEFAULT '10:00:00', y year DEFAULT 1999,
  tags set('s','t') DEFAULT 's,t', real_one double NOT NULL DEFAULT 0.5, raw varbinary(5) NOT NULL DEFAULT 'ab'
);
CREATE TABLE inv.composite (a int, b varchar(10), v int, PRIMARY KEY (b, a));
CREATE TABLE inv.no_key (v int, t text);
CREATE TABLE inv.only_unique (v int NOT NULL, t varchar(10), UNIQUE KEY (v));
INSERT INTO inv.types SET id = 1,
  c_tiny = -128, c_utiny = 255, c_bool = true, c_small = -32768, c_usmall = 65535,
  c_med = -8388608, c_umed = 16777215, c_int = -2147483648, c_uint = 4294967295,
  c_big = -9223372036854775808, c_ubig = 18446744073709551615,
  c_float = 1.5, c_double = -2.25e100, c_real = 3.141592653589793, c_dec_10_2 = -12345678.90,
  c_dec_30_10 = 12345678901234567890.0123456789, c_dec_5 = 99999, c_udec = 0.001,
  c_bit1 = b'1', c_bit9 = b'101010101', c_bit64 = b'1000000000000000000000000000000000000000000000000000000000000001',
  c_char = 'ab', c_varchar = 'grün', c_latin = 'grün', c_ucs2 = 'grün',
  c_tinytext = 'tiny', c_text = 'line\n"q"', c_mediumtext = 'medium', c_longtext = 'long',
  c_binary = 'ab', c_varbinary = 'v\0', c_tinyblob = '', c_blob = 'b\0', c_longblob = 'long',
  c_date = '2024-02-29', c_time = '23:59:59', c_time3 = '10:00:00.5', c_time6 = '23:59:59.123456',
  c_dt = '2024-02-29 12:34:56', c_dt3 = '2024-02-29 12:34:56.123', c_dt6 = '2024-02-29 12:34:56.123456',
  c_ts = '2024-02-29 12:34:56', c_ts3 = '2024-02-29 12:34:56.12', c_ts6 = '2024-02-29 12:34:56.123456',
  c_year = 2024, c_enum = 'd''e', c_set = 'x,z', c_json = '{"a": 1, "b": [true, null]}', c_zero = 42;
INSERT INTO inv.types (id) VALUES (2);
INSERT INTO inv.plain (name, born) VALUES ('snap', '2024-01-02 03:04:05');
INSERT INTO inv.composite VALUES (1, 'x', 10);
INSERT INTO inv.no_key VALUES (1, 'one');
INSERT INTO inv.only_unique VALUES (1, 'u');

-- part 2
INSERT INTO inv.types SET id = 3,
  c_tiny = -128, c_utiny = 255, c_bool = true, c_small = -32768, c_usmall = 65535,
  c_med = -8388608, c_umed = 16777215, c_int = -2147483648, c_uint = 4294967295,
  c_big = -9223372036854775808, c_ubig = 18446744073709551615,
  c_float = 1.5, c_double = -2.25e100, c_real = 3.141592653589793, c_dec_10_2 = -12345678.90,
  c_dec_30_10 = 12345678901234567890.0123456789, c_dec_5 = 99999, c_udec = 0.001,
  c_bit1 = b'1', c_bit9 = b'101010101', c_bit64 = b'1000000000000000000000000000000000000000000000000000000000000001',
  c_char = 'ab', c_varchar = 'grün', c_latin = 'grün', c_ucs2 = 'grün',
  c_tinytext = 'tiny', c_text = 'line\n"q"', c_mediumtext = 'medium', c_longtext = 'long',
  c_binary = 'ab', c_varbinary = 'v\0', c_tinyblob = '', c_blob = 'b\0', c_longblob = 'long',
  c_date = '2024-02-29', c_time = '23:59:59', c_time3 = '10:00:00.5', c_time6 = '23:59:59.123456',
  c_dt = '2024-02-29 12:34:56', c_dt3 = '2024-02-29 12:34:56.123', c_dt6 = '2024-02-29 12:34:56.123456',
  c_ts = '2024-02-29 12:34:56', c_ts3 = '2024-02-29 12:34:56.12', c_ts6 = '2024-02-29 12:34:56.123456',
  c_year = 2024, c_enum = 'd''e', c_set = 'x,z', c_json = '{"a": 1, "b": [true, null]}', c_zero = 42;
INSERT INTO inv.types SET id = 4, c_date = '1000-01-01', c_time = '-838:59:59', c_time6 = '-00:00:00.5', c_dt6 = '1000-01-01 00:00:00.000001',
  c_ts6 = '1970-01-01 00:00:01', c_float = 0.1, c_double = 0.1, c_dec_10_2 = 0, c_dec_30_10 = -0.0000000001, c_year = 1901, c_set = '',
  c_binary = '', c_bit9 = b'0', c_bit1 = b'0', c_dt = '9999-12-31 23:59:59', c_ts = '2038-01-19 03:14:07';
INSERT INTO inv.plain (name, big, born) VALUES ('second', repeat('b', 300), '2024-01-02 03:04:05');
UPDATE inv.plain SET name = 'renamed' WHERE name = 'second';
UPDATE inv.plain SET id = 100 WHERE name = 'renamed';
DELETE FROM inv.plain WHERE id = 100;
BEGIN;
INSERT INTO inv.composite VALUES (2, 'y', 20), (5, 'w', 50);
UPDATE inv.composite SET v = v + 1 WHERE a >= 2;
INSERT INTO inv.no_key VALUES (2, 'two');
COMMIT;
ALTER TABLE inv.composite ADD COLUMN extra tinyint(1) NOT NULL DEFAULT 1;
INSERT INTO inv.composite VALUES (3, 'z', 30, 0);
ALTER TABLE inv.composite CHANGE COLUMN v value bigint, ADD COLUMN front varchar(5) FIRST;
DELETE FROM inv.composite WHERE a = 1;
UPDATE inv.only_unique SET v = 2 WHERE v = 1;
DELETE FROM inv.no_key WHERE v = 1;
TRUNCATE inv.no_key;
INSERT INTO inv.no_key VALUES (9, 'last');
