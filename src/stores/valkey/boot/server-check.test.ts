import { expect, test } from 'vitest'
import { parseInfo } from './server-check.ts'

test('what a server says of itself is read field by field, up to the first colon', () => {
  const info = parseInfo(
    '# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.0.1\r\n\r\n# Slots\r\nlisten:a:b\r\nempty:\r\n',
  )

  expect([...info]).toEqual([
    ['redis_version', '7.2.4'],
    ['valkey_version', '8.0.1'],
    ['listen', 'a:b'],
    ['empty', ''],
  ])
})
