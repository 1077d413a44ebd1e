/** Encodes the call of a load and decodes its reply: one need after the other, and the values found for each. */
import { BATCH_REPLY_BYTES } from '../../../kernel/index.ts'
import type { IndexEntry, Instant, Range, RecordType } from '../../../kernel/index.ts'
import type { LoadReply, LoadRequest } from '../../working-set/commit/backend.ts'
import { scoreKey } from '../../working-set/load/needs.ts'
import type { Needs, ScoreNeed } from '../../working-set/load/needs.ts'
import type { WorkingSet } from '../../working-set/load/working-set.ts'
import { NO_HEAD } from './call-writer.ts'
import type { CallWriter, FunctionCall } from './call-writer.ts'
import { readName } from '../layout/id-bytes.ts'
import { idParts, kindHeads, memberIdParts } from '../layout/keys.ts'
import type { Keys } from '../layout/keys.ts'
import type { FunctionNames } from './function-names.ts'
import { asBytes, readRecordName, readRecordValue } from '../layout/stored-value.ts'
import type { NamedRecord, StoredForm } from '../layout/stored-value.ts'

/** The reply for a lost lock, in place of a time to wait. */
const LOCK_LOST = -1

type Values = readonly (Buffer | null)[]

/** Writes the call of one load, in the order that `library.lua` describes. */
export function writeLoad(
  writer: CallWriter,
  functions: FunctionNames,
  keys: Keys,
  request: LoadRequest,
  form: StoredForm,
): FunctionCall {
  const { needs, partition, lock = '', reserver = '' } = request
  const prefix = keys.partition(partition)
  const heads = keys.heads(partition)
  writer.begin(functions.load, [prefix, keys.channels(partition)])
  writer.latin1Argument(lock)
  writer.argument(request.holdsLock === true ? '1' : '')
  writer.latin1Argument(reserver)
  if (needs.records.size > 0) {
    writer.argument('k')
    writer.argument([...needs.records.values()].reduce((sum, { size }) => sum + size, 0))
    for (const [type, ids] of needs.records) for (const id of ids) writer.name(heads[type], id, idParts[type])
  }
  for (const { index, limit, reserve, to } of needs.heads.values()) {
    writer.argument('h')
    writer.name(heads.index, index, idParts.index)
    writer.argument(limit)
    writer.argument(reserver === '' ? 0 : reserve)
    writer.argument((to === 'now' ? request.now : to) ?? to ?? '')
    writeTemplates(writer, form.namedBy(index))
  }
  for (const { range } of needs.pages.values()) {
    writer.argument('p')
    writeRange(writer, heads.index, range)
    writeTemplates(writer, form.namedBy(range.index))
  }
  for (const range of needs.counts.values()) {
    writer.argument('c')
    writeRange(writer, heads.index, range)
  }
  for (const [index, scores] of scoresByIndex(needs)) {
    writer.argument('s')
    writer.name(heads.index, index, idParts.index)
    writer.argument(scores.length)
    for (const { id } of scores) writer.member(id, memberIdParts(index))
  }
  if (needs.blobs.size > 0) {
    writer.argument('b')
    writer.argument(BATCH_REPLY_BYTES)
    writer.argument(needs.blobs.size)
    for (const key of needs.blobs) writer.name(heads.blob, key, idParts.blob)
  }
  return writer.finish()
}

/** The scores of one index are read with one command: the index reconciler reads those of hundreds of ids. */
function scoresByIndex({ scores }: Needs): ReadonlyMap<string, readonly ScoreNeed[]> {
  return Map.groupBy(scores.values(), ({ index }) => index)
}

function writeTemplates(writer: CallWriter, named: readonly NamedRecord[]): void {
  writer.argument(named.length)
  for (const { type, before, after } of named) {
    writer.name(kindHeads[type], before, idParts[type])
    writer.name(NO_HEAD, after, idParts[type])
  }
}

function writeRange(writer: CallWriter, head: Uint8Array, { index, from, to, reverse, limit }: Range): void {
  writer.name(head, index, idParts.index)
  writer.argument(from?.score ?? '')
  writer.name(NO_HEAD, from?.id ?? '', memberIdParts(index))
  writer.argument(to ?? '')
  writer.argument(reverse === true ? '1' : '')
  writer.argument(limit)
}

/** Fills the working set from the reply. Blobs that did not fit into the reply stay unknown. */
export function readLoad(reply: unknown, request: LoadRequest, form: StoredForm): LoadReply {
  const [now, waitMs, ...found] = reply as [number, number, ...unknown[]]
  if (waitMs === LOCK_LOST) return { now, isLockLost: true }
  if (waitMs > 0) return { now, busyMs: waitMs }
  new LoadReader(found, request.into, form).read(request, request.now ?? now)
  return { now }
}

class LoadReader {
  readonly #found: readonly unknown[]
  readonly #into: WorkingSet
  readonly #form: StoredForm
  #next = 0

  constructor(found: readonly unknown[], into: WorkingSet, form: StoredForm) {
    this.#found = found
    this.#into = into
    this.#form = form
  }

  read({ needs, reserver = '' }: LoadRequest, now: Instant): void {
    const into = this.#into
    if (needs.records.size > 0) {
      const values = this.#take() as Values
      let i = 0
      for (const [type, ids] of needs.records) {
        for (const id of ids) this.#keepRecord(type, id, values[i++])
      }
    }
    for (const { index, limit, reserve, to } of needs.heads.values()) {
      const entries = this.#entriesWithRecords(index)
      const reservedCount = reserver === '' ? 0 : reserve
      into.keepHead(index, limit, entries, {
        to: to === 'now' ? now : to,
        reservedCount,
        isHiding: this.#take() === 1,
      })
    }
    for (const [key, { range }] of needs.pages) into.keepPage(key, range, this.#entriesWithRecords(range.index))
    for (const [key, range] of needs.counts) into.keepCount(key, range, this.#take() as number)
    for (const [index, scores] of scoresByIndex(needs)) {
      const values = this.#take() as Values
      scores.forEach(({ id }, place) => {
        const score = values[place]
        into.keepScore(scoreKey(index, id), score === null || score === undefined ? undefined : Number(score))
      })
    }
    if (needs.blobs.size > 0) {
      const values = this.#take() as Values
      let i = 0
      for (const key of needs.blobs) {
        if (i === values.length) break
        into.keepBlob(key, asBytes(values[i++]))
      }
    }
  }

  #take(): unknown {
    return this.#found[this.#next++]
  }

  /** Reads entries, the records that they name, and the records that these bring. */
  #entriesWithRecords(index: string): IndexEntry[] {
    const flat = this.#take() as Buffer[]
    const values = this.#take() as Values
    const brought = this.#take() as Values
    const named = this.#form.namedBy(index)
    const entries: IndexEntry[] = []
    for (let i = 0, value = 0; i + 1 < flat.length; i += 2) {
      const id = readName(flat[i] as Buffer)
      entries.push({ index, score: Number(flat[i + 1]), id })
      for (const { type, before, after } of named) this.#keepRecord(type, before + id + after, values[value++])
    }
    for (let i = 0; i + 1 < brought.length; i += 2) {
      const name = readRecordName(brought[i] as Buffer)
      if (name !== undefined) this.#keepRecord(name.type, name.id, brought[i + 1])
    }
    return entries
  }

  #keepRecord(type: RecordType, id: string, value: Buffer | null | undefined): void {
    const isAbsent = value === null || value === undefined
    this.#into.keepRecord(type, id, isAbsent ? undefined : readRecordValue(type, id, value, this.#form))
  }
}
