import { Link } from '@tanstack/react-router'
import type { Budget } from '../../api/types.ts'
import { State } from '../../parts/state.tsx'
import { Text } from '../../parts/text.tsx'
import { Moment } from '../../parts/time.tsx'
import { Facts } from '../../parts/views.tsx'
import { Amounts } from './use.tsx'

const BREACH_WORDS: Readonly<Record<Budget['onBreach'], string>> = {
  suspend: 'it asks for an approval',
  refuse_new: 'it is refused',
  cancel: 'the execution is cancelled',
  warn: 'an event is written',
}

export function BudgetState({ budget }: { readonly budget: Budget }) {
  return budget.frozen === undefined ? null : <State state="frozen" />
}

export function BudgetFacts({ budget }: { readonly budget: Budget }) {
  const { parent, hard, soft, onBreach, every, timeZone, inherit, per, resetsAt, frozen, reason, changedBy } = budget
  return (
    <Facts
      facts={[
        [
          'Below',
          parent !== undefined && (
            <Link to="/budgets/$name" params={{ name: parent }}>
              <Text>{parent}</Text>
            </Link>
          ),
        ],
        ['Hard limit', Object.keys(hard).length > 0 && <Amounts amounts={hard} />],
        ['Soft limit', Object.keys(soft).length > 0 && <Amounts amounts={soft} />],
        ['Begins anew', every === undefined ? 'never' : <Text>{`${every} (${timeZone ?? 'UTC'})`}</Text>],
        ['Next', resetsAt !== undefined && <Moment at={resetsAt} />],
        ['What finds no room', BREACH_WORDS[onBreach]],
        ['For each', per],
        ['Children', inherit && 'spend it, too'],
        [
          'Frozen',
          frozen !== undefined && (
            <>
              by <Text>{frozen.by ?? 'an operator'}</Text>, <Moment at={frozen.at} />
              {frozen.reason !== undefined && (
                <>
                  : <Text>{frozen.reason}</Text>
                </>
              )}
            </>
          ),
        ],
        ['Changed', <Moment at={budget.changedAt} key="changed" />],
        ['By', changedBy !== undefined && <Text>{changedBy}</Text>],
        ['Reason', reason !== undefined && <Text>{reason}</Text>],
      ]}
    />
  )
}
