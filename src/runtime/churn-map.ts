/**
 * A map that lives long while its entries come and go. V8 links each table of a Map to the table that replaces it, and a Map
 * with many inserts and deletes gets a new table all the time. Once one table has reached the old generation, every minor
 * garbage collection keeps all later tables with everything that their entries referred to. Here a table refers to cells, and
 * the cell of a deleted entry is empty.
 */
interface Cell<V> {
  value: V | undefined
}

export class ChurnMap<K, V> {
  readonly #cells = new Map<K, Cell<V>>()

  get size(): number {
    return this.#cells.size
  }

  get(key: K): V | undefined {
    return this.#cells.get(key)?.value
  }

  set(key: K, value: V): void {
    const cell = this.#cells.get(key)
    if (cell === undefined) this.#cells.set(key, { value })
    else cell.value = value
  }

  /** Returns whether the key was there. */
  delete(key: K): boolean {
    const cell = this.#cells.get(key)
    if (cell === undefined) return false
    cell.value = undefined
    return this.#cells.delete(key)
  }

  clear(): void {
    for (const cell of this.#cells.values()) cell.value = undefined
    this.#cells.clear()
  }

  *values(): Generator<V, void, undefined> {
    for (const { value } of this.#cells.values()) if (value !== undefined) yield value
  }
}
