/** A flow as seen by the handler of a member: a graph that can grow while it runs. */
import type { ExecutionId, FlowId } from '../../kernel/model/base-records.ts'
import type { PublicState } from '../../kernel/model/public-state.ts'
import type { Jsonify } from './jsonify.ts'
import type { NodeSettings } from './flow-node.ts'
import type { AfterOption, AnyInputs, NoInputs, OnFailure, Upstream } from './upstreams.ts'

/** A task that can be started; only its types matter here. */
export interface StartableTask<Input, Returned, Given> {
  readonly name: string
  readonly types?: { readonly input: Input; readonly returned: Returned; readonly given: Given }
}

/** A member of the same flow, which other members can wait for. */
export interface MemberReference<Result = unknown, Name extends string = string> extends Upstream<Result, Name> {
  readonly id: ExecutionId
}

export interface AddedMember<Result = unknown, Name extends string = string> extends MemberReference<Result, Name> {
  /** Its state when it was added or found. */
  readonly state: PublicState
}

/** Settings of one member; the task's apply unless given. */
export interface MemberSettings extends NodeSettings {
  /** Whether `wait` waits for it; true unless given. */
  readonly awaited?: boolean
  /** The name of its result in `inputs`: its own unless given, none if false. */
  readonly as?: string | false
}

export type AddMemberOptions<Given = AnyInputs> = MemberSettings & AfterOption<Given>

/** The input and the options of a new member. Both may be left out if nothing in them is required. */
export type AddArguments<Input, Given, Options> = NoInputs extends Given
  ? undefined extends Input
    ? [input?: Input, options?: Options]
    : [input: Input, options?: Options]
  : [input: Input, options: Options]

export interface DependOptions {
  /** The name of the result in `inputs`: the member's own unless given, none if false. An id alone has no name. */
  readonly as?: string | false
  /** What happens to this execution if the member does not complete. Unless `fail`, the input is an outcome. */
  readonly onFailure?: OnFailure
}

/**
 * All calls are idempotent: a handler that runs again finds the members that it added before.
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
  /** Adds a member, and makes this execution wait for it. Idempotent per name, which is unique in the flow. */
  add<const Name extends string, Input, Returned, Given>(
    name: Name,
    task: StartableTask<Input, Returned, Given>,
    ...rest: AddArguments<NoInfer<Input>, NoInfer<Given>, AddMemberOptions<NoInfer<Given>>>
  ): Promise<AddedMember<Jsonify<Returned>, Name>>
  /** References a member by its name, whether or not it exists yet. */
  member<const Name extends string>(name: Name): MemberReference<unknown, Name>
  /** Makes this execution wait for an existing member, by its name or its id. */
  dependsOn(member: MemberReference | string, options?: DependOptions): Promise<void>
  /**
   * Resolves with `inputs` once all upstreams of this execution have completed. Until then no worker is occupied: this run of
   * the handler ends here, and the same attempt runs again from the top. If an upstream fails, the execution is skipped.
   */
  wait(): Promise<AnyInputs>
}
