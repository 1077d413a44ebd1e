/** The span of one run of a handler, from its start until it ends or waits. It belongs to the trace of the submit. */
import type { SpanSpec } from '../../runtime/index.ts'
import type { HandlerOutcome } from '../attempt/handler-outcome.ts'
import type { LeasedExecution } from '../lease/leased-execution.ts'

export function attemptSpan({ id, claimed }: LeasedExecution): SpanSpec {
  const { task, lane, fence, attemptKind, flowId, trace, namespace } = claimed
  const attributes = {
    'messaging.system': 'flowfabric',
    'messaging.operation.name': 'process',
    'messaging.operation.type': 'process',
    'messaging.destination.name': task,
    'messaging.message.id': id,
    'flowfabric.namespace': namespace,
    'flowfabric.lane': lane,
    'flowfabric.attempt': fence.attempt,
    'flowfabric.attempt.kind': attemptKind,
    'flowfabric.flow.id': flowId,
  }
  return { name: `process ${task}`, kind: 'consumer', attributes, parent: trace }
}

/** How the run ended, as an attribute of its span. */
export function endOf(outcome: HandlerOutcome): string {
  return outcome.kind === 'exited_early' ? outcome.earlyExit : outcome.kind
}
