import { expect, test } from 'vitest'
import { LEVEL_STEP } from '../layout/keys.ts'
import { LIBRARY_PREFIX, functionLibrary, libraryOf } from './library.ts'

const BODY =
  "redis.register_function('FUNCTION_NAME_load', load)\nredis.register_function('FUNCTION_NAME_commit', commit)\n"

test('the name of a library and of all its functions carries the hash of its text', () => {
  const { name, text, functions } = libraryOf(BODY)

  expect(name).toMatch(/^flowfabric_[0-9a-f]{16}$/)
  expect(name.startsWith(LIBRARY_PREFIX)).toBe(true)
  const names = Object.values<string>({ ...functions })
  expect(names.every((own) => own.startsWith(`${name}_`))).toBe(true)
  expect(new Set(names).size).toBe(names.length)
  expect(text).toBe(
    `#!lua name=${name}\nredis.register_function('${name}_load', load)\nredis.register_function('${name}_commit', commit)\n`,
  )
})

test('the same text has the same name, any other text another one', () => {
  const names = [BODY, `${BODY} `, BODY.toUpperCase(), ''].map((body) => libraryOf(body).name)

  expect(libraryOf(BODY).name).toBe(names[0])
  expect(new Set(names).size).toBe(names.length)
})

test('the library registers each function under the name by which it is called', async () => {
  const { name, text, functions } = await functionLibrary()
  const registered = [...text.matchAll(/^register\('(_[a-z_]+)'/gm)].map(([, suffix = '']) => name + suffix)

  expect(registered.sort()).toEqual(Object.values<string>({ ...functions }).sort())
})

test('programs that can run other levels have libraries of their own, with every limit filled in', async () => {
  const [one, two] = [await functionLibrary(1), await functionLibrary(2)]

  expect(one.name).not.toBe(two.name)
  expect(two.text).toContain(`stored >= ${2 * LEVEL_STEP}`)
  expect(one.text + two.text).not.toMatch(/LEVEL_(STEP|END)/)
})
