/** Lists that the compiler keeps complete: a new option or word that a list lacks does not compile. */

type Complete<Union, List extends readonly unknown[]> = [Exclude<Union, List[number]>] extends [never]
  ? unknown
  : { readonly missing: Exclude<Union, List[number]> }

/** Lists every text of a union. */
export function everyOf<Union extends string>() {
  return <const List extends readonly Union[]>(list: List & Complete<Union, List>): List => list
}

/** The keys of all variants of a type. */
type KeyOf<Options> = Options extends unknown ? keyof Options & string : never

/** Lists every key of some options. */
export function optionKeys<Options>() {
  return everyOf<KeyOf<Options>>()
}
