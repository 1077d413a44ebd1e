/** Why work is not running: a few executions of each state are asked for their reason, and equal reasons are one line. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ApiError, call } from '../../api/call.ts'
import { isOfLane } from '../../api/events.ts'
import { useLive } from '../../api/live.ts'
import type { ExecutionSummary, Explanation } from '../../api/types.ts'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { Empty, Loaded, Panel } from '../../parts/views.tsx'
import { whyWords } from '../../parts/why-words.ts'

/** States of work that could run later. */
const STATES = ['waiting', 'rate_limited', 'waiting_dependencies', 'suspended', 'delayed'] as const
/** How many executions of a state are asked. */
const ASKED = 5
const EVERY_MS = 5_000

interface Cause {
  readonly key: string
  readonly text: string
  readonly example: ExecutionSummary
  readonly others: number
}

export function Causes() {
  const query = useQuery({ queryKey: ['causes'], queryFn: ({ signal }) => readCauses(signal) })
  useLive(isOfLane, () => void query.refetch(), EVERY_MS)
  return (
    <Panel
      title="Why work is not running"
      aside={<span className="muted">the newest {ASKED} of each state, by reason</span>}
      isFlush
    >
      <Loaded query={query}>
        {(causes) =>
          causes.length === 0 ? (
            <Empty title="Nothing waits">All work has ended, or is running.</Empty>
          ) : (
            <ul className="causes">
              {causes.map(({ key, text, example, others }) => (
                <li key={key}>
                  <p className="cause-head">
                    <State state={example.state} />
                    <Link to="/executions/$id" params={{ id: example.id }}>
                      <Text>{example.task}</Text> <Text>{example.key ?? ''}</Text>
                    </Link>
                    {others > 0 && <span className="muted">and {others} more</span>}
                    <Link to="/executions" search={{ state: example.state }} className="aside">
                      All of this state
                    </Link>
                  </p>
                  <p>
                    <Text>{text}</Text>
                  </p>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Panel>
  )
}

async function readCauses(signal: AbortSignal): Promise<readonly Cause[]> {
  const pages = await Promise.all(
    STATES.map((state) => call('listExecutions', { query: { state, limit: ASKED }, signal })),
  )
  const executions = pages.flatMap(({ items }) => items)
  const explained = await Promise.all(executions.map((execution) => explain(execution, signal)))
  const causes = new Map<string, Cause>()
  executions.forEach((example, i) => {
    const explanation = explained[i]
    if (explanation === undefined) return
    const key = causeOf(example, explanation)
    const known = causes.get(key)
    const first = { key, text: whyWords(explanation.text), example, others: 0 }
    causes.set(key, known === undefined ? first : { ...known, others: known.others + 1 })
  })
  return [...causes.values()]
}

/** One that was removed meanwhile has no reason. */
async function explain({ id }: ExecutionSummary, signal: AbortSignal): Promise<Explanation | undefined> {
  try {
    return await call('explainExecution', { params: { id }, signal })
  } catch (error) {
    if (error instanceof ApiError && error.code === 'execution_not_found') return undefined
    throw error
  }
}

/** The parts of an explanation that tell causes apart. */
function causeOf({ state, task, lane }: ExecutionSummary, { explanation }: Explanation): string {
  const { why, by, cause, step, hold, limit } = explanation as Readonly<Record<string, unknown>>
  return JSON.stringify([state, task, lane, why, by, cause, step, hold, limit])
}
