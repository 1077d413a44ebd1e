import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { virtualRuntime } from '../../runtime/index.ts'
import { Output } from '../text/output.ts'
import { terminalLog } from './terminal-log.ts'

function logInto(isJson: boolean) {
  const stderr = new PassThrough({ encoding: 'utf8' })
  const output = new Output(new PassThrough() as never, stderr as never, isJson)
  return { log: terminalLog(output, virtualRuntime(0)), printed: () => String(stderr.read() ?? '') }
}

const circular: Record<string, unknown> = {}
circular['self'] = circular

describe('the log on a terminal', () => {
  test('is a line with the time, the level, the sentence and the fields, then the stack', () => {
    const { log, printed } = logInto(false)
    log.warn({ workerId: 'w1', count: 2, nothing: undefined, stack: 'Error: boom\n    at here' }, 'it failed')
    expect(printed()).toBe('1970-01-01T00:00:00.000Z warn it failed workerId=w1 count=2\nError: boom\n    at here\n')
  })

  test('is an object a line with --json, and fields cannot pose as the level', () => {
    const { log, printed } = logInto(true)
    log.error({ level: 'none', code: 'store_busy' }, 'it failed')
    expect(JSON.parse(printed())).toEqual({ level: 'error', code: 'store_busy', at: 0, message: 'it failed' })
  })

  test.each([true, false])('never throws, whatever a handler logs (JSON: %s)', (isJson) => {
    const { log, printed } = logInto(isJson)
    log.info({ circular, big: 10n }, 'odd fields')
    expect(printed()).toContain('odd fields')
  })

  test('leaves out what is meant for debugging', () => {
    const { log, printed } = logInto(false)
    log.debug({}, 'a detail')
    expect(printed()).toBe('')
  })
})
