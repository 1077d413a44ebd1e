/** A type whose optional fields are absent instead of undefined, at every level. The checks of the client treat both alike. */
type Dropped<T> = T extends Date | string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? readonly Dropped<Item>[]
    : T extends (...rest: never[]) => unknown
      ? T
      : T extends object
        ? { [K in keyof T as undefined extends T[K] ? K : never]?: Dropped<Exclude<T[K], undefined>> } & {
            [K in keyof T as undefined extends T[K] ? never : K]: Dropped<T[K]>
          }
        : T

/** Leaves out what is undefined: options that are absent are not passed on. */
export function drop<T extends object>(fields: T): Dropped<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Dropped<T>
}
