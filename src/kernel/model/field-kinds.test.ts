import { expect, test } from 'vitest'
import {
  flag,
  frozen,
  frozenList,
  frozenObject,
  list,
  maybe,
  number,
  object,
  rare,
  record,
  text,
  textOf,
  union,
  whole,
  word,
} from './field-kinds.ts'

test('a record has its fields in their order, and knows which may be absent', () => {
  expect(record('cat', { name: text, age: maybe(whole), nickname: rare(text) })).toEqual({
    type: 'cat',
    fields: [
      { name: 'name', of: text },
      { name: 'age', of: whole, optional: true },
      { name: 'nickname', of: text, optional: true, rare: true },
    ],
  })
})

test('a kind describes its values', () => {
  const fields = [{ name: 'at', of: number }]

  expect(textOf<'a'>()).toEqual({ kind: 'text' })
  expect(word(['yes', 'no', 'maybe'], ['maybe'])).toEqual({
    kind: 'word',
    words: ['yes', 'no', 'maybe'],
    reserved: ['maybe'],
  })
  expect(word(['yes'])).toEqual({ kind: 'word', words: ['yes'], reserved: [] })
  expect([list(flag), frozenList(flag)]).toEqual([
    { kind: 'list', of: flag },
    { kind: 'list', of: flag },
  ])
  expect([object({ at: number }), frozenObject({ at: number })]).toEqual([
    { kind: 'object', fields },
    { kind: 'object', fields },
  ])
})

test('a union has its variants in their order, those that are never changed too', () => {
  expect(union('phase', { open: { since: whole }, closed: frozen({ at: whole, by: maybe(text) }) })).toEqual({
    kind: 'union',
    tag: 'phase',
    variants: [
      { word: 'open', fields: [{ name: 'since', of: whole }] },
      {
        word: 'closed',
        fields: [
          { name: 'at', of: whole },
          { name: 'by', of: text, optional: true },
        ],
      },
    ],
  })
})
