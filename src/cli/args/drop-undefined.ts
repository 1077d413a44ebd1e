/** Drops fields that are undefined, so that an absent flag is an absent option. */
export function dropUndefined<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>
  }
}

/** Parses a flag if it is present. */
export function parseGiven<V, T>(value: V | undefined, read: (value: V) => T): T | undefined {
  return value === undefined ? undefined : read(value)
}
