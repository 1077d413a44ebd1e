/** The kinds of fields that schemas are made of, and the shapes that several of them share. */
import type { Field, FieldKind } from './codec.ts'
import type { AnyRecord } from './records.ts'

export const text: FieldKind = { kind: 'text' }
export const number: FieldKind = { kind: 'number' }
export const whole: FieldKind = { kind: 'number', whole: true }
export const flag: FieldKind = { kind: 'flag' }

export function word(words: readonly string[]): FieldKind {
  return { kind: 'word', words }
}

export function object(fields: readonly Field[]): FieldKind {
  return { kind: 'object', fields }
}

export function list(of: FieldKind): FieldKind {
  return { kind: 'list', of }
}

export const textList: FieldKind = list(text)
export const attemptKind: FieldKind = word(['initial', 'retry', 'reclaim', 'replay'])

export const tagList: FieldKind = list(
  object([
    { name: 'name', of: text },
    { name: 'value', of: text },
    { name: 'indexed', of: flag },
  ]),
)

const backoff: FieldKind = {
  kind: 'union',
  tag: 'kind',
  variants: [
    { word: 'fixed', fields: [{ name: 'delayMs', of: whole }] },
    {
      word: 'exponential',
      fields: [
        { name: 'initialMs', of: whole },
        { name: 'maxMs', of: whole },
        { name: 'factor', of: number },
      ],
    },
  ],
}

export const retryPolicy: FieldKind = object([
  { name: 'attempts', of: whole },
  { name: 'backoff', of: backoff },
  { name: 'jitter', of: flag },
  { name: 'onlyCategories', of: textList },
])

export const blobInfo: readonly Field[] = [
  { name: 'size', of: whole },
  { name: 'encoding', of: word(['json', 'bytes']) },
]

/** A failure as somebody reports it. */
const failureTexts: readonly Field[] = [
  { name: 'category', of: text },
  { name: 'message', of: text },
  { name: 'stack', of: text },
]

/** A failure as it is kept. */
export const failure: FieldKind = object([...failureTexts, { name: 'at', of: whole }])

export const delayCause: FieldKind = word(['submitted', 'retry', 'worker', 'resume'])

/** A record without values: what a stored one is unpacked onto. */
export type Blank<R extends AnyRecord> = { readonly [F in keyof R]: F extends 'type' ? R['type'] : undefined }
