/**
 * Moves keys of older layouts to their new names, step by step: records, events and members of indexes are rewritten, blobs are
 * renamed. What is left to do always has an old key.
 */
import { versionGenerator } from '../../../runtime/index.ts'
import type { Log } from '../../../runtime/index.ts'
import type { Argument, Connection } from '../connection/connection.ts'
import { memberIdParts, nameBytes } from '../layout/keys.ts'
import { TIME_BYTES, eventValue, recordValue } from '../layout/stored-value.ts'
import { storedForm } from '../layout/stored-form.ts'
import { ABSENT } from '../layout/value-tags.ts'
import { MOVE_ENTRIES, MOVE_EVENTS, MOVE_KEYS } from './move-scripts.ts'
import { logKey } from './old-keys.ts'
import type { OldKey } from './old-keys.ts'
import type { OldRecordType } from './old-schema.ts'
import { oldLayouts } from './old-layouts.ts'

/** Keys, members and events that one step moves at most, so that no step holds up the server. */
const KEYS_PER_STEP = 100
const ENTRIES_PER_STEP = 500
const EVENTS_PER_STEP = 500

/** What a migration has moved or would move. */
export interface MovedCounts {
  readonly records: number
  readonly indexes: number
  readonly blobs: number
  readonly events: number
  /** Records and events that could not be read. They were moved as they are, and reading them fails as before. */
  readonly damaged: number
}

export type Counts = { -readonly [Name in keyof MovedCounts]: number }

export class KeyMover {
  readonly moved: Counts = { records: 0, indexes: 0, blobs: 0, events: 0, damaged: 0 }
  readonly #connection: Connection
  readonly #log: Log
  readonly #beforeStep: () => void
  readonly #afterStep: () => void
  readonly #version = versionGenerator()

  /** `beforeStep` may throw to end the migration; `afterStep` is called when `moved` has changed. */
  constructor(connection: Connection, log: Log, beforeStep: () => void, afterStep: () => void) {
    this.#connection = connection
    this.#log = log
    this.#beforeStep = beforeStep
    this.#afterStep = afterStep
  }

  /** Moves keys of one partition. */
  async move(keys: readonly OldKey[]): Promise<void> {
    for (const key of keys) {
      if (key.kind === 'events') await this.#moveLogs(key)
      if (key.kind === 'index') await this.#moveEntries(key)
    }
    const others = keys.filter(({ kind }) => kind !== 'events' && kind !== 'index')
    for (let at = 0; at < others.length; at += KEYS_PER_STEP) {
      await this.#moveBatch(others.slice(at, at + KEYS_PER_STEP))
    }
  }

  async #moveBatch(batch: readonly OldKey[]): Promise<void> {
    this.#beforeStep()
    const values = await this.#valuesOf(batch.filter(({ kind }) => isRecord(kind)))
    const version = this.#version()
    const damaged = new Set<OldKey>()
    const args = batch.flatMap((key): Argument[] => {
      const value = values.get(key.oldKey)
      if (value === undefined) return [key.kind === 'trimmed' ? 'keep' : 'rename', '']
      const moved = newRecordValue(key, value, version)
      if (moved === undefined) damaged.add(key)
      return [value, moved ?? damagedValue(Buffer.from(`${version}\0`, 'latin1'), value)]
    })
    const names = batch.flatMap(({ oldKey, newKey }) => [oldKey, newKey])
    const reply = await this.#connection.sendForBytes('EVAL', MOVE_KEYS, names.length, ...names, ...args)
    const moved = reply as number[]
    batch.forEach((key, i) => {
      if (moved[i] !== 1 || key.kind === 'trimmed') return
      this.moved[key.kind === 'blob' ? 'blobs' : 'records']++
      if (damaged.has(key)) this.#noteDamage(key.oldKey)
    })
    this.#afterStep()
  }

  /** The values of records by their keys, without those that are gone and those of another type. */
  async #valuesOf(records: readonly OldKey[]): Promise<Map<string, Buffer>> {
    const found = new Map<string, Buffer>()
    if (records.length === 0) return found
    const names = records.map(({ oldKey }) => oldKey)
    const values = (await this.#connection.sendForBytes('MGET', ...names)) as (Buffer | null)[]
    names.forEach((name, i) => {
      const value = values[i]
      if (value !== null && value !== undefined) found.set(name, value)
    })
    return found
  }

  async #moveEntries({ oldKey, newKey, name }: OldKey): Promise<void> {
    const parts = memberIdParts(name)
    for (;;) {
      this.#beforeStep()
      const range = [oldKey, 0, ENTRIES_PER_STEP - 1, 'WITHSCORES']
      const old = (await this.#connection.sendForBytes('ZRANGE', ...range)) as Buffer[]
      if (old.length === 0) return
      const entries = old.flatMap((member, i) =>
        i % 2 === 0 ? [member, old[i + 1] as Buffer, nameBytes(member.toString(), parts)] : [],
      )
      const isLast = (await this.#connection.send('EVAL', MOVE_ENTRIES, 2, oldKey, newKey, ...entries)) === 1
      if (isLast) this.moved.indexes++
      this.#afterStep()
      if (isLast) return
    }
  }

  /** Moves the log, behind those of older layouts that an interrupted migration has left: it holds the earlier events. */
  async #moveLogs({ layout, name: partition }: OldKey): Promise<void> {
    const newer = oldLayouts.filter(({ version }) => version > layout.version)
    for (const one of [...newer.reverse(), layout]) await this.#moveEvents(logKey(one, 'events', partition))
  }

  /** Moves events from the head of the old list to the end of the new one, so that their numbers stay the same. */
  async #moveEvents({ layout, oldKey, newKey }: OldKey): Promise<void> {
    const connection = this.#connection
    const newest = (await connection.sendForBytes('LINDEX', newKey, -1)) as Buffer | null
    let at = newest === null ? 0 : newest.readUIntLE(0, TIME_BYTES)
    for (;;) {
      this.#beforeStep()
      const count = Number(await connection.send('LLEN', newKey))
      const old = (await connection.sendForBytes('LRANGE', oldKey, 0, EVENTS_PER_STEP - 1)) as Buffer[]
      const [first] = old
      if (first === undefined) return
      let damagedCount = 0
      const events = old.map((bytes) => {
        const event = layout.readEvent(bytes)
        if (event === undefined) damagedCount++
        at = event?.at ?? at
        return event === undefined ? damagedValue(timeBytes(at), bytes) : eventValue(at, event, storedForm)
      })
      const args = [oldKey, newKey, first, count, ...events]
      const moved = Number(await connection.sendForBytes('EVAL', MOVE_EVENTS, 2, ...args))
      if (moved === 0) return
      this.moved.events += moved
      for (let i = 0; i < damagedCount; i++) this.#noteDamage(oldKey)
      this.#afterStep()
    }
  }

  #noteDamage(key: string): void {
    this.moved.damaged++
    this.#log.warn({ store: 'valkey', key }, 'a stored value could not be read; it was moved as it is')
  }
}

export function isRecord(kind: OldKey['kind']): kind is OldRecordType {
  return kind !== 'index' && kind !== 'blob' && kind !== 'events' && kind !== 'trimmed'
}

/** Returns undefined if the value cannot be read as the record of the key. */
function newRecordValue({ layout, kind, name }: OldKey, value: Buffer, version: string): Buffer | undefined {
  const record = layout.readRecord(kind as OldRecordType, name, value)
  if (record?.id !== name) return undefined
  try {
    return recordValue(version, record, storedForm)
  } catch {
    // A record with values that no record has was damaged outside.
    return undefined
  }
}

/** A value that cannot be read in the new layout either: no record and no event begins with an absent value. */
function damagedValue(head: Buffer, value: Buffer): Buffer {
  return Buffer.concat([head, Buffer.of(ABSENT), value])
}

function timeBytes(at: number): Buffer {
  const bytes = Buffer.alloc(TIME_BYTES)
  bytes.writeUIntLE(at, 0, TIME_BYTES)
  return bytes
}
