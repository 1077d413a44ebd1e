import { expect, test } from 'vitest'
import { reachablePhases } from './given.ts'
import { conforms } from './harness.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

conforms('createExecution without ifExists', ({ fabric, given }) => {
  const compare = { ifExists: undefined } as const

  test.each(reachablePhases)('joins the same input while it is %s and changes nothing', async (phase) => {
    const existing = await given.inPhase(phase, { digest: 'one' })
    const before = await fabric.dump()

    expect(await given.submit({ ...existing, ...compare, digest: 'one', priority: 9 })).toMatchObject({
      kind: 'joined',
      executionId: existing.executionId,
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test.each(reachablePhases)('refuses another input while it is %s and changes nothing', async (phase) => {
    const existing = await given.inPhase(phase, { digest: 'one' })
    const before = await fabric.dump()

    expect(await given.submit({ ...existing, ...compare, digest: 'two', bytes: bytes('two') })).toMatchObject({
      kind: 'refused',
      code: 'input_differs',
      detail: { executionId: existing.executionId, phase },
    })
    expect(await fabric.dump()).toEqual(before)
  })

  test('refuses another task as existing, whatever its input', async () => {
    const existing = await given.eligibleExecution({ digest: 'one' })

    for (const digest of ['one', 'two']) {
      expect(await given.submit({ ...existing, ...compare, digest, task: 'another' })).toMatchObject({
        code: 'execution_exists',
      })
    }
  })

  test('joins an execution of an earlier version, which has no digest', async () => {
    const existing = await given.eligibleExecution()

    expect(await given.submit({ ...existing, ...compare, digest: 'two' })).toMatchObject({ kind: 'joined' })
  })

  test('recognises its own repetition', async () => {
    const input = given.createInput({ ...compare, digest: 'one' })
    const first = await fabric.run('createExecution', input)

    expect(await fabric.run('createExecution', input)).toEqual(first)
  })

  test('compares with the input of a replacement, not with the one before it', async () => {
    const existing = await given.eligibleExecution({ digest: 'one' })
    await given.submit({ ...existing, ifExists: 'replace', digest: 'two' })

    expect(await given.submit({ ...existing, ...compare, digest: 'two' })).toMatchObject({ kind: 'joined' })
    expect(await given.submit({ ...existing, ...compare, digest: 'one' })).toMatchObject({ code: 'input_differs' })
  })

  test('of two submits with different inputs that arrive together, one creates and one is refused', async () => {
    const executionId = given.newId()

    const results = await Promise.all(['one', 'two'].map((digest) => given.submit({ executionId, ...compare, digest })))

    expect(results.map((result) => (result.kind === 'refused' ? result.code : result.kind))).toEqual([
      'created',
      'input_differs',
    ])
    expect(await fabric.look(executionId)).toMatchObject({ digest: 'one' })
  })

  test.each(['join', 'reject', 'replace', 'after'] as const)('an explicit %s compares nothing', async (ifExists) => {
    const existing = await given.eligibleExecution({ digest: 'one' })
    const result = await given.submit({ ...existing, ifExists, digest: 'two' })

    const expected = { join: 'joined', reject: 'execution_exists', replace: 'replaced', after: 'follow_up' }
    expect(result.kind === 'refused' ? result.code : result.kind).toBe(expected[ifExists])
  })
})
