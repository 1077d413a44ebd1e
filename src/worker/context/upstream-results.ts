/**
 * The upstream results that are passed to a flow member as inputs. A claim includes the first of them; the rest is read in pages
 * before the handler starts.
 */
import type { InputSchemas } from '../../client/define/task.ts'
import { decodeValue } from '../../client/checks/payload.ts'
import { inputValue } from '../../client/define/upstream-outcome.ts'
import type { AnyInputs } from '../../client/define/upstreams.ts'
import type { ExecutionId } from '../../kernel/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { upstreamResultsOf } from '../lease/leased-execution.ts'
import type { LeasedExecution, UpstreamResult } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import { UnfitInputError } from '../lease/held-value.ts'
import { parseInput } from './unfit-input.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

export const NO_INPUTS: AnyInputs = Object.freeze({})

/** Maximum total size of the inputs of one handler. */
export const INPUTS_BYTES_MAX = 67_108_864

export interface InputServices extends RetryServices {
  readonly batcher: Batcher
  readonly keeper: LeaseKeeper
}

/** Reads the inputs that did not fit into the claim. Throws if all inputs together exceed `INPUTS_BYTES_MAX`. */
export async function readRemainingInputs(
  services: InputServices,
  leased: LeasedExecution,
  from: ExecutionId,
): Promise<readonly UpstreamResult[]> {
  return await readInputs(services, leased, leased.inputs, from)
}

/** Reads all inputs that exist now, which may be more than at the time of the claim. */
export async function readCurrentInputs(
  services: InputServices,
  leased: LeasedExecution,
): Promise<readonly UpstreamResult[]> {
  return await readInputs(services, leased, [], undefined)
}

async function readInputs(
  services: InputServices,
  leased: LeasedExecution,
  first: readonly UpstreamResult[],
  firstFrom: ExecutionId | undefined,
): Promise<readonly UpstreamResult[]> {
  const inputs = [...first]
  let from = firstFrom
  do {
    const input = { executionId: leased.id, flowId: leased.claimed.flowId, from }
    const read = () => services.batcher.run(leased.partition, 'readInputs', input)
    const { result, blobs } = await retryUntilAnswered(services, leased, read)
    if (result.kind === 'refused') services.keeper.lose(leased, result.code)
    leased.throwIfRefused()
    if (result.kind === 'refused') break
    inputs.push(...upstreamResultsOf(result.page.inputs, blobs))
    refuseTooLarge(inputs)
    from = result.page.from
  } while (from !== undefined)
  return inputs
}

function refuseTooLarge(inputs: readonly UpstreamResult[]): void {
  const size = inputs.reduce((sum, { info }) => sum + (info?.size ?? 0), 0)
  if (size <= INPUTS_BYTES_MAX) return
  throw new EngineError('payload_too_large', {
    field: 'inputs',
    limit: INPUTS_BYTES_MAX,
    message: `The upstream results exceed ${INPUTS_BYTES_MAX} bytes in total: pass on fewer of them.`,
  })
}

/** Decodes inputs by name. Each schema of the task is applied, also to a missing input; inputs without a schema are unchanged. */
export function decodeInputs(
  inputs: readonly UpstreamResult[],
  schemas: InputSchemas | undefined,
): AnyInputs | Promise<AnyInputs> {
  if (inputs.length === 0 && schemas === undefined) return NO_INPUTS
  const values = new Map<string, unknown>()
  for (const input of inputs)
    values.set(
      input.name,
      inputValue(input.end, () => decodeResult(input)),
    )
  return schemas === undefined ? Object.fromEntries(values) : validateInputs(values, schemas)
}

async function validateInputs(values: Map<string, unknown>, schemas: InputSchemas): Promise<AnyInputs> {
  for (const [name, schema] of Object.entries(schemas)) {
    const value = await parseInput(schema, values.get(name), `inputs.${name}`)
    if (value !== undefined || values.has(name)) values.set(name, value)
  }
  return Object.fromEntries(values)
}

function decodeResult({ name, info, bytes }: UpstreamResult): unknown {
  try {
    return decodeValue(info, bytes)
  } catch (cause) {
    // Another worker may have the key.
    if (cause instanceof EngineError) throw new UnfitInputError(cause.code, cause.detail, { cause })
    throw new EngineError(
      'invalid_payload',
      { field: `inputs.${name}`, message: 'The stored bytes are not valid JSON.' },
      { cause },
    )
  }
}
