/**
 * The kinds of fields that schemas are made of. A schema is the only description of a record: the order of its keys is the
 * stored order, and the TypeScript type, the blank record and the arbitraries of tests are derived from it.
 */
import type { Field, FieldKind } from './codec.ts'

/** A field kind with the TypeScript type of its values, in a property that never has a value. */
export type Kind<T> = FieldKind & { readonly valueType?: T }

type ObjectKind = Extract<FieldKind, { kind: 'object' }>

/** A field that may be absent. */
interface Maybe<T> {
  readonly optional: Kind<T>
  readonly rare: boolean
}

/** The fields of an object by name, in their stored order. */
type Shape = Readonly<Record<string, Kind<unknown> | Maybe<unknown>>>

/** A shape whose objects are replaced and never changed, so that copies of a record share them. */
interface Frozen<S extends Shape> {
  readonly frozen: S
}

type ValueOf<F> = F extends Maybe<infer T> ? T | undefined : F extends Kind<infer T> ? T : never
type Simplify<T> = { [K in keyof T]: T[K] }
type Variants = Readonly<Record<string, Shape | Frozen<Shape>>>
type VariantOf<Tag extends string, W, V> =
  V extends Frozen<infer S>
    ? Simplify<{ readonly [K in Tag]: W } & Readonly<Values<S>>>
    : V extends Shape
      ? Simplify<{ [K in Tag]: W } & Values<V>>
      : never
type UnionOf<Tag extends string, V extends Variants> = { [W in keyof V]: VariantOf<Tag, W, V[W]> }[keyof V]

/** The object that a shape describes. */
type Values<S extends Shape> = { -readonly [K in keyof S]: ValueOf<S[K]> }

/** The TypeScript type of the values of a kind. */
export type Infer<K> = K extends Kind<infer T> ? T : never

export const text: Kind<string> = { kind: 'text' }
export const number: Kind<number> = { kind: 'number' }
/** An integer from 0 to 2^48 - 2. */
export const whole: Kind<number> = { kind: 'number', whole: true }
export const flag: Kind<boolean> = { kind: 'flag' }

/** A text whose type is narrower than `string`, such as a branded id. */
export function textOf<T extends string>(): Kind<T> {
  return { kind: 'text' }
}

/** One of some words. Reserved words keep their positions in the list, but are not part of the type. */
export function word<const W extends string, const R extends W = never>(
  words: readonly W[],
  reserved: readonly R[] = [],
): Kind<Exclude<W, R>> {
  return { kind: 'word', words, reserved }
}

export function list<T>(of: Kind<T>): Kind<T[]> {
  return { kind: 'list', of }
}

/** A list that is replaced and never changed. */
export function frozenList<T>(of: Kind<T>): Kind<readonly T[]> {
  return { kind: 'list', of }
}

export function object<S extends Shape>(shape: S): Kind<Values<S>> & ObjectKind {
  return { kind: 'object', fields: fieldsIn(shape) }
}

/** An object that is replaced and never changed. */
export function frozenObject<S extends Shape>(shape: S): Kind<Readonly<Values<S>>> {
  return { kind: 'object', fields: fieldsIn(shape) }
}

/** A discriminated union. The order of the variants is stored. */
export function union<Tag extends string, V extends Variants>(tag: Tag, variants: V): Kind<UnionOf<Tag, V>> {
  const entries = Object.entries(variants)
  return {
    kind: 'union',
    tag,
    variants: entries.map(([variant, shape]) => ({
      word: variant,
      fields: fieldsIn(isFrozen(shape) ? shape.frozen : shape),
    })),
  }
}

/** A variant of a union whose objects are replaced and never changed. */
export function frozen<S extends Shape>(shape: S): Frozen<S> {
  return { frozen: shape }
}

function isFrozen(shape: Shape | Frozen<Shape>): shape is Frozen<Shape> {
  return 'frozen' in shape
}

/** A field whose value may be `undefined`. */
export function maybe<T>(of: Kind<T>): Maybe<T> {
  return { optional: of, rare: false }
}

/** A field whose value is `undefined` more often than not: a store may spend nothing on it then, and a little more otherwise. */
export function rare<T>(of: Kind<T>): Maybe<T> {
  return { optional: of, rare: true }
}

export interface RecordSchema<T extends string, V> {
  readonly type: T
  readonly fields: readonly Field[]
  readonly valueType?: V
}

/** Describes a record by its type and its fields in their stored order. */
export function record<T extends string, S extends Shape>(
  type: T,
  shape: S,
): RecordSchema<T, Simplify<{ type: T } & Values<S>>> {
  return { type, fields: fieldsIn(shape) }
}

/** The TypeScript type of a record. */
export type InferRecord<R> = R extends RecordSchema<string, infer V> ? V : never

/** The fields of a shape in their stored order. */
function fieldsIn(shape: Shape): Field[] {
  return Object.entries(shape).map(([name, field]) => {
    if (!('optional' in field)) return { name, of: field }
    return field.rare
      ? { name, of: field.optional, optional: true, rare: true }
      : { name, of: field.optional, optional: true }
  })
}

export const textList = list(text)
