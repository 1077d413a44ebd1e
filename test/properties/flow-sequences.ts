/** Random lives of flows: a few that are in each other's way, and some that are too large for one call. */
import fc from 'fast-check'
import { anyOf, commandsOver, jumpMs, stepMs, weights } from './commands.ts'
import type { Batch, Command, Weights } from './commands.ts'
import { anyFlowCommand, flowCommandsOver } from './flow-commands.ts'
import type { FlowCommand, FlowScale } from './flow-commands.ts'
import { anyWideGraph } from './flow-graphs.ts'
import { anyJournalCommand, journalCommandsOver } from './journal-commands.ts'

/** Two flows, with enough members that edges are resolved, groups are judged and losers cancelled in many orders. */
export const GRAPHS: FlowScale = { flows: 3, nodes: 6, executions: 24 }
const members = commandsOver({ executions: 18, claimCount: 4, reach: GRAPHS.executions, isAlive: true })
const flows = flowCommandsOver(GRAPHS)
/** Members that remember and wait. */
const journals = journalCommandsOver({
  executions: 18,
  reach: GRAPHS.executions,
  names: 2,
  targets: 0,
  keys: 3,
  bytes: 2,
})
/** An execution that is submitted alone conflicts with a node of the same number. */
const beside: Weights = {
  ...weights,
  create: 1,
  claim: 12,
  complete: 12,
  fail: 5,
  list: 1,
  replay: 3,
  cancel: 3,
  broken: 0,
}
const anyOfFlows: fc.Arbitrary<Command> = fc.oneof(
  { weight: 3, arbitrary: anyOf(members, beside) },
  { weight: 2, arbitrary: anyFlowCommand(flows) },
)
/** Submitted as a whole, or opened, added to and wired. */
const anyBeginning: fc.Arbitrary<Command[]> = fc.oneof(
  { weight: 3, arbitrary: fc.array(flows.submit_flow, { minLength: 1, maxLength: 2 }) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        flows.create_flow,
        fc.array(flows.add_execution, { minLength: 1, maxLength: 6, size: 'max' }),
        fc.array(flows.add_dependency, { maxLength: 4, size: 'max' }),
      )
      .map(([created, added, wired]) => {
        const mine = { flow: created.flow, holder: undefined, lease: undefined }
        return [created, ...added.map((one) => ({ ...one, ...mine })), ...wired.map((one) => ({ ...one, ...mine }))]
      }),
  },
)

/** What seldom comes together by chance: work that gets done, that fails for good, that adds to its flow and waits for it. */
const anyStretch: fc.Arbitrary<Command[]> = fc.oneof(
  { weight: 6, arbitrary: anyOfFlows.map((one) => [one]) },
  { weight: 2, arbitrary: fc.tuple(members.claim, members.complete, members.complete) },
  { weight: 1, arbitrary: fc.tuple(members.claim, members.fail, flows.replay_subtree) },
  { weight: 2, arbitrary: fc.tuple(members.claim, flows.add_execution, flows.wait_for_children).map(asHolder) },
  { weight: 1, arbitrary: fc.tuple(members.claim, journals.suspend, fc.oneof(journals.signal, journals.resume)) },
  { weight: 1, arbitrary: anyJournalCommand(journals).map((one) => [one]) },
  { weight: 1, arbitrary: anyBeginning },
)

function asHolder([claim, added, waiting]: readonly [
  Command,
  Extract<FlowCommand, { kind: 'add_execution' }>,
  Command,
]): Command[] {
  return [claim, { ...added, holder: -1, isNew: true }, waiting]
}
/** A flow or two to begin with, then anything. */
export const anyFlowSequence: fc.Arbitrary<Command[]> = fc
  .tuple(anyBeginning, fc.array(anyStretch, { maxLength: 80, size: 'max' }))
  .map(([beginning, others]) => [...beginning, ...others.flat()])

/** The same in batches. */
function anyFlowBatchesOver(steps: fc.Arbitrary<number>): fc.Arbitrary<Batch[]> {
  const batch = fc.record({ commands: fc.array(anyStretch, { minLength: 1, maxLength: 5 }), stepMs: steps })
  return fc
    .tuple(anyBeginning, fc.array(batch, { maxLength: 25, size: 'max' }))
    .map(([beginning, others]) => [
      { commands: beginning, stepMs: 0 },
      ...others.map(({ commands, stepMs: ms }) => ({ commands: commands.flat(), stepMs: ms })),
    ])
}

export const anyFlowBatches = anyFlowBatchesOver(stepMs)
export const anyFlowBatchesInJumpingTime = anyFlowBatchesOver(jumpMs)

/** One flow of more members than a call can create, resolve, cancel or replay. */
export const WIDE: FlowScale = { flows: 1, nodes: 200, executions: 200 }
const crowd = commandsOver({ executions: WIDE.nodes, claimCount: 50, reach: 150, isAlive: true })
const wide = flowCommandsOver(WIDE)
const due = crowd.due.map((one) => ({ ...one, limit: 200 as const, filter: undefined }))
const ending = fc.oneof({ weight: 8, arbitrary: crowd.complete }, { weight: 1, arbitrary: crowd.fail })
/** All of it, in as many calls as it takes. */
const more = Array.from({ length: 8 }, () => wide.submit_more.map((one) => ({ ...one, count: 75, isAstray: false })))

const anyWideStretch: fc.Arbitrary<Command[]> = fc.oneof(
  { weight: 4, arbitrary: fc.array(crowd.claim, { minLength: 1, maxLength: 3 }) },
  { weight: 5, arbitrary: fc.array(ending, { minLength: 10, maxLength: 50, size: 'max' }) },
  { weight: 3, arbitrary: fc.array(due, { minLength: 1, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(anyFlowCommand(wide), { minLength: 1, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.array(wide.replay_subtree, { minLength: 1, maxLength: 2 }) },
  { weight: 1, arbitrary: wide.cancel_flow.map((one) => [one]) },
)

/** It comes in parts, and then things happen to it. */
export const anyWideFlowBatches: fc.Arbitrary<Batch[]> = fc
  .tuple(
    fc.tuple(wide.submit_flow, anyWideGraph).map(([submit, graph]) => {
      return { ...submit, graph, isInParts: true, isRepeated: false }
    }),
    fc.tuple(...more),
    fc.array(anyWideStretch, { minLength: 4, maxLength: 24, size: 'max' }),
    fc.constantFrom(0, 1, 1_000),
  )
  .map(([submit, parts, others, ms]) => {
    const beginning: Batch[] = [submit, ...parts].map((command) => ({ commands: [command], stepMs: 0 }))
    return [...beginning, ...others.map((commands) => ({ commands, stepMs: ms }))]
  })
