/** The tables of streams. Their columns are those of `sql/columns.ts`. */
export const streams = `
  create table stream (
    id text not null primary key,
    partition integer not null,
    execution_id text not null,
    first_sequence integer not null check (first_sequence > 0),
    next_sequence integer not null,
    size integer not null check (size >= 0),
    summary_version integer,
    record text not null,
    check (first_sequence <= next_sequence)
  ) strict;

  create table frame_chunk (
    id text not null primary key,
    partition integer not null,
    execution_id text not null,
    number integer not null check (number > 0),
    attempt_number integer not null,
    first_sequence integer not null check (first_sequence > 0),
    frame_count integer not null check (frame_count > 0),
    size integer not null check (size > 0),
    record text not null
  ) strict;
`
