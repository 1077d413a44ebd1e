/** Removes the objects of offloaded values whose execution or flow the store does not have any more. */
import { parseDuration } from '../client/define/duration.ts'
import type { Duration } from '../client/define/duration.ts'
import { partitionOf } from '../client/transport/ids.ts'
import { sweepBucket } from '../codec/index.ts'
import type { Bucket, SweepReport } from '../codec/index.ts'
import { EngineError } from '../kernel/engine-error.ts'
import type { ExecutionId, FlowId } from '../kernel/index.ts'
import { boolean, shape, unchecked } from '../options/shape.ts'
import type { Runtime } from '../runtime/index.ts'
import type { Batcher } from '../stores/batcher.ts'

export interface SweepOffloadedOptions {
  /** Keeps objects that were written in this time; a day unless given. */
  readonly minAge?: Duration
  /** Counts what would be removed, and removes nothing. */
  readonly dryRun?: boolean
  /** Called with the counts so far, after each group of objects. */
  readonly onProgress?: (report: SweepReport) => void
}

const checkOptions = shape<SweepOffloadedOptions>()("{ minAge: '2d' }", {
  minAge: unchecked(),
  dryRun: boolean,
  onProgress: unchecked(),
})

/** Reads the store itself, whatever the namespace of the caller. A server would hide what belongs to other namespaces. */
export async function sweepOffloaded(
  { batcher, runtime }: { readonly batcher: Batcher; readonly runtime: Runtime },
  bucket: Bucket,
  options: SweepOffloadedOptions,
): Promise<SweepReport> {
  if (batcher.store.isRemote === true) {
    const message = 'A sweep of offloaded values needs the location of the store, not the address of a server.'
    throw new EngineError('invalid_configuration', { field: 'store', message })
  }
  checkOptions(options)
  const { minAge, dryRun, onProgress } = options
  const minAgeMs = minAge === undefined ? undefined : parseDuration(minAge, 'minAge')
  const settings = { now: runtime.now(), minAgeMs, dryRun, onProgress }
  return await sweepBucket(bucket, (owner) => isStored(batcher, owner), settings)
}

async function isStored(batcher: Batcher, owner: string): Promise<boolean> {
  if (owner.startsWith('f')) {
    const flowId = owner as FlowId
    return (await batcher.run(partitionOf(flowId), 'describeFlow', { flowId })).result.kind !== 'refused'
  }
  const executionId = owner as ExecutionId
  const { result } = await batcher.run(partitionOf(executionId), 'describeExecution', { executionId })
  return result.kind !== 'refused' && result.execution.removed === undefined
}
