import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../kernel/engine-error.ts'
import { asEngineError, causeOf, isFunctionMissing, isOutOfMemory, refusalWord, storeFull } from './valkey-error.ts'

class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

/** As the client makes it: with the command that was refused, and everything that was sent with it. */
function refusal(message: string, command = { name: 'auth', args: ['user', 'hush'] }): Error {
  return Object.assign(new ReplyError(message), { command })
}

describe('what a server refuses', () => {
  test.each([
    ['LOADING Valkey is loading the dataset in memory', 'store_unavailable', 'still loading'],
    ['BUSY Valkey is busy running a script', 'store_unavailable', 'busy with a script'],
    ["READONLY You can't write against a read only replica.", 'store_unavailable', 'name its primary'],
    ['MASTERDOWN Link with MASTER is down', 'store_unavailable', 'lost its primary'],
    ['CLUSTERDOWN The cluster is down', 'store_unavailable', 'does not serve this slot'],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'store_unavailable', 'being moved'],
    ['MOVED 3999 127.0.0.1:6381', 'store_unavailable', 'has moved'],
    ['ASK 3999 127.0.0.1:6381', 'store_unavailable', 'being moved'],
    ['MISCONF Errors writing to the AOF file', 'store_unavailable', 'look at its log'],
    ['NOREPLICAS Not enough good replicas to write.', 'store_unavailable', 'fewer replicas'],
    ['NOAUTH Authentication required.', 'invalid_configuration', 'asks for a password'],
    ['WRONGPASS invalid username-password pair', 'invalid_configuration', 'does not accept'],
    ['DENIED Running in protected mode', 'invalid_configuration', 'without a password'],
    ["NOPERM User app has no permissions to run the 'zadd' command", 'invalid_configuration', "the 'zadd' command"],
    ["ERR unknown command 'FCALL', with args beginning with: 'hush'", 'invalid_configuration', 'the command FCALL'],
    ["ERR unknown subcommand 'LOAD'. Try FUNCTION HELP.", 'invalid_configuration', 'the command LOAD'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'store_full', 'maxmemory'],
    ['ERR something new', 'store_unavailable', 'ERR something new'],
  ])('"%s" is answered as %s', (message, code, part) => {
    const error = asEngineError(refusal(message))

    expect(error.code).toBe(code)
    expect(error.message).toContain(part)
  })

  test.each([
    ['WRONGPASS invalid username-password pair or user is disabled.'],
    ["ERR unknown command 'AUTH', with args beginning with: 'user' 'hush' "],
    ["ERR wrong number of arguments for 'auth' command"],
    ['ERR something new'],
  ])('"%s" is reported without anything that was sent, in whatever way it is printed', (message) => {
    const error = asEngineError(refusal(message))

    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('hush')
    expect(JSON.stringify(error)).not.toContain('hush')
  })

  test('has a word by which it begins, unlike any other error', () => {
    expect(refusalWord(refusal('MOVED 1 127.0.0.1:1'))).toBe('MOVED')
    expect(refusalWord(refusal('LOADING'))).toBe('LOADING')
    expect(refusalWord(new Error('Connection is closed.'))).toBeUndefined()
    expect(refusalWord(new Error('A connection was lost'))).toBeUndefined()
    expect(refusalWord('MOVED')).toBeUndefined()
  })

  test('is known when memory is full or the library is missing', () => {
    expect(isOutOfMemory(refusal("OOM command not allowed when used memory > 'maxmemory'."))).toBe(true)
    expect(isOutOfMemory(refusal('ERR OOM'))).toBe(false)
    expect(isFunctionMissing(refusal('ERR Function not found'))).toBe(true)
    expect(isFunctionMissing('Function not found')).toBe(false)
  })
})

describe('what else can fail', () => {
  test('is an unavailable store, with the reason', () => {
    const error = asEngineError(new Error('read ECONNRESET'))

    expect(error).toMatchObject({ code: 'store_unavailable', isRetryable: true })
    expect(error.message).toContain('read ECONNRESET')
    expect(asEngineError('no error at all').message).toContain('no error at all')
  })

  test.each([
    ["Stream isn't writeable and enableOfflineQueue options is false", 'no connection'],
    ['Reached the max retries per request limit (which is 0). Refer to "maxRetriesPerRequest" option', 'was lost'],
    ['Connection is closed.', 'was lost'],
    ['Command timed out', 'did not answer in time'],
  ])('is reported without the option names of the client library: %s', (text, meaning) => {
    const { message } = asEngineError(new Error(text))

    expect(message).toContain(meaning)
    expect(message).not.toContain(text)
  })

  test('an error of ours stays the same', () => {
    const full = storeFull()
    expect(asEngineError(full)).toBe(full)
    expect(full).toBeInstanceOf(EngineError)
  })
})

test('a cause keeps the name and the words of an error, and nothing else', () => {
  const cause = causeOf(refusal('WRONGPASS invalid username-password pair'))

  expect(cause).toMatchObject({ name: 'ReplyError', message: 'WRONGPASS invalid username-password pair' })
  expect(Object.keys(cause)).toEqual(['name'])
  expect(causeOf('text').message).toBe('text')
})
