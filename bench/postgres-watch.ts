/**
 * What a PostgreSQL server did between two moments. All but the reads is right at once: the counts that its sessions
 * keep of their work reach its statistics up to ten seconds later.
 */
import type { PostgresServer } from '../test/servers/postgres-server.ts'
import { treeCpuMicros } from './process-cpu.ts'

export interface PostgresUse {
  readonly kind: 'postgres'
  /** All processes: sessions, the writers of log and tables, autovacuum. */
  readonly cpuMicros: number
  /** Transactions that wrote something. Whatever only reads is given no number by the server. */
  readonly commits: number
  /** Written to the log that a restart reads. */
  readonly walBytes: number
  /** Rows and index entries that were read. The sessions report them up to ten seconds late. */
  readonly reads: number
}

type Counters = Omit<PostgresUse, 'kind'>

const COUNTERS = `
  select pg_snapshot_xmax(pg_current_snapshot())::text::float8 as transactions,
    (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::float8 as wal_bytes,
    (select sum(tup_returned + tup_fetched)::float8 from pg_stat_database where datname = current_database()) as reads`

export class PostgresWatch {
  readonly #server: PostgresServer
  readonly #before: Counters

  private constructor(server: PostgresServer, before: Counters) {
    this.#server = server
    this.#before = before
  }

  static async begin(server: PostgresServer): Promise<PostgresWatch> {
    return new PostgresWatch(server, await readCounters(server))
  }

  async end(): Promise<PostgresUse> {
    const after = await readCounters(this.#server)
    return {
      kind: 'postgres',
      cpuMicros: after.cpuMicros - this.#before.cpuMicros,
      commits: after.commits - this.#before.commits,
      walBytes: after.walBytes - this.#before.walBytes,
      reads: after.reads - this.#before.reads,
    }
  }
}

async function readCounters(server: PostgresServer): Promise<Counters> {
  if (server.pid === undefined) throw new Error('The server is down.')
  const [row] = await server.query(COUNTERS)
  return {
    cpuMicros: await treeCpuMicros(server.pid),
    commits: Number(row?.['transactions']),
    walBytes: Number(row?.['wal_bytes']),
    reads: Number(row?.['reads']),
  }
}
