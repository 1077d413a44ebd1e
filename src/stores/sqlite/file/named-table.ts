/** The form of a table of records whose ids are names. */

/** A name may exist in several partitions. `columns` are those of `sql/columns.ts`. */
export function namedTable(type: string, columns: string): string {
  return `
  create table ${type} (
    id text not null,
    partition integer not null,
    ${columns},
    record text not null,
    primary key (id, partition)
  ) strict;
`
}
