/** Where a crash test takes place: a folder with one store and with what the processes around it wrote down. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { MemberPlan } from './fleet.ts'
import { readSideRecord } from './side-record.ts'
import { keyOf } from './work.ts'
import type { BodyEntry, RogueEntry, SubmitterEntry } from './work.ts'

export class Site implements Disposable {
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'flowfabric-crash-'))
  readonly file = path.join(this.#folder, 'fabric.db')
  readonly location = `sqlite:${this.file}`

  engine(name: string): MemberPlan {
    return { name, program: new URL('./engine-process.ts', import.meta.url), args: [this.location] }
  }

  worker(name: string, leaseTtlMs: number): MemberPlan {
    return {
      name,
      program: new URL('./worker-process.ts', import.meta.url),
      args: [this.location, this.side(name), String(leaseTtlMs)],
    }
  }

  submitter(name: string, perSecond: number): MemberPlan {
    return {
      name,
      program: new URL('./submitter-process.ts', import.meta.url),
      args: [this.location, this.side(name), name, String(perSecond)],
    }
  }

  rogue(name: string, leaseTtlMs: number): MemberPlan {
    return {
      name,
      program: new URL('./rogue-process.ts', import.meta.url),
      args: [this.location, this.side(name), String(leaseTtlMs)],
    }
  }

  opener(name: string): MemberPlan {
    return {
      name,
      program: new URL('./opener-process.ts', import.meta.url),
      args: [this.location, this.side(name), name],
    }
  }

  /** The ids of acknowledged submits, by the keys under which they were submitted. */
  acknowledged(): Map<string, string> {
    const acknowledged = new Map<string, string>()
    for (const [submitter, entries] of this.#sides<SubmitterEntry>(['submitter', 'opener'])) {
      for (const entry of entries) {
        if (entry.step === 'acknowledged')
          acknowledged.set(keyOf({ submitter, number: entry.number }), entry.executionId)
      }
    }
    return acknowledged
  }

  /** What the bodies of handlers did, in every process that ever ran one. */
  bodies(): BodyEntry[] {
    return this.#sides<BodyEntry>(['worker']).flatMap(([, entries]) => entries)
  }

  /** What those were answered who insisted on a lease that had run out. */
  forgeries(): string[] {
    return this.#sides<RogueEntry>(['rogue']).flatMap(([, entries]) => entries.flatMap(({ answers }) => answers))
  }

  /** A place in the same folder for a copy of the store. */
  copyFile(name: string): string {
    return path.join(this.#folder, `${name}.db`)
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true })
  }

  /** Where a process of this name writes down what it sees. */
  protected side(name: string): string {
    return path.join(this.#folder, `${name}.jsonl`)
  }

  #sides<Entry>(prefixes: readonly string[]): [string, Entry[]][] {
    return readdirSync(this.#folder)
      .map((file) => path.parse(file))
      .filter(({ name, ext }) => ext === '.jsonl' && prefixes.some((prefix) => name.startsWith(prefix)))
      .map(({ name }) => [name, readSideRecord<Entry>(this.side(name))])
  }
}

/** What SQLite itself thinks of a file: `ok`, or what is wrong with it. */
export function integrityOf(file: string): unknown {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return database.prepare('pragma integrity_check').get()?.['integrity_check']
  } finally {
    database.close()
  }
}
