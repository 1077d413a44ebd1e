/** What budgets cost where they hold nothing back, and how many spends a store counts. */
import { budget } from '../../src/client/index.ts'
import { storeSettings } from '../bench-store.ts'
import { HANDLERS, measureSpends } from '../budgets/measure-spends.ts'
import type { Spends } from '../budgets/measure-spends.ts'
import { measureDrain, uses } from '../limits/measure-limits.ts'
import type { Drain } from '../limits/measure-limits.ts'
import { machineSettings } from '../machine.ts'
import type { Measurement } from '../measurement.ts'
import { rotated } from '../rotation.ts'
import type { Scenario, ScenarioRequest } from '../scenario.ts'
import { CONCURRENCY, PREFETCH } from '../stages.ts'
import { median, rounded } from '../statistics.ts'

const COUNT = 10_000
/** Keys of one budget. */
const KEYS = 1_000
/** Spends of one execution, each of which has a key of its own. */
const SPENDS_PER_KEY = 20
const ROUNDS = 3
/** Each path is compiled before it is measured. */
const WARM_UP_COUNT = 10_000
const PLENTY = 1_000_000_000

const near = budget('bench.near', { hard: { tokens: PLENTY } })
const budgetsOf = { none: [], budget: [near] } as const

const kinds = ['none', 'budget'] as const
type Kind = (typeof kinds)[number]

async function run({ store, say, options, ...request }: ScenarioRequest): Promise<Measurement> {
  const machine = machineSettings()
  const count = request.count ?? COUNT
  const keys = options.n ?? KEYS
  const roundCount = request.rounds ?? ROUNDS
  say('warming up')
  const warmUp = Math.min(count, WARM_UP_COUNT)
  for (const kind of kinds) await measureDrain(store, warmUp, uses.none, budgetsOf[kind])
  await measureSpends(store, warmUp, 1)
  const rounds: Record<Kind, Drain>[] = []
  const shared: Spends[] = []
  const spread: Spends[] = []
  for (let number = 1; number <= roundCount; number++) {
    const round: Partial<Record<Kind, Drain>> = {}
    for (const kind of rotated(kinds, number)) {
      round[kind] = await measureDrain(store, count, uses.none, budgetsOf[kind])
    }
    rounds.push(round as Record<Kind, Drain>)
    const [one, many] = [await measureSpends(store, count, 1), await measureSpends(store, SPENDS_PER_KEY * keys, keys)]
    shared.push(one)
    spread.push(many)
    const lives = kinds.map((kind) => `${kind} ${Math.round(round[kind]?.perSecond ?? 0)}/s`).join(', ')
    say(`round ${number}: ${lives}, spends ${Math.round(one.perSecond)}/s, of keys ${Math.round(many.perSecond)}/s`)
  }
  const middle = (kind: Kind, valueOf: (drain: Drain) => number) => median(rounds.map((round) => valueOf(round[kind])))
  return {
    metrics: {
      unlimitedPerSecond: Math.round(middle('none', ({ perSecond }) => perSecond)),
      budgetPerSecond: Math.round(middle('budget', ({ perSecond }) => perSecond)),
      unlimitedCpuMicros: Math.round(middle('none', ({ cpuMicros }) => cpuMicros)),
      budgetCpuMicros: Math.round(middle('budget', ({ cpuMicros }) => cpuMicros)),
      unlimitedServerMicros: Math.round(middle('none', ({ serverMicros }) => serverMicros)),
      budgetServerMicros: Math.round(middle('budget', ({ serverMicros }) => serverMicros)),
      budgetPermitOperationsEach: rounded(middle('budget', ({ permitOperations }) => permitOperations)),
      ...spendsOf('spends', shared),
      ...spendsOf('spendsOfKeys', spread),
    },
    ratios: {
      claim: rounded(median(rounds.map((round) => round.budget.perSecond / round.none.perSecond))),
      claimCpu: rounded(median(rounds.map((round) => cpuOf(round.none) / cpuOf(round.budget)))),
    },
    settings: {
      count,
      n: keys,
      rounds: roundCount,
      handlers: HANDLERS,
      concurrency: CONCURRENCY,
      prefetch: PREFETCH[store],
      ...storeSettings[store],
      ...machine,
    },
  }
}

function cpuOf({ cpuMicros, serverMicros }: Drain): number {
  return cpuMicros + serverMicros
}

function spendsOf(name: string, spends: readonly Spends[]): Record<string, number> {
  return {
    [`${name}PerSecond`]: Math.round(median(spends.map(({ perSecond }) => perSecond))),
    [`${name}CpuMicros`]: Math.round(median(spends.map(({ cpuMicros }) => cpuMicros))),
    [`${name}ServerMicros`]: Math.round(median(spends.map(({ serverMicros }) => serverMicros))),
    [`${name}BatchesEach`]: rounded(median(spends.map(({ batches }) => batches))),
  }
}

export const budgets: Scenario = {
  summary:
    'drains a backlog with a budget that holds nothing back beside one without, and counts spends of 16 handlers',
  run,
}
