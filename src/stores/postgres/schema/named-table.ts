/** The form of a table of records whose ids are names. */

/** Small tables whose rows change often. `columns` are those of `sql/columns.ts`. */
export function namedTable(type: string, columns: string): string {
  return `
  create table $schema.${type} (
    id text collate "C" not null,
    partition integer not null,
    ${columns},
    record text not null,
    primary key (id, partition)
  ) with (
    fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05,
    autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0
  );
`
}
