/** The table of schedules: a row changes with every firing. Its columns are those of `sql/columns.ts`. */
export const scheduleTable = `
  create table $schema.schedule (
    id text collate "C" not null,
    partition integer not null,
    namespace text not null,
    name text not null,
    owner text,
    task text not null,
    is_paused integer not null check (is_paused in (0, 1)),
    next_at bigint,
    fired_at bigint,
    fired_count bigint not null check (fired_count >= 0),
    record text not null,
    primary key (id, partition)
  ) with (
    fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0
  );
`
