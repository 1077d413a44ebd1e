import type { ExecutionId, FlowId } from '../../kernel/index.ts'
import { ExecutionHandle } from '../executions/execution-handle.ts'
import type { Created, HandleClient } from '../executions/execution-handle.ts'
import type { AnyTask } from '../define/task.ts'
import { UPSTREAM_MARK } from '../define/upstreams.ts'
import type { Upstream } from '../define/upstreams.ts'

/** A handle for a member of a flow. Other members can wait for it. */
export class FlowMember<Output = unknown, Name extends string = string, Result = Output>
  extends ExecutionHandle<Output>
  implements Upstream<Result, Name>
{
  readonly flowId: FlowId
  readonly node: Name
  readonly [UPSTREAM_MARK] = true
  declare readonly types?: { readonly result: Result }

  constructor(
    client: HandleClient,
    place: { readonly flowId: FlowId; readonly node: Name; readonly id: ExecutionId },
    task?: AnyTask,
    created?: Created,
  ) {
    super(client, place.id, task, created)
    this.flowId = place.flowId
    this.node = place.node
  }
}
