/**
 * The named results that a member is given. A claim brings the first of them; the rest is read in pages before the handler
 * starts, so that it finds them all at hand.
 */
import type { InputSchemas } from '../../client/define/task.ts'
import { decodeValue } from '../../client/checks/payload.ts'
import type { AnyInputs } from '../../client/define/upstreams.ts'
import { validate } from '../../client/define/validation.ts'
import type { ExecutionId } from '../../kernel/index.ts'
import type { Batcher } from '../../stores/batcher.ts'
import { EngineError } from '../../kernel/engine-error.ts'
import { upstreamResultsOf } from '../lease/leased-execution.ts'
import type { LeasedExecution, UpstreamResult } from '../lease/leased-execution.ts'
import type { LeaseKeeper } from '../lease/lease-keeper.ts'
import { retryUntilAnswered } from '../store/retry-until-answered.ts'
import type { RetryServices } from '../store/retry-until-answered.ts'

export const NO_INPUTS: AnyInputs = Object.freeze({})

/** Bytes of inputs that one handler can be given. */
export const INPUTS_BYTES_MAX = 67_108_864

export interface InputServices extends RetryServices {
  readonly batcher: Batcher
  readonly keeper: LeaseKeeper
}

/** All that the claim has promised but has not brought. Throws if there is more than a worker should hold. */
export async function readRemainingInputs(
  services: InputServices,
  leased: LeasedExecution,
  behind: ExecutionId,
): Promise<readonly UpstreamResult[]> {
  return await readInputs(services, leased, leased.inputs, behind)
}

/** All that there is now, which may be more than at the claim. */
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
  behind: ExecutionId | undefined,
): Promise<readonly UpstreamResult[]> {
  const inputs = [...first]
  let from = behind
  do {
    const input = { executionId: leased.id, from }
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
    message: `The results that were handed on to it are more than ${INPUTS_BYTES_MAX} bytes together: hand on fewer.`,
  })
}

/** As the handler sees them: one schema for each input that the task names, also if it is missing; others as they are. */
export function decodeInputs(
  inputs: readonly UpstreamResult[],
  schemas: InputSchemas | undefined,
): AnyInputs | Promise<AnyInputs> {
  if (inputs.length === 0 && schemas === undefined) return NO_INPUTS
  const values = new Map<string, unknown>()
  for (const input of inputs) values.set(input.name, decodeInput(input))
  return schemas === undefined ? Object.fromEntries(values) : validateInputs(values, schemas)
}

async function validateInputs(values: Map<string, unknown>, schemas: InputSchemas): Promise<AnyInputs> {
  for (const [name, schema] of Object.entries(schemas)) {
    const value = await validate(schema, values.get(name), 'invalid_payload', `inputs.${name}`)
    if (value !== undefined || values.has(name)) values.set(name, value)
  }
  return Object.fromEntries(values)
}

function decodeInput({ name, info, bytes }: UpstreamResult): unknown {
  try {
    return decodeValue(info, bytes)
  } catch (cause) {
    throw new EngineError('invalid_payload', { field: `inputs.${name}`, message: 'Its bytes are not JSON.' }, { cause })
  }
}
