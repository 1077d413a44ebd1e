import { expect, test } from 'vitest'
import { nodeRefusal } from './node-version.ts'

test.each(['22.13.0', '22.18.1', '24.0.0', '100.0.0', '25.0.0-nightly20260101'])('Node %s will do', (version) => {
  expect(nodeRefusal(version)).toBeUndefined()
})

test.each(['20.20.2', '22.12.9', '18.0.0'])('Node %s is refused with the version that is needed', (version) => {
  expect(nodeRefusal(version)).toContain('22.13.0 or later')
  expect(nodeRefusal(version)).toContain(version)
})
