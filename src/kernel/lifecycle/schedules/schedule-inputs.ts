/** The bytes of a schedule: the input of its task, or those of the nodes of its flow and of its definition. */
import { scheduleInputKey, scheduleNodeKey } from '../../model/blob-keys.ts'
import type { Schedule } from '../../model/records.ts'
import type { BlobInput, Tx } from '../../tx.ts'

export interface ScheduleInputs {
  /** Of the task, or of the definition of the flow. */
  readonly input: BlobInput | undefined
  /** In the order of the nodes. */
  readonly nodes: readonly (BlobInput | undefined)[]
}

export function keepInputs(tx: Tx, schedule: Schedule, { input, nodes }: ScheduleInputs): void {
  if (input !== undefined) tx.keep(scheduleInputKey(schedule), input.blob)
  for (let i = 0; i < nodes.length; i++) {
    const payload = nodes[i]
    if (payload !== undefined) tx.keep(scheduleNodeKey(schedule, i), payload.blob)
  }
}

export function forgetInputs(tx: Tx, schedule: Schedule): void {
  const { work, flow } = schedule
  if (work.payload !== undefined || flow?.input !== undefined) tx.forget(scheduleInputKey(schedule))
  const nodes = flow?.nodes ?? []
  for (let i = 0; i < nodes.length; i++) {
    if (nodes[i]?.payload !== undefined) tx.forget(scheduleNodeKey(schedule, i))
  }
}
