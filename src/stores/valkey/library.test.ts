import { expect, test } from 'vitest'
import { LIBRARY_PREFIX, libraryOf } from './library.ts'

const BODY = "redis.register_function('FUNCTION_NAME', serve)\nredis.register_function('FUNCTION_NAME_read', serve)\n"

test('the name of a library and of all its functions carries the hash of its text', () => {
  const { name, text, functions } = libraryOf(BODY)

  expect(name).toMatch(/^flowfabric_[0-9a-f]{16}$/)
  expect(name.startsWith(LIBRARY_PREFIX)).toBe(true)
  expect(functions).toMatchObject({ ordinary: name, whenFull: `${name}_when_full`, read: `${name}_read` })
  const names = Object.values<string>({ ...functions })
  expect(names.every((own) => own.startsWith(name))).toBe(true)
  expect(new Set(names).size).toBe(names.length)
  expect(text).toBe(
    `#!lua name=${name}\nredis.register_function('${name}', serve)\nredis.register_function('${name}_read', serve)\n`,
  )
})

test('the same text has the same name, any other text another one', () => {
  const names = [BODY, `${BODY} `, BODY.toUpperCase(), ''].map((body) => libraryOf(body).name)

  expect(libraryOf(BODY).name).toBe(names[0])
  expect(new Set(names).size).toBe(names.length)
})
