/** What an operation loads ahead, beside what it reads then, as text for review. */
import { planCall, recordsNamedBy } from '../../src/kernel/index.ts'
import type { OperationName, Plan, Range, RecordType, Tx } from '../../src/kernel/index.ts'
import { nameText } from './trials/canonical-text.ts'
import { runOperation, storedEntries } from './trials/memory.ts'
import type { Memory } from './trials/memory.ts'
import { perform } from './trials/operation-call.ts'
import { arrange, situationsOf } from './trials/table.ts'
import type { Trial } from './trials/trial.ts'
import { START_AT } from './trials/world.ts'

/** Kinds of records, indexes and blobs, by what they are called in a store. */
type Reads = Map<string, string>

/**
 * The plans of an operation: what it loads ahead, what it reads beyond that, and what it loads and never reads. Ways of calling it
 * that do not differ in this are listed together.
 */
export function planText(operation: OperationName, trials: readonly Trial[]): string {
  const manners = new Map<string, string[]>()
  for (const trial of trials) {
    if (trial.operation !== operation) continue
    const { beyond, unread } = comparisonOf(trial)
    const lines = [...hintsOf(trial), `beyond: ${listText(beyond)}`, `unread: ${listText(unread)}`]
    const text = lines.map((line) => `  ${line}`).join('\n')
    manners.set(text, [...(manners.get(text) ?? []), trial.manner === '' ? 'always' : trial.manner])
  }
  return [...manners].map(([text, names]) => `${names.join(' | ')}\n${text}`).join('\n')
}

function listText(kinds: ReadonlySet<string>): string {
  return kinds.size === 0 ? 'nothing' : [...kinds].sort().join(', ')
}

/** The hints themselves, in order. Equal ones are one line. */
function hintsOf(trial: Trial): string[] {
  const hints: string[] = []
  planCall(recorderOf(hints), trial.operation, trial.input as never)
  const counts = new Map<string, number>()
  for (const hint of hints) counts.set(hint, (counts.get(hint) ?? 0) + 1)
  return [...counts].map(([hint, count]) => (count === 1 ? hint : `${hint} × ${count}`))
}

function recorderOf(hints: string[]): Plan {
  const say = (...parts: (string | number | undefined)[]) => {
    hints.push(parts.filter((part) => part !== undefined).join(' '))
  }
  return {
    record: (type, id) => say(type, nameText(id)),
    absent: (type, id) => say('absent', type, nameText(id)),
    blob: (key) => say('blob', nameText(key)),
    head: (index, limit) => say('head', nameText(index), limit),
    work: (index, limit) => say('work', nameText(index), limit),
    claim: (index, count) => say('claim', nameText(index), count),
    due: (count, index) => say('due', count, index && nameText(index)),
    makesReady: (index) => say('makes ready', nameText(index)),
    releases: () => say('releases'),
    page: (range) => say('page', rangeText(range)),
    contents: (range) => say('contents', rangeText(range)),
  }
}

function rangeText({ index, from, to, reverse, limit }: Range): string {
  const ends = [from && `from ${from.score} ${from.id ?? ''}`.trim(), to === undefined ? undefined : `to ${to}`]
  return [nameText(index), ...ends, reverse === true ? 'backwards' : undefined, limit].filter(Boolean).join(' ')
}

/** Compares the plan with the reads, in all situations. */
function comparisonOf(trial: Trial): { readonly beyond: Set<string>; readonly unread: Set<string> } {
  const beyond = new Set<string>()
  const read = new Set<string>()
  const planned = new Map<string, string>()
  for (const situation of situationsOf(trial)) {
    const { memory } = arrange(trial, situation)
    const named: Reads = new Map()
    const loaded = loadedBy(trial, memory, named)
    for (const [name, kind] of named) planned.set(name, kind)
    for (const [name, kind] of readsOf(trial, memory)) {
      read.add(name)
      if (!loaded.has(name)) beyond.add(kind)
    }
  }
  return { beyond, unread: new Set([...planned].filter(([name]) => !read.has(name)).map(([, kind]) => kind)) }
}

/** Everything that the plan brings. `named` gets what the plan names itself. */
function loadedBy(trial: Trial, memory: Memory, named: Reads): ReadonlySet<string> {
  const loaded = new Set<string>()
  const name = (key: string, kind: string) => {
    named.set(key, kind)
    loaded.add(key)
  }
  const record = (type: RecordType, id: string) => name(recordName(type, id), type)
  const index = (of: string) => {
    name(indexName(of), indexKind(of))
    for (const entry of storedEntries(memory)) {
      if (entry.index !== of) continue
      for (const { type, before, after } of recordsNamedBy(of)) loaded.add(recordName(type, before + entry.id + after))
    }
  }
  const plan: Plan = {
    record,
    absent: record,
    blob: (key) => name(blobName(key), 'blob'),
    head: index,
    work: index,
    claim: index,
    due: (_, of = 'due') => index(of),
    makesReady: () => undefined,
    releases: () => undefined,
    page: (range) => index(range.index),
    contents: (range) => index(range.index),
  }
  planCall(plan, trial.operation, trial.input as never)
  return loaded
}

function readsOf(trial: Trial, memory: Memory): Reads {
  const reads: Reads = new Map()
  const record = (type: RecordType, id: string) => reads.set(recordName(type, id), type)
  const index = (of: string) => reads.set(indexName(of), indexKind(of))
  runOperation(memory, START_AT + trial.atMs, trial.blobs, (tx) => {
    const recording: Tx = {
      ...tx,
      get: (type, id) => {
        record(type, id)
        return tx.get(type, id)
      },
      has: (type, id) => {
        record(type, id)
        return tx.has(type, id)
      },
      getMany: (type, ids) => {
        for (const id of ids) record(type, id)
        return tx.getMany(type, ids)
      },
      range: (range) => {
        index(range.index)
        return tx.range(range)
      },
      scan: (range, type) => {
        index(range.index)
        for (const { id } of tx.range(range)) record(type, id)
        return tx.scan(range, type)
      },
      countUpTo: (range) => {
        index(range.index)
        return tx.countUpTo(range)
      },
      send: (key, size) => {
        reads.set(blobName(key), 'blob')
        return tx.send(key, size)
      },
    }
    return perform(recording, trial)
  })
  return reads
}

function recordName(type: RecordType, id: string): string {
  return `record ${type} ${id}`
}

function indexName(index: string): string {
  return `index ${index}`
}

function blobName(key: string): string {
  return `blob ${key}`
}

function indexKind(index: string): string {
  return `index ${nameText(index).split('/', 1)[0]}`
}
