/** The upstreams of a node, and how many of them it needs: all, any, a quorum, or the end of all. */
import { oneOf, required, shape } from '../../options/shape.ts'
import { IN_DEGREE_MAX } from '../../kernel/limits.ts'
import type { EdgeTolerance, Losers } from '../../kernel/model/records.ts'
import type { PolicyInput } from '../../kernel/rules/edge-group.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { checkGivenName, invalidInput, show } from '../checks/names.ts'
import type { UpstreamOutcome } from './upstream-outcome.ts'

/** The inputs of a task that declares none. */
export type AnyInputs = Readonly<Record<string, unknown>>

/** A node of a graph under construction, or a member of an existing flow. Other nodes can wait for it. */
export interface Upstream<Result = unknown, Name extends string = string> {
  /** Its name in the flow. */
  readonly node: Name
  /** Carries types only; never set. */
  readonly types?: { readonly result: Result }
}

/** Marks upstreams. The same symbol in every copy of the library. */
export const UPSTREAM_MARK = Symbol.for('flowfabric.upstream')
const UPSTREAMS_MARK = Symbol.for('flowfabric.upstreams')
/** The node and the option behind an upstream that `upstream(…)` made. */
const TOLERANT = Symbol.for('flowfabric.tolerant')

/**
 * What happens to the downstream if the upstream does not complete. `fail` (the default): it counts as lost. `continue`: the
 * downstream runs as if it had completed, and receives its outcome. `ignore`: the same, and the failure does not make the flow fail.
 */
export type OnFailure = 'fail' | EdgeTolerance

export interface NamedUpstream {
  readonly upstream: Upstream
  /** The name of its result among the downstream's inputs. */
  readonly input: string
  readonly onFailure?: EdgeTolerance | undefined
}

/** Upstreams and their group policy. `Inputs` is what they pass on. */
export interface Upstreams<Inputs = AnyInputs> {
  readonly policy: PolicyInput
  readonly edges: readonly NamedUpstream[]
  /** Carries types only; never set. */
  readonly types?: { readonly inputs: Inputs }
}

/** No required inputs. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- every object is assignable to it
export type NoInputs = {}

/** The upstreams of a member. Required if the member's task declares inputs. */
export type AfterOption<Given, Passed = Given> = NoInputs extends Given
  ? {
      readonly after?: Upstreams<Passed>
      /** False waits without passing results. */
      readonly inputs?: boolean
    }
  : { readonly after: Upstreams<Passed>; readonly inputs?: true }

type Named = Readonly<Record<string, Upstream>>
/** Upstreams whose inputs are named after their nodes, or an object that names them. */
export type UpstreamSource = Upstream | readonly Upstream[] | Named

/** A name of type `string`, known only at run time, contributes no types. */
type PassedOn<U> =
  U extends Upstream<infer Result, infer Name>
    ? string extends Name
      ? NoInputs
      : { readonly [K in Name]: Result }
    : never

type ResultOf<U> = U extends Upstream<infer Result> ? Result : never

type InputsOf<S> = S extends Upstream
  ? PassedOn<S>
  : S extends readonly Upstream[]
    ? PassedOn<S[number]>
    : S extends Named
      ? { readonly [K in keyof S]: ResultOf<S[K]> }
      : never

type Together<U> = [U] extends [never]
  ? NoInputs
  : (U extends unknown ? (each: U) => void : never) extends (all: infer All) => void
    ? All
    : never

/** Results as the outcomes of their upstreams. One that is an outcome already stays as it is. */
type AsOutcomes<Inputs> = {
  readonly [K in keyof Inputs]: [Inputs[K]] extends [UpstreamOutcome] ? Inputs[K] : UpstreamOutcome<Inputs[K]>
}

/** What happens to upstreams that still run once the group is decided. */
export interface RaceOptions {
  /** `cancel` unless given. */
  readonly losers?: Losers
}

export const checkLosers = oneOf<Losers>({ cancel: true, let_run: true })

const raceOptions = shape<RaceOptions>()("{ losers: 'let_run' }", { losers: checkLosers })

/**
 * Waits until all upstreams have completed. Their results are in `ctx.inputs`, under the names of their nodes or names of
 * your own.
 *
 * @example
 * f.node('deploy', deploy, { after: allOf({ image: build }, tests), input: { env: 'prod' } })
 */
export function allOf<const S extends readonly UpstreamSource[]>(
  ...sources: S
): Upstreams<Together<InputsOf<S[number]>>> {
  return upstreams({ policy: 'all_of' }, sources)
}

/** Waits until one upstream has completed. Every input is optional, since any may be first. */
export function anyOf<const S extends UpstreamSource>(
  source: S,
  options: RaceOptions = {},
): Upstreams<Partial<Together<InputsOf<S>>>> {
  return upstreams({ policy: 'any_of', losers: losersOf(options) }, [source])
}

/** Waits until the given number of upstreams has completed. */
export function quorum<const S extends UpstreamSource>(
  need: number,
  source: S,
  options: RaceOptions = {},
): Upstreams<Partial<Together<InputsOf<S>>>> {
  if (!Number.isInteger(need) || need < 1) {
    throw invalidInput('quorum', `A quorum of ${show(need)} cannot be: it must be a whole number of at least 1.`)
  }
  return upstreams({ policy: 'quorum', need, losers: losersOf(options) }, [source])
}

/**
 * Waits until all upstreams have ended, whatever their outcomes. The inputs are the outcomes: for a report, a cleanup, or a node
 * that handles a failure.
 *
 * @example
 * f.node('report', report, { after: ended({ build, tests }) }) // ctx.inputs.build.outcome
 */
export function ended<const S extends readonly UpstreamSource[]>(
  ...sources: S
): Upstreams<AsOutcomes<Together<InputsOf<S[number]>>>> {
  return upstreams({ policy: 'ended' }, sources)
}

export interface UpstreamOptions<F extends OnFailure = OnFailure> {
  readonly onFailure: F
}

export const checkOnFailure = oneOf<OnFailure>({ fail: true, continue: true, ignore: true })

const upstreamOptions = shape<UpstreamOptions>()("{ onFailure: 'continue' }", { onFailure: required(checkOnFailure) })

/** Returns the tolerance of an edge; undefined if it needs an upstream that completes. */
export function toleranceOf(onFailure: OnFailure | undefined): EdgeTolerance | undefined {
  return onFailure === 'fail' ? undefined : onFailure
}

/**
 * An upstream whose failure the downstream survives. Unless `onFailure` is `fail`, the input is an outcome instead of a result.
 *
 * @example
 * f.node('deploy', deploy, { after: allOf(build, upstream(lint, { onFailure: 'ignore' })) })
 */
export function upstream<Result, Name extends string, const F extends OnFailure>(
  node: Upstream<Result, Name>,
  options: UpstreamOptions<F>,
): Upstream<F extends 'fail' ? Result : UpstreamOutcome<Result>, Name> {
  const original = originalOf(checkUpstream(node)).upstream
  const onFailure = toleranceOf(upstreamOptions(options).onFailure)
  return Object.defineProperties(
    { node: original.node as Name },
    { [UPSTREAM_MARK]: { value: true }, [TOLERANT]: { value: { upstream: original, onFailure } } },
  )
}

/** Returns the node behind an upstream, and how the edge tolerates its failure. */
function originalOf(given: Upstream): Pick<NamedUpstream, 'upstream' | 'onFailure'> {
  return TOLERANT in given ? (given[TOLERANT] as Pick<NamedUpstream, 'upstream' | 'onFailure'>) : { upstream: given }
}

function losersOf(options: RaceOptions): Losers {
  return raceOptions(options).losers ?? 'cancel'
}

function upstreams<Inputs>(policy: PolicyInput, sources: readonly UpstreamSource[]): Upstreams<Inputs> {
  const made: Upstreams<Inputs> = { policy, edges: sources.flatMap(edgesOf) }
  return Object.defineProperty(made, UPSTREAMS_MARK, { value: true })
}

function edgesOf(source: UpstreamSource): NamedUpstream[] {
  if (isUpstream(source)) return [{ ...originalOf(source), input: source.node }]
  if (Array.isArray(source)) return source.map((each: unknown) => namedByNode(each))
  if (typeof (source as unknown) !== 'object' || (source as unknown) === null) throw notAnUpstream(source)
  return Object.entries(source as Named).map(([input, each]) => ({
    ...originalOf(checkUpstream(each)),
    input: checkGivenName(input, 'input name'),
  }))
}

function namedByNode(value: unknown): NamedUpstream {
  const given = checkUpstream(value)
  return { ...originalOf(given), input: given.node }
}

function isUpstream(value: unknown): value is Upstream {
  return typeof value === 'object' && value !== null && UPSTREAM_MARK in value
}

function checkUpstream(value: unknown): Upstream {
  if (isUpstream(value)) return value
  throw notAnUpstream(value)
}

function notAnUpstream(value: unknown): EngineError {
  return invalidInput(
    'after',
    `${show(value)} cannot be waited for: name nodes of the flow, as f.node(…) returned them.`,
  )
}

/** Checks the upstreams of a node before anything is sent. Errors name the node. */
export function checkUpstreams(given: unknown, node: string): Upstreams {
  if (!isUpstreams(given)) {
    throw invalidInput(
      'after',
      `after of node '${node}' is ${show(given)}, but must be what allOf(…), anyOf(…), quorum(…) or ended(…) made.`,
    )
  }
  const { policy, edges } = given
  if (edges.length > IN_DEGREE_MAX) {
    throw new EngineError('graph_limit_exceeded', {
      limit: IN_DEGREE_MAX,
      nodes: [node],
      message: `Node '${node}' waits for ${edges.length} others; the limit is ${IN_DEGREE_MAX}.`,
    })
  }
  const need = policy.policy === 'any_of' ? 1 : (policy.need ?? 0)
  if (need > edges.length) {
    throw invalidInput('after', `Node '${node}' waits for ${need} of ${edges.length}, which can never be.`)
  }
  refuseDuplicates(node, edges)
  return given
}

function isUpstreams(value: unknown): value is Upstreams {
  return typeof value === 'object' && value !== null && UPSTREAMS_MARK in value
}

function refuseDuplicates(node: string, edges: readonly NamedUpstream[]): void {
  const inputs = new Set<string>()
  const seen = new Set<Upstream>()
  for (const { upstream: waited, input } of edges) {
    if (seen.has(waited)) throw invalidInput('after', `Node '${node}' waits for '${waited.node}' twice.`)
    if (inputs.has(input)) {
      throw invalidInput('after', `Node '${node}' has two inputs of the name '${input}': name one of them otherwise.`)
    }
    seen.add(waited)
    inputs.add(input)
  }
}
