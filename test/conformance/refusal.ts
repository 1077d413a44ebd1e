import { expect } from 'vitest'
import type { TestFabric } from './fabric.ts'

/** The code and the detail with which an operation is refused. Checks that it changed nothing and emitted no event. */
export async function refusal(
  fabric: TestFabric,
  operation: () => Promise<{ readonly kind: string }>,
): Promise<{ readonly code: unknown; readonly detail: unknown }> {
  const before = await fabric.dump()
  const answer = await operation()
  expect(answer.kind).toBe('refused')
  expect(await fabric.dump()).toEqual(before)
  return 'code' in answer && 'detail' in answer
    ? { code: answer.code, detail: answer.detail }
    : { code: undefined, detail: undefined }
}
