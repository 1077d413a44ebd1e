/** What executions remember and wait for, as words: steps, waits, waitpoints and signals out of small pools. See commands.ts. */
import fc from 'fast-check'
import type { ConditionNode } from '../../src/kernel/index.ts'
import { anyLease } from './flow-commands.ts'

/** How much is in play: few names, so that steps, waits and signals meet each other's, or so many that bounds are met. */
export interface JournalScale {
  readonly executions: number
  /** Leases are pointed at from the newest back; whatever is older than this is out of reach. */
  readonly reach: number
  /** Names of steps. */
  readonly names: number
  /** Waitpoints that a handler opens by itself, besides those of `TARGETS`. */
  readonly targets: number
  /** Keys under which senders send. */
  readonly keys: number
  /** Bytes of the largest value. */
  readonly bytes: number
}

const rarely = fc.nat({ max: 4 }).map((number) => number === 4)
const mostly = fc.nat({ max: 4 }).map((number) => number !== 4)

// Few values that add up to one another, so that waits end exactly at a read.
const waitMs = fc.constantFrom(undefined, undefined, 0, 1_000, 5_000, 5_000, 30_000)
const expiryMs = fc.constantFrom(undefined, undefined, 1_000, 5_000, 30_000)

/** Two waitpoints and two mailboxes: what was sent to one is often waited for. */
const TARGETS = ['door', 'gate'] as const
const MAILBOXES = ['@go', '@größer'] as const
const SIGNAL_NAMES = ['go', 'größer', 'approve', 'reject'] as const
const PEOPLE = ['ann', 'bob', '進'] as const

const place = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TARGETS) },
  { weight: 2, arbitrary: fc.constantFrom(...MAILBOXES) },
)
const places = fc.uniqueArray(place, { minLength: 1, maxLength: 3 })
const need = fc.constantFrom(1, 1, 2, 3)
const people = fc.oneof(
  { weight: 3, arbitrary: fc.constant<string[]>([]) },
  { weight: 1, arbitrary: fc.subarray([...PEOPLE], { minLength: 1 }) },
)
const maybeName = fc.option(fc.constantFrom(...SIGNAL_NAMES), { nil: undefined, freq: 2 })

function node(kind: ConditionNode['kind'], fields: Partial<ConditionNode> = {}): ConditionNode {
  return { kind, parent: undefined, need: 1, by: 'once', name: undefined, from: [], targets: [], ...fields }
}

const anyLeaf: fc.Arbitrary<ConditionNode> = fc.oneof(
  { weight: 3, arbitrary: place.map((one) => node('leaf', { targets: [one] })) },
  {
    weight: 4,
    arbitrary: fc
      .record({ need, by: fc.constantFrom('signals', 'sources', 'waitpoints'), name: maybeName, from: people })
      .chain((fields) => places.map((targets) => node('leaf', { ...fields, targets }))),
  },
  { weight: 1, arbitrary: fc.constant(node('operator')) },
)

/** A group of leaves, and perhaps one more within it: flat, parents before their children. */
const anyTree: fc.Arbitrary<ConditionNode[]> = fc
  .record({
    need,
    leaves: fc.array(anyLeaf, { minLength: 1, maxLength: 3 }),
    within: fc.option(fc.record({ need, leaves: fc.array(anyLeaf, { minLength: 1, maxLength: 2 }) }), {
      nil: undefined,
    }),
  })
  .map(({ need: asked, leaves, within }) => {
    const nodes = [node('group', { need: Math.min(asked, leaves.length + (within === undefined ? 0 : 1)) })]
    for (const leaf of leaves) nodes.push({ ...leaf, parent: 0 })
    if (within === undefined) return nodes
    const inner = nodes.length
    nodes.push(node('group', { parent: 0, need: Math.min(within.need, within.leaves.length) }))
    for (const leaf of within.leaves) nodes.push({ ...leaf, parent: inner })
    return nodes
  })

const anyCondition: fc.Arbitrary<ConditionNode[]> = fc.oneof(
  { weight: 4, arbitrary: anyLeaf.map((leaf): ConditionNode[] => [leaf]) },
  { weight: 3, arbitrary: anyTree },
  { weight: 1, arbitrary: fc.constant<ConditionNode[]>([node('operator')]) },
)

function command<K extends string, T>(kind: K, fields: { [F in keyof T]: fc.Arbitrary<T[F]> }) {
  return fc.record({ kind: fc.constant(kind), ...fields }) as unknown as fc.Arbitrary<
    { readonly kind: K } & Readonly<T>
  >
}

export function journalCommandsOver(scale: JournalScale) {
  const execution = fc.nat({ max: scale.executions - 1 })
  const lease = anyLease(scale.reach)
  const name = fc.nat({ max: scale.names - 1 }).map((number) => `step ${number}`)
  const bytes = fc.option(
    fc.nat({ max: scale.bytes }).map((length) => new Uint8Array(length).fill(length)),
    { nil: undefined },
  )
  const ownTarget = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...TARGETS) },
    ...(scale.targets === 0
      ? []
      : [{ weight: 9, arbitrary: fc.noBias(fc.nat({ max: scale.targets - 1 })).map((number) => `door ${number}`) }]),
  )
  const key = fc.noBias(fc.nat({ max: scale.keys - 1 })).map((number) => `k${number}`)
  const timeout = fc.constantFrom('fail', 'cancel', 'expire', 'resume', 'resume_with_signal', 'escalate' as const)
  const failing = { category: fc.constantFrom('transient', 'odd'), message: fc.constantFrom('', 'größer als nötig') }
  const page = { limit: fc.constantFrom(1, 3, 200), isContinued: mostly }
  return {
    record_step: command('record_step', {
      lease,
      stepKind: fc.constantFrom('call', 'call', 'now' as const),
      name,
      bytes,
    }),
    fail_step: command('fail_step', { lease, name, ...failing }),
    retry_step: command('retry_step', {
      lease,
      name,
      attemptCount: fc.constantFrom(1, 2),
      ...failing,
      delayMs: fc.constantFrom(-1, 0, 1_000, 5_000),
      park: fc.boolean(),
    }),
    suspend: command('suspend', {
      lease,
      name,
      nodes: anyCondition,
      /** Waitpoints that are not open are opened by the wait itself. */
      isOpening: mostly,
      timeoutMs: waitMs,
      /** Unless it has a time of its own, it lasts as long as its waitpoint was opened for. */
      isUntilExpiry: rarely,
      onTimeout: timeout,
      resumeDelayMs: fc.constantFrom(undefined, undefined, 0, 1_000),
      remindEveryMs: fc.constantFrom(undefined, undefined, 1_000, 5_000),
    }),
    sleep: command('sleep', { lease, name, ms: fc.constantFrom(0, 1_000, 5_000) }),
    open_waitpoint: command('open_waitpoint', { lease, target: ownTarget, expiresInMs: expiryMs }),
    signal: command('signal', {
      execution,
      target: fc.oneof({ weight: 3, arbitrary: place }, { weight: 1, arbitrary: ownTarget }),
      key,
      name: fc.constantFrom(...SIGNAL_NAMES),
      by: fc.constantFrom(...PEOPLE),
      source: fc.constantFrom('caller', 'operator' as const),
      bytes,
    }),
    /** With a token of those that were handed out, counted from the newest back; at times to another execution. */
    signal_by_token: command('signal_by_token', {
      token: fc.oneof({ weight: 3, arbitrary: fc.nat({ max: 1 }) }, { weight: 2, arbitrary: fc.nat({ max: 12 }) }),
      astray: fc.option(execution, { nil: undefined, freq: 2 }),
      key,
      name: fc.constantFrom(...SIGNAL_NAMES),
      by: fc.constantFrom(...PEOPLE),
      bytes,
    }),
    resume: command('resume', { execution, name: fc.option(name, { nil: undefined, freq: 2 }) }),
    close_waitpoint: command('close_waitpoint', {
      execution,
      target: ownTarget,
      lease: fc.option(lease, { nil: undefined, freq: 4 }),
      isForced: rarely,
    }),
    reissue_waitpoint: command('reissue_waitpoint', { execution, target: place }),
    read_steps: command('read_steps', { execution, isWithValues: fc.boolean(), ...page }),
    read_signals: command('read_signals', {
      execution,
      to: fc.constantFrom(undefined, undefined, 3),
      isWithPayloads: fc.boolean(),
      ...page,
    }),
    list_waitpoints: command('list_waitpoints', { execution, isOfAll: fc.boolean(), ...page }),
    list_open_waitpoints: command('list_open_waitpoints', page),
    replay_from: command('replay_from', { execution, name: fc.option(name, { nil: undefined }), isRepeated: rarely }),
  }
}

export type JournalCommands = ReturnType<typeof journalCommandsOver>

export type JournalCommand = {
  [K in keyof JournalCommands]: JournalCommands[K] extends fc.Arbitrary<infer C> ? C : never
}[keyof JournalCommands]

const KINDS: readonly string[] = Object.keys(
  journalCommandsOver({ executions: 1, reach: 1, names: 1, targets: 0, keys: 1, bytes: 0 }),
)

export function isJournalCommand(one: { readonly kind: string }): one is JournalCommand {
  return KINDS.includes(one.kind)
}

const weights: Partial<Record<keyof JournalCommands, number>> = {
  record_step: 5,
  suspend: 8,
  open_waitpoint: 4,
  signal: 9,
  signal_by_token: 4,
  close_waitpoint: 2,
  reissue_waitpoint: 2,
  replay_from: 4,
}

export function anyJournalCommand(commands: JournalCommands): fc.Arbitrary<JournalCommand> {
  return fc.oneof(
    ...Object.entries(commands).map(([kind, arbitrary]) => ({
      weight: weights[kind as keyof JournalCommands] ?? 1,
      arbitrary: arbitrary as fc.Arbitrary<JournalCommand>,
    })),
  )
}
