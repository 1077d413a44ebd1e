import { expect, test } from 'vitest'
import type { Log } from '../../runtime/index.ts'
import { MutedLog } from './muted-log.ts'

test('a log drops lines while the store is opened, and passes on all later ones', () => {
  const lines: string[] = []
  const write = (level: string) => (_fields: object, message: string) => void lines.push(`${level}: ${message}`)
  const inner: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  const log = new MutedLog(inner)
  const writeAll = (message: string) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, message)
  }

  writeAll('early')
  log.unmute()
  writeAll('late')

  expect(lines).toEqual(['debug: late', 'info: late', 'warn: late', 'error: late'])
})
