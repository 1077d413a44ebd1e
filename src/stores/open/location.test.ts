import { describe, expect, test } from 'vitest'
import type { EngineError } from '../../kernel/engine-error.ts'
import { parseLocation } from './location.ts'

function messageFor(text: string): string {
  try {
    parseLocation(text)
  } catch (error) {
    const { code, detail } = error as EngineError
    expect([code, detail.field]).toEqual(['invalid_configuration', 'location'])
    return detail.message ?? ''
  }
  throw new Error(`${text} was accepted`)
}

describe('a location', () => {
  test.each([
    ['memory:', { kind: 'memory' }],
    ['sqlite:./fabric.db', { kind: 'sqlite', file: './fabric.db', synchronous: undefined }],
    ['sqlite:fabric.db', { kind: 'sqlite', file: 'fabric.db', synchronous: undefined }],
    ['sqlite:/var/lib/fabric.db', { kind: 'sqlite', file: '/var/lib/fabric.db', synchronous: undefined }],
    ['sqlite:C:\\data\\fabric.db', { kind: 'sqlite', file: 'C:\\data\\fabric.db', synchronous: undefined }],
    ['sqlite::memory:', { kind: 'sqlite', file: ':memory:', synchronous: undefined }],
    ['sqlite:a.db?synchronous=full', { kind: 'sqlite', file: 'a.db', synchronous: 'full' }],
    ['sqlite:a.db?synchronous=normal', { kind: 'sqlite', file: 'a.db', synchronous: 'normal' }],
    ['sqlite:a.db?', { kind: 'sqlite', file: 'a.db', synchronous: undefined }],
  ])('%s is understood', (text, expected) => {
    expect(parseLocation(text)).toEqual(expected)
  })

  test.each(['', 'fabric.db', './fabric.db', ':memory:', 'Sqlite:a.db', 'mysql://host/db'])(
    'of an unknown kind, "%s", is answered with all that is accepted',
    (text) => {
      const message = messageFor(text)
      expect(message).toContain('memory:')
      expect(message).toContain('sqlite:./fabric.db')
      expect(message).toContain('valkey://localhost:6379')
      expect(message).toContain('valkeys://user:password@host:6380/0?prefix=ff')
      expect(message).toContain('valkey-cluster://host1:6379,host2:6379?tls=true')
      expect(message).toContain('postgres://localhost:5432/shop')
    },
  )

  test('in each of the forms that are shown is understood', () => {
    const [, forms = ''] = messageFor('').split(' is one of: ')
    const shown = forms.slice(0, -1).split(/, (?=[a-z-]+:)/)

    expect(shown.map((form) => parseLocation(form).kind)).toEqual([
      'memory',
      ...Array<string>(4).fill('sqlite'),
      ...Array<string>(4).fill('valkey'),
      ...Array<string>(3).fill('postgres'),
      'remote',
    ])
  })

  test('never shows up in an error beyond its scheme, since it may carry a password', () => {
    expect(messageFor('mysql://user:secret@host/db')).not.toContain('secret')
  })

  test.each([
    ['memory:here', 'Nothing may follow'],
    ['sqlite:', 'needs a file'],
    ['sqlite:?synchronous=full', 'needs a file'],
    ['sqlite:///fabric.db', 'has no "//"'],
    ['sqlite:a.db?synchronous=off', 'not "off"'],
    ['sqlite:a.db?synchronous=full&synchronous=normal', 'more than once'],
    ['sqlite:a.db?mode=ro', '"mode" is not a setting'],
  ])('%s is refused with what is wrong with it', (text, part) => {
    expect(messageFor(text)).toContain(part)
  })
})
