/** Runs a sequence on a store, call by call, and judges each step of it. */
import { expect } from 'vitest'
import { TestFabric } from '../conformance/fabric.ts'
import { problemsOf } from '../conformance/invariants.ts'
import type { StoreTarget } from '../conformance/store-target.ts'
import { attemptBoundProblems } from './attempt-bound.ts'
import type { Command } from './commands.ts'
import { Holders } from './holders.ts'
import { journalStepProblems } from './journal-rules.ts'
import { Script } from './script.ts'
import { stepProblems } from './step-rules.ts'

export async function keepsItsPromises(target: StoreTarget, sequence: readonly Command[]): Promise<void> {
  const fabric = new TestFabric(target)
  await fabric.open()
  try {
    const script = new Script()
    const holders = new Holders()
    let before = await fabric.dump()
    for (const command of sequence) {
      if (command.kind === 'advance') fabric.runtime.jump(command.ms)
      const sent = script.callFor(command)
      if (sent === undefined) continue
      const [answer] = await fabric.batch(sent)
      const after = await fabric.dump()
      if (command.kind === 'broken' && answer?.kind === 'fault') {
        expect(after).toEqual(before)
        continue
      }
      if (answer?.kind !== 'answered') throw new Error(`${sent.operation} was answered with ${JSON.stringify(answer)}`)
      script.note(sent, answer)
      const step = { call: sent, answer, before, after, now: fabric.runtime.now() }
      expect([
        ...holders.follow(step),
        ...stepProblems(step),
        ...journalStepProblems(step),
        ...problemsOf(after),
        ...attemptBoundProblems(after),
      ]).toEqual([])
      before = after
    }
  } finally {
    await fabric.close()
  }
}
