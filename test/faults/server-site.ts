/** A site whose store is on a server; its folder has only what the processes wrote down. */
import type { MemberPlan } from '../crash/fleet.ts'
import { readSideRecord } from '../crash/side-record.ts'
import { Site } from '../crash/site.ts'
import type { StopEntry } from './stopping-points.ts'

export class ServerSite extends Site {
  override readonly location: string

  constructor(location: string) {
    super()
    this.location = location
  }

  /** One that submits within transactions of its own, on a PostgreSQL server; its name begins with `submitter`. */
  stager(name: string): MemberPlan {
    return {
      name,
      program: new URL('./stager-process.ts', import.meta.url),
      args: [this.location, this.side(name), name],
    }
  }

  /** One that stops itself in the middle of its locked runs, on a Valkey server. */
  stopping(name: string, seed: number): MemberPlan {
    return {
      name,
      program: new URL('./stopping-process.ts', import.meta.url),
      args: [this.location, this.side(name), String(seed)],
    }
  }

  /** Where it has stopped so far. */
  stopsOf(name: string): StopEntry[] {
    return readSideRecord<StopEntry>(this.side(name))
  }
}
