/** Mistakes with children: wrong operations in the place of right ones, and mistakes of the worker that starts them. */
import type { ExecutionId, Tx } from '../../src/kernel/index.ts'
import { ChildStarter } from '../../src/worker/children/child-starter.ts'
import { ChildWaiter } from '../../src/worker/children/child-waiter.ts'
import { change, putting } from './kernel-plants.ts'
import type { Plant } from './plant.ts'
import { changeMethod, method } from './process-plants.ts'

export const childPlants: readonly Plant[] = [
  {
    name: 'child_started_twice',
    mistake: 'a start that is repeated starts the same child under another id',
    plant: () =>
      change('startChildren', (right, tx, input) => {
        const again = input.children.map((child) => {
          const { executionId } = child.create
          if (tx.get('execution', executionId) === undefined) return child
          return { ...child, create: { ...child.create, executionId: otherId(executionId) } }
        })
        const isRepeated = again.some((child, i) => child !== input.children[i])
        return isRepeated ? right(withoutChildSteps(tx), { ...input, children: again }) : right(tx, input)
      }),
  },
  {
    name: 'child_end_not_told',
    mistake: 'a child that completes does not resume its parent',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          {
            ...tx,
            put: (record) => {
              if (record.type !== 'execution' || record.id !== input.parent?.executionId) tx.put(record)
            },
          },
          input,
        ),
      ),
  },
  {
    name: 'child_failure_not_counted',
    mistake: 'a child that fails is not recorded in the journal of its parent',
    plant: () =>
      change('failExecution', (right, tx, input) =>
        right({ ...tx, put: (record) => (record.type === 'step' ? undefined : tx.put(record)) }, input),
      ),
  },
  {
    name: 'children_outlive_a_cancel',
    mistake: 'a cancel of a parent does not reach its children',
    plant: () =>
      change('cancelExecution', (right, tx, input) =>
        right(
          putting(tx, ({ journal }) => {
            if (journal !== undefined) journal.childCancels = undefined
          }),
          input,
        ),
      ),
  },
  {
    name: 'losers_of_a_join_run_on',
    mistake: 'a race between children is decided, and the losers are not cancelled',
    plant: () =>
      change('completeExecution', (right, tx, input) =>
        right(
          putting(tx, ({ journal }) => {
            if (journal !== undefined) journal.childCancels = undefined
          }),
          input,
        ),
      ),
  },
  {
    name: 'start_acknowledged_unsent',
    mistake: 'a worker takes children for started whose start it has not sent',
    plant: () =>
      changeMethod(ChildStarter.prototype, 'send', function (this: ChildStarter, page: SentPage) {
        this.record(
          page,
          page.starts.map(({ child, submit }, position) => ({
            name: child.plan.name,
            executionId: submit.input.executionId,
            position,
            state: undefined,
            outcome: undefined,
            isNew: true,
          })),
        )
        for (const { end } of page.starts) end()
        return Promise.resolve()
      }),
  },
  {
    name: 'children_left_out_of_a_wait',
    mistake: 'a worker waits for the first child of a list only',
    plant: () => {
      const right = method(ChildWaiter.prototype, 'wait')
      return changeMethod(ChildWaiter.prototype, 'wait', function (this: ChildWaiter, join: WaitedJoin) {
        const children = join.children.slice(0, 1)
        const need = Math.min(join.input.need, 1)
        return right.call(this, { children, input: { ...join.input, need, total: 1 } })
      })
    },
  },
]

type SentPage = Parameters<ChildStarter['send']>[0]
type WaitedJoin = Parameters<ChildWaiter['wait']>[0]

function withoutChildSteps(tx: Tx): Tx {
  return { ...tx, getMany: (type, ids) => (type === 'step' ? [] : tx.getMany(type, ids)) }
}

/** Differs in its last digit. */
function otherId(id: ExecutionId): ExecutionId {
  return `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}` as ExecutionId
}
