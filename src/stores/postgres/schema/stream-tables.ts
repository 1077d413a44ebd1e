/** The tables of streams. Their columns are those of `sql/columns.ts`. Rows of running executions change often. */
const OFTEN_CHANGED = `fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0`

export const streams = `
  create table $schema.stream (
    id text collate "C" not null,
    partition integer not null,
    execution_id text collate "C" not null,
    first_sequence bigint not null check (first_sequence > 0),
    next_sequence bigint not null,
    size bigint not null check (size >= 0),
    summary_version bigint,
    record text not null,
    primary key (id, partition),
    constraint stream_is_in_order check (first_sequence <= next_sequence)
  ) with (${OFTEN_CHANGED});

  create table $schema.frame_chunk (
    id text collate "C" not null,
    partition integer not null,
    execution_id text collate "C" not null,
    number bigint not null check (number > 0),
    attempt_number bigint not null,
    first_sequence bigint not null check (first_sequence > 0),
    frame_count integer not null check (frame_count > 0),
    size integer not null check (size > 0),
    record text not null,
    primary key (id, partition)
  ) with (${OFTEN_CHANGED});
`
