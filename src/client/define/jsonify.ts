/**
 * The types of values after they were stored: bytes are kept, everything else is what JSON makes of it. A `Date` comes back as a
 * text, and a field that is undefined or a function is absent.
 */

/**
 * What a step, a handler or a worker receives for a value of type `T`. A value that cannot be stored, such as a `Map`, is `never`.
 *
 * @example
 * type Stored = Jsonify<{ at: Date; note: string | undefined }> // { at: string; note?: string }
 */
export type Jsonify<T> = unknown extends T ? T : Stored<T>

/** Bytes are kept only as the whole value. `undefined` is stored as no value. */
type Stored<T> = T extends Absent ? undefined : T extends Uint8Array ? Uint8Array : T extends Emptied ? never : Json<T>

// eslint-disable-next-line @typescript-eslint/no-invalid-void-type -- the type of a function that returns nothing
type Absent = undefined | void
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any function whatever
type Dropped = Absent | symbol | ((...given: any) => unknown) | (abstract new (...given: any) => unknown)
/** Objects without fields of their own, which JSON turns into `{}`. */
type Emptied =
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | WeakMap<WeakKey, unknown>
  | WeakSet<WeakKey>
  | Promise<unknown>
  | RegExp
  | ArrayBufferLike
  | DataView

/** Typed arrays inside another value, which JSON writes as objects with an entry for each number. */
type Numbers =
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array

/** A value inside another one, or a whole value that is written as JSON. */
type Json<T> = unknown extends T
  ? T
  : T extends string | number | boolean | null
    ? T
    : T extends { toJSON: (...given: never[]) => infer Written }
      ? Json<Written>
      : T extends Dropped | bigint
        ? never
        : T extends Emptied
          ? Record<string, never>
          : T extends Error
            ? Record<string, unknown>
            : T extends Numbers
              ? Record<string, number>
              : T extends readonly unknown[]
                ? { [K in keyof T]: JsonElement<T[K]> }
                : JsonObject<T>

/** An array keeps its length, so JSON writes null for what it would leave out of an object. */
type JsonElement<T> = unknown extends T ? T : T extends Dropped ? null : Json<T>

type JsonObject<T> = Flat<
  { [K in keyof T as IsOptional<T[K]> extends true ? never : WrittenKey<K, T[K]>]: Json<T[K]> } & {
    [K in keyof T as IsOptional<T[K]> extends true ? WrittenKey<K, T[K]> : never]?: Json<T[K]>
  }
>

type Flat<T> = { [K in keyof T]: T[K] }

/** Whether JSON leaves a field out for some of its values. A field of type `unknown` or `any` stays as it is declared. */
type IsOptional<Value> = unknown extends Value ? false : [Extract<Value, Dropped>] extends [never] ? false : true

/** JSON has no symbols as keys, and no fields that are functions. */
type WrittenKey<Key, Value> = Key extends symbol
  ? never
  : unknown extends Value
    ? Key
    : [Exclude<Value, Dropped>] extends [never]
      ? never
      : Key
