/** Two processes on one store, new for each test of a file. After each test the store must be consistent. */
import { afterEach, beforeEach, expect } from 'vitest'
import type { ExecutionId } from '../../../kernel/index.ts'
import { call } from '../../store.fixture.ts'
import type { Call } from '../../store.ts'
import { Scene } from './process.fixture.ts'
import type { Process, ProcessOptions } from './process.fixture.ts'

export let scene: Scene
export let a: Process
export let b: Process

/** For the tests of one file. */
export function useScene(options?: ProcessOptions): void {
  beforeEach(() => {
    scene = new Scene(options)
    ;({ a, b } = scene)
  })
  afterEach(async () => {
    expect(await scene.problems()).toEqual([])
  })
}

/** Sets a tag of an execution. The last value stays. */
export function mark(executionId: ExecutionId, value: string): Call {
  return call('setTags', { executionId, set: [{ name: 'mark', value, indexed: false }], remove: [] })
}
