/** The table of schedules. Its columns are those of `sql/columns.ts`. */
export const scheduleTable = `
  create table schedule (
    id text not null,
    partition integer not null,
    namespace text not null,
    name text not null,
    owner text,
    task text not null,
    is_paused integer not null check (is_paused in (0, 1)),
    next_at integer,
    fired_at integer,
    fired_count integer not null check (fired_count >= 0),
    record text not null,
    primary key (id, partition)
  ) strict;
`
