import { expect, test } from 'vitest'
import type { Log } from '../../runtime/index.ts'
import { OpeningLog } from './buffered-log.ts'

test('a log says nothing while the store is opened, and everything afterwards', () => {
  const said: string[] = []
  const say = (level: string) => (_fields: object, message: string) => void said.push(`${level}: ${message}`)
  const inner: Log = { debug: say('debug'), info: say('info'), warn: say('warn'), error: say('error') }
  const log = new OpeningLog(inner)
  const sayAll = (message: string) => {
    for (const level of ['debug', 'info', 'warn', 'error'] as const) log[level]({}, message)
  }

  sayAll('early')
  log.end()
  sayAll('late')

  expect(said).toEqual(['debug: late', 'info: late', 'warn: late', 'error: late'])
})
