/** A flow as the handler of one of its members sees it: a graph that can grow while it runs. */
import type { ExecutionId, FlowId } from '../../kernel/model/base-records.ts'
import type { PublicState } from '../../kernel/model/public-state.ts'
import type { NodeSettings } from './flow-node.ts'
import type { AfterOption, AnyInputs, NoInputs, Upstream } from './upstreams.ts'

/** What can be started: a task, of which only the types matter here. */
export interface StartableTask<Input, Returned, Given> {
  readonly name: string
  readonly types?: { readonly input: Input; readonly returned: Returned; readonly given: Given }
}

/** A member of the same flow, which others can wait for. */
export interface MemberReference<Result = unknown, Name extends string = string> extends Upstream<Result, Name> {
  readonly id: ExecutionId
}

export interface AddedMember<Result = unknown, Name extends string = string> extends MemberReference<Result, Name> {
  /** How it stood when it was added, or met again. */
  readonly state: PublicState
}

/** How a member is treated; what is left out is as its task says. Members are kept as long as their flow. */
export interface MemberSettings extends NodeSettings {
  /** Whether `wait` waits for it. It does unless told otherwise. */
  readonly awaited?: boolean
  /** Under which name its result comes back in `inputs`: its own unless given, not at all if false. */
  readonly as?: string | false
}

/** It can wait for members that were added, and for `ctx.flow.member(…)`. */
export type AddMemberOptions<Given = AnyInputs> = MemberSettings & AfterOption<Given>

type AddArguments<Given> = NoInputs extends Given
  ? [options?: AddMemberOptions<Given>]
  : [options: AddMemberOptions<Given>]

export interface DependOptions {
  /** Under which name the result comes in `inputs`: the member's own unless given, not at all if false. An id alone has no name. */
  readonly as?: string | false
}

/**
 * Everything here may be said again: a handler that runs a second time meets what it added the first time.
 *
 * @example
 * const importHandler = importAll.handle(async ({ files }, ctx) => {
 *   await Promise.all(files.map((file) => ctx.flow.add(`file:${file}`, importFile, { file })))
 *   const rows = await ctx.flow.wait()
 *   return Object.keys(rows).length
 * })
 */
export interface MemberFlow {
  readonly id: FlowId | undefined
  /** Adds a member, and lets this execution wait for it. The name tells it apart from all others of the flow. */
  add<const Name extends string, Input, Returned, Given>(
    name: Name,
    task: StartableTask<Input, Returned, Given>,
    input: NoInfer<Input>,
    ...options: AddArguments<NoInfer<Given>>
  ): Promise<AddedMember<Returned, Name>>
  /** A member by its name, whether or not it is there yet. */
  member<const Name extends string>(name: Name): MemberReference<unknown, Name>
  /** Lets this execution wait for a member that exists, given by its name or its id. */
  dependsOn(member: MemberReference | string, options?: DependOptions): Promise<void>
  /**
   * Goes on once all that this execution waits for has completed, and answers `inputs`. Until then no worker is held: this
   * run of the handler ends here, and it runs again from the top, as the same attempt. If one of them fails, the execution
   * is skipped.
   */
  wait(): Promise<AnyInputs>
}
