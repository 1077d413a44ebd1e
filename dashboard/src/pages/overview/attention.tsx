/** What a person should look at: budgets near their limit, and scanners that found something or fail. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { call } from '../../api/call.ts'
import type { Budget, BudgetDescription, Scanner } from '../../api/types.ts'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Panel } from '../../parts/views.tsx'

const POLL_MS = 15_000
/** Each budget is a request. */
const BUDGETS_READ = 20
const KEYS_READ = 50
/** The share of a hard limit from which a key is shown. */
const NEAR = 0.8
const LINES_SHOWN = 8
/** Scanners that only find what another part of the system has left behind. */
const REPAIRS = /(reconciler|projector)$/

interface Near {
  readonly budget: string
  readonly key: string
  readonly dimension: string
  readonly share: number
}

/** Nothing is shown to those who may not see the whole store. */
export function Attention() {
  const budgets = useQuery({
    queryKey: ['near-budgets'],
    queryFn: ({ signal }) => readNear(signal),
    refetchInterval: POLL_MS,
    retry: false,
  })
  const scanners = useQuery({
    queryKey: ['scanners'],
    queryFn: ({ signal }) => call('listScanners', { signal }),
    refetchInterval: POLL_MS,
    retry: false,
  })
  const near = budgets.data?.near ?? []
  const frozen = budgets.data?.frozen ?? []
  const finds = (scanners.data?.items ?? []).filter(isOfNote)
  if (near.length + frozen.length + finds.length === 0) return null
  return (
    <Panel title="Needs attention" isFlush>
      <ul className="causes">
        {frozen.map(({ name, frozen: freeze }) => (
          <li key={`frozen ${name}`}>
            <p className="cause-head">
              <Link to="/budgets/$name" params={{ name }}>
                Budget <Text>{name}</Text>
              </Link>
              is frozen{freeze?.at !== undefined && <Moment at={freeze.at} />}
            </p>
          </li>
        ))}
        {near.slice(0, LINES_SHOWN).map(({ budget, key, dimension, share }) => (
          <li key={`${budget} ${key} ${dimension}`}>
            <p className="cause-head">
              <Link to="/budgets/$name" params={{ name: budget }} search={key === '' ? {} : { key }}>
                Budget <Text>{key === '' ? budget : `${budget} (${key})`}</Text>
              </Link>
              <span className="number">
                {Math.round(share * 100)} % of <Text>{dimension}</Text> is spent or reserved
              </span>
            </p>
          </li>
        ))}
        {finds.map((scanner) => (
          <li key={scanner.scanner}>
            <p className="cause-head">
              <Link to="/scanners">Scanner {scanner.scanner.replaceAll('_', ' ')}</Link>
              {(scanner.lastCycle?.errors ?? 0) > 0 ? 'fails' : 'has repaired something'}
              {scanner.foundAt !== undefined && <Moment at={scanner.foundAt} />}
            </p>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function isOfNote({ scanner, lastCycle, counts = {} }: Scanner): boolean {
  if ((lastCycle?.errors ?? 0) > 0) return true
  return REPAIRS.test(scanner) && Object.values(counts).some((count) => count > 0)
}

async function readNear(
  signal: AbortSignal,
): Promise<{ readonly near: readonly Near[]; readonly frozen: readonly Budget[] }> {
  const { items } = await call('listBudgets', { signal })
  const limited = items.filter(({ hard }) => Object.keys(hard).length > 0).slice(0, BUDGETS_READ)
  const described = await Promise.all(
    limited.map(({ name }) =>
      call('describeBudget', { params: { budget: name }, query: { limit: KEYS_READ }, signal }),
    ),
  )
  const near = described.flatMap(nearOf).sort((a, b) => b.share - a.share)
  return { near, frozen: items.filter(({ frozen }) => frozen !== undefined) }
}

function nearOf({ name: budget, keys }: BudgetDescription): Near[] {
  return keys.flatMap(({ key, dimensions }) =>
    dimensions.flatMap(({ dimension, spent, reserved, hard }) => {
      const share = hard === undefined || hard === 0 ? 0 : (spent + reserved) / hard
      return share < NEAR ? [] : [{ budget, key, dimension, share }]
    }),
  )
}
