/** Waits that no signal of a condition describes: for a time, and for any signal at one waitpoint. */
import type { ConditionNode } from '../../kernel/model/journal-schema.ts'
import { flattenCondition, singleLeaf } from './condition-draft.ts'
import { answerSignal } from './signal-wait.ts'
import type { SignalAnswer } from './signal-wait.ts'
import { WAITABLE } from './waitable.ts'
import type { NamedWaitable, WaitPlan } from './waitable.ts'

/** A condition that no signal satisfies: it ends by its timeout, or by an operator. */
export function sleepPlan(timeoutMs: number): WaitPlan {
  const root: ConditionNode = {
    kind: 'timeout',
    parent: undefined,
    need: 1,
    by: 'once',
    name: undefined,
    from: [],
    targets: [],
  }
  return {
    nodes: [root],
    opens: [],
    reason: 'sleep',
    timeoutMs,
    onTimeout: 'resume',
    remindEveryMs: undefined,
    resumeDelayMs: undefined,
  }
}

/** A wait for one signal of any name at a waitpoint that was opened before. It ends when the waitpoint expires. */
export function callbackAt(target: string): NamedWaitable<SignalAnswer> {
  return {
    [WAITABLE]: {
      name: target,
      plan: () => ({
        nodes: flattenCondition(singleLeaf(target, undefined)),
        opens: [],
        reason: 'callback',
        timeoutMs: undefined,
        untilExpiry: true,
        onTimeout: 'resume',
        remindEveryMs: undefined,
        resumeDelayMs: undefined,
      }),
      answer: (outcome) => answerSignal(outcome),
    },
  }
}
