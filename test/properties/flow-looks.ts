/** Looks at flows, as calls: each continues where the last of its kind ended. Reconcilers are expected to find nothing. */
import type { AuditCursor, DependencyCursor, ExecutionId, FlowId, Position } from '../../src/kernel/index.ts'
import type { Answer, Call } from '../../src/stores/store.ts'
import { call } from '../conformance/fabric.ts'
import type { FlowCommand } from './flow-commands.ts'

type Result = Extract<Answer, { kind: 'answered' }>['result']

type LookKind =
  | 'read_inputs'
  | 'describe_flow'
  | 'list_flows'
  | 'list_members'
  | 'list_edges'
  | 'reconcile_dependencies'
  | 'reconcile_sibling_cancels'
  | 'reconcile_flow_cancels'
  | 'audit_flows'

export type LookCommand = Extract<FlowCommand, { kind: LookKind }>

export class FlowLooks {
  /** Of the graph that was looked at last. */
  revision = 0
  readonly #flowId: (flow: number) => FlowId
  readonly #member: (flow: number, member: number) => ExecutionId
  #flowCursor: Position | undefined
  #memberCursor: Position | undefined
  #edgeCursor: Position | undefined
  #inputCursor: ExecutionId | undefined
  #dependencyCursor: DependencyCursor | undefined
  #auditCursor: AuditCursor | undefined

  constructor(flowId: (flow: number) => FlowId, member: (flow: number, member: number) => ExecutionId) {
    this.#flowId = flowId
    this.#member = member
  }

  callFor(command: LookCommand): Call {
    switch (command.kind) {
      case 'read_inputs': {
        const from = command.isContinued ? this.#inputCursor : undefined
        return call('readInputs', { executionId: this.#member(command.flow, command.member), from })
      }
      case 'describe_flow':
        return call('describeFlow', { flowId: this.#flowId(command.flow) })
      case 'list_flows': {
        const { state, tag, limit, isContinued } = command
        return call('listFlows', { state, tag, limit, cursor: isContinued ? this.#flowCursor : undefined })
      }
      case 'list_members': {
        const cursor = command.isContinued ? this.#memberCursor : undefined
        const flowId = this.#flowId(command.flow)
        return call('listFlowMembers', { flowId, limit: command.limit, edges: command.hasEdges, cursor })
      }
      case 'list_edges': {
        const cursor = command.isContinued ? this.#edgeCursor : undefined
        const { flow, member, direction, limit } = command
        return call('listEdges', { executionId: this.#member(flow, member), direction, limit, cursor })
      }
      case 'reconcile_dependencies':
        return call('reconcileDependencies', { cursor: command.isContinued ? this.#dependencyCursor : undefined })
      case 'reconcile_sibling_cancels':
        return call('reconcileSiblingCancels', {})
      case 'reconcile_flow_cancels':
        return call('reconcileFlowCancels', {})
      case 'audit_flows':
        return call('auditFlows', { cursor: command.isContinued ? this.#auditCursor : undefined })
    }
  }

  note(result: Result): void {
    switch (result.kind) {
      case 'flow_described':
        this.revision = result.view.revision
        return
      case 'flows_listed':
        this.#flowCursor = result.cursor
        return
      case 'members_listed':
        this.#memberCursor = result.cursor
        return
      case 'edges_listed':
        this.#edgeCursor = result.cursor
        return
      case 'read':
        this.#inputCursor = result.page.from
        return
      case 'dependencies_reconciled':
        this.#dependencyCursor = result.cursor
        return
      case 'audited':
        this.#auditCursor = result.cursor
        return
      default:
    }
  }
}
