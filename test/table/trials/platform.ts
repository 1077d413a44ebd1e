/** What the two languages do differently, and nothing else: Node and Lua each bring their own. */

/** An operation met an impossible state. */
export interface Fault {
  readonly reason: string
  readonly recordId: string
}

export type Attempted<T> =
  { readonly kind: 'finished'; readonly value: T } | { readonly kind: 'stopped'; readonly fault: Fault }

export interface Platform {
  /** Runs something that `stop` may end half-way. */
  readonly attempt: <T>(run: () => T) => Attempted<T>
  readonly stop: (fault: Fault) => never
  /** The names of the fields that hold a value, in any order. */
  readonly fieldNames: (value: object) => string[]
  /** What it says of an empty value does not matter: there the languages cannot agree. */
  readonly isList: (value: object) => boolean
}
