/**
 * A test mode that checks the assumptions of optimistic commits on every run of every operation: a change of a guarded index
 * writes the guard, a guarded range is read after its guard, an independent part relies on its own reads, and an operation
 * keeps to its class.
 */
import { classOf, entriesOf, guardOf, isReadOperation, operationClasses } from '../../../kernel/index.ts'
import type {
  AnyRecord,
  OperationClass,
  OperationInput,
  OperationName,
  RecordType,
  RecordTypes,
  Tx,
} from '../../../kernel/index.ts'
import type { Call } from '../../store.ts'
import { isVerifying } from './verification.ts'

/** Reads a record as the operation sees it, without counting the read as one of the operation. */
export type Peek = <T extends RecordType>(type: T, id: string) => RecordTypes[T] | undefined

export interface VerifiedTx {
  /** Behaves like the wrapped transaction. */
  readonly tx: Tx
  /** The rule violations so far. Complete once the operation has returned. */
  readonly problems: () => string[]
}

/** Runs an operation. In the test mode, throws if it breaks a rule. Operations defined by tests are not checked. */
export function runVerified<N extends OperationName, R>(
  tx: Tx,
  { operation, input }: Call<N>,
  run: (tx: Tx, input: OperationInput<N>) => R,
  peek: Peek,
): R {
  if (!isVerifying() || !Object.hasOwn(operationClasses, operation)) return run(tx, input)
  const verified = verifyTx(tx, operation, input, peek)
  const result = run(verified.tx, input)
  const problems = verified.problems()
  if (problems.length > 0) throw new Error(`${operation} breaks the rules of the kernel: ${problems.join('; ')}.`)
  return result
}

export function verifyTx<N extends OperationName>(
  tx: Tx,
  operation: N,
  input: OperationInput<N>,
  peek: Peek = tx.get,
): VerifiedTx {
  const verifier = new Verifier(operation, classOf(operation, input), peek)
  return { tx: verifier.watch(tx), problems: () => verifier.problems() }
}

/** An index entry that the operation has changed. */
interface ChangedEntry {
  readonly index: string
  readonly before: number | undefined
  after: number | undefined
  /** The flow of the record that the entry is derived from, if that is an edge. */
  readonly flowId: string | undefined
}

class Verifier {
  readonly #operation: OperationName
  readonly #class: OperationClass
  readonly #peek: Peek
  #read = new Set<string>()
  readonly #written = new Set<string>()
  readonly #entries = new Map<string, ChangedEntry>()
  readonly #unguarded = new Set<string>()
  readonly #problems = new Set<string>()
  #hasWritten = false

  constructor(operation: OperationName, operationClass: OperationClass, peek: Peek) {
    this.#operation = operation
    this.#class = operationClass
    this.#peek = peek
  }

  watch(tx: Tx): Tx {
    return {
      ...tx,
      get: (type, id) => {
        this.#noteRead(type, id)
        return tx.get(type, id)
      },
      has: (type, id) => {
        this.#noteRead(type, id)
        return tx.has(type, id)
      },
      getMany: (type, ids) => {
        for (const id of ids) this.#noteRead(type, id)
        return tx.getMany(type, ids)
      },
      put: (record) => {
        this.#noteWrite(record.type, record.id, record)
        tx.put(record)
      },
      remove: (type, id) => {
        this.#noteWrite(type, id, undefined)
        tx.remove(type, id)
      },
      range: (range) => {
        this.#noteRange(range.index)
        return tx.range(range)
      },
      scan: (range, type) => {
        this.#noteRange(range.index)
        const records = tx.scan(range, type)
        for (const { id } of records) this.#noteRead(type, id)
        return records
      },
      countUpTo: (range) => {
        this.#noteRange(range.index)
        return tx.countUpTo(range)
      },
      // A repaired entry was damaged outside of all operations, so no guard covers it.
      repair: (index, id, score, standsAt) => {
        this.#hasWritten = true
        tx.repair(index, id, score, standsAt)
      },
      emit: (type, subject, detail) => {
        this.#hasWritten = true
        tx.emit(type, subject, detail)
      },
      keep: (key, blob) => {
        this.#hasWritten = true
        tx.keep(key, blob)
      },
      copy: (from, to) => {
        this.#hasWritten = true
        tx.copy(from, to)
      },
      forget: (key) => {
        this.#hasWritten = true
        tx.forget(key)
      },
      // What others have read does not count: another group may carry the condition on it.
      part: (run) => {
        const outside = this.#read
        this.#read = new Set()
        tx.part(run)
        this.#read = outside
      },
    }
  }

  problems(): string[] {
    for (const { index, before, after, flowId } of this.#entries.values()) {
      if (before !== after) this.#checkGuardWritten(index, flowId)
    }
    if (this.#hasWritten && isReadOperation(this.#operation)) this.#problems.add(`writes, but is ${this.#class}`)
    if (this.#hasWritten && this.#class === 'optimistic') {
      for (const index of this.#unguarded) {
        this.#problems.add(`is optimistic, but writes after reading ${textOf(index)}, which has no guard`)
      }
    }
    return [...this.#problems]
  }

  #noteRead(type: RecordType, id: string): void {
    this.#read.add(keyOf(type, id))
  }

  #noteWrite(type: RecordType, id: string, after: AnyRecord | undefined): void {
    const key = keyOf(type, id)
    if (!this.#read.has(key)) {
      this.#problems.add(`writes the ${type} ${textOf(id)} without having read it`)
      this.#read.add(key)
    }
    const before = this.#peek(type, id)
    this.#hasWritten = true
    this.#written.add(key)
    if (before !== undefined) this.#noteEntries(before, false)
    if (after !== undefined) this.#noteEntries(after, true)
  }

  /** Takes note of the entries of a record that leaves the store, or of one that enters it. */
  #noteEntries(record: AnyRecord, isAfter: boolean): void {
    const flowId = record.type === 'edge' ? record.flowId : undefined
    for (const { index, id, score } of entriesOf(record)) {
      const key = `${index}\u0000${id}`
      const known = this.#entries.get(key)
      const after = isAfter ? score : undefined
      if (known === undefined) this.#entries.set(key, { index, before: isAfter ? undefined : score, after, flowId })
      else known.after = after
    }
  }

  #noteRange(index: string): void {
    const guard = guardOf(index)
    switch (guard.kind) {
      case 'record':
        this.#checkGuardRead(index, guard.type, guard.id)
        return
      case 'flow_of': {
        this.#checkGuardRead(index, 'execution', guard.executionId)
        const flowId = this.#peek('execution', guard.executionId)?.member?.flowId
        if (flowId !== undefined) this.#checkGuardRead(index, 'flow', flowId)
        return
      }
      case 'none':
        this.#unguarded.add(index)
        return
      case 'advisory':
        return
    }
  }

  /** A loose operation may read at several moments: what it finds is read again under the lock before it is written. */
  #checkGuardRead(index: string, type: RecordType, id: string): void {
    if (this.#class === 'loose' || this.#read.has(keyOf(type, id))) return
    this.#problems.add(`reads ${textOf(index)} before its guard, the ${type} ${textOf(id)}`)
  }

  #checkGuardWritten(index: string, flowId: string | undefined): void {
    const guard = guardOf(index)
    if (guard.kind === 'record') this.#checkWritten(index, guard.type, guard.id)
    else if (guard.kind === 'flow_of') this.#checkWritten(index, 'flow', flowId ?? '')
  }

  #checkWritten(index: string, type: RecordType, id: string): void {
    if (this.#written.has(keyOf(type, id))) return
    this.#problems.add(`changes ${textOf(index)} without writing its guard, the ${type} ${textOf(id)}`)
  }
}

function keyOf(type: RecordType, id: string): string {
  return `${type}\u0000${id}`
}

/** Index names have unprintable separators. */
function textOf(name: string): string {
  return name.replaceAll('\u001f', '·')
}
